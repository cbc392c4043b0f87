import SwiftSyntax

/// Ports overrides in extensions, which only Objective-C methods allow.
extension PortVisitor {
    func moveOverrides(of node: ExtensionDeclSyntax) {
        // Copy to an array: filtering the list itself creates nodes without positions in the source.
        let overrides = Array(node.memberBlock.members).filter { item in
            item.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers.modifier("override") != nil
        }
        guard !overrides.isEmpty, let name = node.extendedType.lastTypeName else { return }
        let target = Self.classDeclaration(named: name, in: node.root)
        for item in overrides {
            guard let target else {
                let place = index.classes[name].map { " in \($0.path)" } ?? ""
                remark(
                    "an extension cannot override without Objective-C", .error, at: item.decl.span.lowerBound,
                    hint: "move the override into class \(name)\(place); both sides compile it there")
                continue
            }
            let range = item.position.utf8Offset..<item.endPositionBeforeTrailingTrivia.utf8Offset
            move(
                SourceMove(
                    range: range, target: target.memberBlock.rightBrace.position.utf8Offset,
                    prefix: Self.accessPrefix(of: item, in: node)),
                named: Self.headline(of: item.decl))
        }
    }

    /// Returns the class with the name in the same source.
    private static func classDeclaration(named name: String, in root: Syntax) -> ClassDeclSyntax? {
        final class Search: SyntaxVisitor {
            let name: String
            var found: ClassDeclSyntax?
            init(_ name: String) {
                self.name = name
                super.init(viewMode: .sourceAccurate)
            }
            override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
                if found == nil, node.name.plainText == name { found = node }
                return .visitChildren
            }
        }
        let search = Search(name)
        search.walk(root)
        return search.found
    }

    /// Returns the access level of `public extension`, which a moved member must repeat.
    private static func accessPrefix(of item: MemberBlockItemSyntax, in node: ExtensionDeclSyntax) -> (String, Int)? {
        guard let access = node.modifiers.modifier("public", "package", "fileprivate", "private"),
            let modifiers = item.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers,
            modifiers.modifier("open", "public", "package", "internal", "fileprivate", "private") == nil,
            let first = modifiers.first
        else { return nil }
        return (access.name.text + " ", first.span.lowerBound)
    }

    /// Returns the first line of a declaration: `override func willSave()`.
    private static func headline(of declaration: DeclSyntax) -> String {
        if let function = declaration.as(FunctionDeclSyntax.self) {
            return "override func \(function.name.text)\(function.signature.trimmedDescription)"
        }
        if let variable = declaration.as(VariableDeclSyntax.self), let binding = variable.bindings.first {
            return "override var \(binding.pattern.trimmedDescription)"
        }
        return declaration.trimmedDescription.split(separator: "{").first.map(String.init) ?? ""
    }
}
