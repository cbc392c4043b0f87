import SwiftSyntax

/// Ports `init(entity:insertInto:)`, which must be `required` here: the framework creates faults with it.
extension PortVisitor {
    func portInitialiser(_ node: InitializerDeclSyntax) {
        guard Self.isEntityInitialiser(node), let override = node.modifiers.modifier("override"),
            node.modifiers.modifier("required") == nil
        else { return }
        let access = node.modifiers.modifier("open", "public", "package", "internal", "fileprivate", "private")
        let needed = Syntax(node).enclosingClass.flatMap(Self.neededAccess)
        var replacement = "required"
        if let access, access.name.text != needed {
            // The initialiser must be visible wherever subclasses can be declared.
            let end = text.bytes[access.span.upperBound...].prefix { $0 == UInt8(ascii: " ") }.endIndex
            let isBefore = access.span.lowerBound < override.span.lowerBound
            let given = access.name.text == "open" && needed == "public"
            if !given { rewrite(access.span.lowerBound..<end, to: "", as: .requiredInitialiser) }
            if !given, let needed { replacement = isBefore ? "\(needed) required" : "required \(needed)" }
        } else if access == nil, let needed {
            replacement = "\(needed) required"
        }
        rewrite(override.span, to: replacement, as: .requiredInitialiser)
    }

    static func isEntityInitialiser(_ node: InitializerDeclSyntax) -> Bool {
        let parameters = node.signature.parameterClause.parameters
        return node.optionalMark == nil && parameters.map(\.firstName.text) == ["entity", "insertInto"]
    }

    /// Returns the access level that a required initialiser of the class must state; `nil` if none is needed.
    private static func neededAccess(of node: ClassDeclSyntax) -> String? {
        guard let access = node.modifiers.modifier("open", "public", "package") else { return nil }
        return access.name.text == "package" ? "package" : "public"
    }

    /// Adds the required initialiser to a class with its own designated initialiser, which therefore does not inherit
    /// it.
    func addRequiredInitialiser(to node: ClassDeclSyntax) {
        guard index.isManagedObjectClass(node.name.plainText) else { return }
        let members = node.memberBlock.members.map(\.decl)
        let initialisers = members.compactMap { $0.as(InitializerDeclSyntax.self) }
        guard let designated = initialisers.first(where: { $0.modifiers.modifier("convenience") == nil }),
            !initialisers.contains(where: Self.isEntityInitialiser)
        else { return }
        if let property = members.lazy.compactMap({ $0.as(VariableDeclSyntax.self) }).first(where: Self.needsValue) {
            remark(
                "class \(node.name.plainText) needs init(entity:insertInto:), which must set its properties", .error,
                at: property.span.lowerBound,
                hint: "give them initial values, or write 'required init(entity:insertInto:)' in "
                    + "#if !canImport(ObjectiveC)")
            return
        }
        let access = Self.neededAccess(of: node).map { $0 + " " } ?? ""
        let head = "\(access)required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {"
        let call = "super.init(entity: entity, insertInto: context)"
        let indent = designated.leadingTrivia.pieces.reversed().prefix { !$0.isNewline }.reversed()
            .filter(\.isWhitespace).map(\.sourceText).joined()
        let step = indent.isEmpty ? "    " : indent
        let offset = node.memberBlock.rightBrace.position.utf8Offset
        add(
            SourceEdit(
                range: offset..<offset, written: "\n\n\(indent)\(head)\n\(indent)\(step)\(call)\n\(indent)}",
                compiled: "; \(head) \(call) }"),
            as: .addedInitialiser, before: "", after: head + " … }")
    }

    /// Returns whether every initialiser must set one of the stored properties.
    private static func needsValue(_ node: VariableDeclSyntax) -> Bool {
        guard node.modifiers.modifier("static", "class", "lazy") == nil,
            node.attributes.attribute(named: "NSManaged") == nil
        else { return false }
        return node.bindings.contains { binding in
            guard binding.initializer == nil, binding.accessorBlock == nil else { return false }
            let isVariable = node.bindingSpecifier.text == "var"
            let isOptional =
                binding.typeAnnotation.map {
                    $0.type.is(OptionalTypeSyntax.self) || $0.type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
                } ?? false
            return !(isVariable && isOptional)
        }
    }
}

extension TriviaPiece {
    fileprivate var sourceText: String {
        var text = ""
        write(to: &text)
        return text
    }
}
