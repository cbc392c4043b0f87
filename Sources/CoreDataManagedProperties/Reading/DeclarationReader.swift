import CoreDataPrimitives
import SwiftSyntax

/// Reads a file's types, extensions and `@NSManaged` declarations, without resolving names.
struct DeclarationReader {
    let file: SourceFile
    private(set) var types: [TypeNode] = []
    private(set) var extensions: [ExtensionNode] = []
    private(set) var managed: [ManagedDeclaration] = []
    private(set) var members: [MemberDeclaration] = []
    /// The positions of the `@NSManaged` attributes that were processed.
    private var handled: Set<AbsolutePosition> = []
    private(set) var diagnostics: [Diagnostic] = []

    init(path: String, text: String, module: Module) {
        let tree = SwiftReading.tree(of: text)
        let converter = SourceLocationConverter(fileName: path, tree: tree)
        file = SourceFile(path: path, module: module, text: text, converter: converter)
        read(tree.statements.map(\.item), conditions: [])
        for attribute in ManagedAttributeFinder.positions(in: tree) where !handled.contains(attribute) {
            diagnostics.append(
                file.diagnostic(
                    "@NSManaged is not supported here", at: attribute,
                    hint: "declare the class at file level or inside a type, not inside a function"))
        }
    }

    // MARK: Files

    private mutating func read(_ items: [CodeBlockItemSyntax.Item], conditions: [String]) {
        for item in items {
            guard case .decl(let declaration) = item else { continue }
            if let block = declaration.as(IfConfigDeclSyntax.self) {
                readClauses(block, conditions) { reader, elements, conditions in
                    guard case .statements(let list) = elements else { return }
                    reader.read(list.map(\.item), conditions: conditions)
                }
            } else if let statement = declaration.as(ImportDeclSyntax.self) {
                readImport(statement)
            } else if let node = declaration.as(ExtensionDeclSyntax.self) {
                readExtension(node, conditions)
            } else if let type = readType(declaration, in: .file(file), inherited: nil, conditions) {
                types.append(type)
            }
        }
    }

    private mutating func readImport(_ statement: ImportDeclSyntax) {
        guard let name = statement.path.first?.name.text else { return }
        let isExported = statement.attributes.contains { $0.trimmedDescription == "@_exported" }
        if isExported { file.module.exported.insert(name) }
        let prefix = statement.modifiers.map(\.name.text).filter { $0 == "public" || $0 == "package" }
        file.imports[name] = (prefix + ["import \(name)"]).joined(separator: " ")
    }

    private mutating func readExtension(_ syntax: ExtensionDeclSyntax, _ conditions: [String]) {
        let access = Self.access(of: syntax.modifiers)
        let node = ExtensionNode(
            file: file, typeSyntax: syntax.extendedType, access: access == .private ? .fileprivate : access,
            conditions: conditions)
        node.allowsMembers = syntax.attributes.allowMembers
        node.isOnMainActor = syntax.attributes.isOnMainActor
        readMembers(syntax.memberBlock.members, of: .extension(node), conditions)
        extensions.append(node)
    }

    private mutating func readClauses(
        _ block: IfConfigDeclSyntax, _ conditions: [String],
        _ body: (inout Self, IfConfigClauseSyntax.Elements, [String]) -> Void
    ) {
        var before: [String] = []
        for clause in block.clauses {
            let value = clause.condition.map { BuildCondition.value(of: $0) } ?? true
            let text = clause.condition?.trimmedDescription
            if value != false, let elements = clause.elements {
                let own = value == nil ? text.map { [$0] } ?? [] : []
                body(&self, elements, conditions + before + own)
            }
            if value == true { return }
            if value == nil, let text { before.append("!(\(text))") }
        }
    }

    // MARK: Types

    /// Returns the type of the declaration, after reading its members; `nil` for other declarations.
    private mutating func readType(
        _ declaration: DeclSyntax, in owner: Owner, inherited access: Access?, _ conditions: [String]
    ) -> TypeNode? {
        if let alias = declaration.as(TypeAliasDeclSyntax.self) {
            return TypeNode(
                .alias(alias.initializer.value), name: alias.name.identifierText, module: file.module, owner: owner,
                access: Self.access(of: alias.modifiers) ?? access ?? .internal, conditions: conditions,
                genericParameters: Self.names(alias.genericParameterClause))
        }
        guard let group = declaration.asProtocol((any DeclGroupSyntax).self),
            let named = declaration.asProtocol((any NamedDeclSyntax).self), let kind = Self.kind(of: declaration)
        else { return nil }
        let generics = declaration.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause
        let node = TypeNode(
            .nominal(kind), name: named.name.identifierText, module: file.module, owner: owner,
            access: Self.access(of: group.modifiers) ?? access ?? .internal, conditions: conditions,
            genericParameters: Self.names(generics),
            inherited: group.inheritanceClause?.inheritedTypes.map(\.type) ?? [])
        readMembers(group.memberBlock.members, of: .type(node), conditions)
        return node
    }

    private static func kind(of declaration: DeclSyntax) -> NominalDeclaration.Kind? {
        switch declaration.kind {
        case .classDecl, .actorDecl: .class
        case .structDecl: .struct
        case .enumDecl: .enum
        case .protocolDecl: .protocol
        default: nil
        }
    }

    private static func names(_ clause: GenericParameterClauseSyntax?) -> [String] {
        clause?.parameters.map(\.name.identifierText) ?? []
    }

    private mutating func readMembers(
        _ members: MemberBlockItemListSyntax, of owner: Owner, _ conditions: [String]
    ) {
        var inherited: Access?
        if case .extension(let node) = owner { inherited = node.access }
        for member in members {
            if let block = member.decl.as(IfConfigDeclSyntax.self) {
                readClauses(block, conditions) { reader, elements, conditions in
                    guard case .decls(let list) = elements else { return }
                    reader.readMembers(list, of: owner, conditions)
                }
            } else if let variable = member.decl.as(VariableDeclSyntax.self) {
                readVariable(variable, of: owner, inherited, conditions)
                readMembers(
                    MemberSyntax.properties(variable), variable.modifiers, of: owner, inherited, conditions)
            } else if let function = member.decl.as(FunctionDeclSyntax.self) {
                readFunction(function, of: owner, inherited, conditions)
                let validator = MemberSyntax.validator(function)
                readMembers(validator.map { [$0] } ?? [], function.modifiers, of: owner, inherited, conditions)
            } else if let type = readType(member.decl, in: owner, inherited: inherited, conditions) {
                switch owner {
                case .file: break
                case .type(let parent): parent.members[type.name, default: []].append(type)
                case .extension(let node): node.types.append(type)
                }
            }
        }
    }

    /// Records members that key-value coding may access.
    private mutating func readMembers(
        _ found: [MemberSyntax], _ modifiers: DeclModifierListSyntax, of owner: Owner, _ inherited: Access?,
        _ conditions: [String]
    ) {
        var isOnMainActor = false
        if case .extension(let node) = owner {
            if !node.allowsMembers { return }
            // The companion's extension has the isolation of the class, not of this extension.
            isOnMainActor = node.isOnMainActor
        }
        let access = Self.access(of: modifiers) ?? inherited ?? .internal
        members += found.map { member in
            var member = member
            member.isOnMainActor = member.isOnMainActor || isOnMainActor
            return MemberDeclaration(member: member, owner: owner, access: access, conditions: conditions)
        }
    }

    // MARK: Managed declarations

    private mutating func readVariable(
        _ variable: VariableDeclSyntax, of owner: Owner, _ inherited: Access?, _ conditions: [String]
    ) {
        guard let attribute = variable.attributes.managed else { return }
        handled.insert(attribute.positionAfterSkippingLeadingTrivia)
        var type: TypeSyntax?
        var found: [ManagedDeclaration] = []
        // `var width, height: Double`: the type also applies to the names before it.
        for binding in variable.bindings.reversed() {
            type = binding.typeAnnotation?.type ?? type
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier, let type else {
                diagnostics.append(
                    file.diagnostic(
                        "a property marked @NSManaged needs a name and a type",
                        at: binding.positionAfterSkippingLeadingTrivia, hint: "write 'var name: Type'"))
                continue
            }
            found.append(
                ManagedDeclaration(
                    name: name.identifierText, shape: .variable(type), owner: owner,
                    access: Self.access(of: variable.modifiers) ?? inherited ?? .internal, conditions: conditions,
                    position: name.positionAfterSkippingLeadingTrivia))
        }
        managed += found.reversed()
    }

    private mutating func readFunction(
        _ function: FunctionDeclSyntax, of owner: Owner, _ inherited: Access?, _ conditions: [String]
    ) {
        guard let attribute = function.attributes.managed else { return }
        handled.insert(attribute.positionAfterSkippingLeadingTrivia)
        let signature = function.signature
        let returned = signature.returnClause?.type.trimmedDescription ?? "Void"
        let isPlain = signature.effectSpecifiers == nil && function.genericParameterClause == nil
        managed.append(
            ManagedDeclaration(
                name: function.name.identifierText,
                shape: .method(
                    parameters: signature.parameterClause.parameters.map { parameter in
                        let label = parameter.firstName.identifierText
                        return .init(label: label == "_" ? nil : label, type: parameter.type)
                    }, returnsValue: !isPlain || !["Void", "()", "Swift.Void"].contains(returned)),
                owner: owner, access: Self.access(of: function.modifiers) ?? inherited ?? .internal,
                conditions: conditions, objectiveCName: function.attributes.objectiveCName,
                position: function.name.positionAfterSkippingLeadingTrivia))
    }

    /// Returns the access level of the modifiers; `private(set)` does not affect reading.
    private static func access(of modifiers: DeclModifierListSyntax) -> Access? {
        for modifier in modifiers where modifier.detail == nil {
            switch modifier.name.text {
            case "private": return .private
            case "fileprivate": return .fileprivate
            case "internal": return .internal
            case "package": return .package
            case "public", "open": return .public
            default: continue
            }
        }
        return nil
    }
}

extension AttributeListSyntax {
    fileprivate var managed: AttributeSyntax? { attribute(named: "NSManaged") }

    /// Returns `addNotesObject:` of `@objc(addNotesObject:)`.
    fileprivate var objectiveCName: String? { attribute(named: "objc")?.arguments?.trimmedDescription }

    private func attribute(named name: String) -> AttributeSyntax? {
        lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.attributeName.trimmedDescription == name }
    }
}

extension TokenSyntax {
    /// The name without backticks.
    var identifierText: String { identifier?.name ?? text }
}

extension SourceFile {
    func diagnostic(
        _ message: String, _ severity: Diagnostic.Severity = .error, at position: AbsolutePosition, hint: String? = nil
    ) -> Diagnostic {
        guard let place = converter?.location(for: position) else { return Diagnostic(severity, message, hint: hint) }
        let line = place.line <= lines.count ? String(lines[place.line - 1]) : nil
        return Diagnostic(
            severity, message, at: SourceLocation(file: path, line: place.line, column: place.column), sourceLine: line,
            hint: hint)
    }
}

/// Finds every `@NSManaged` of a file, except inside `#if`.
private final class ManagedAttributeFinder: SyntaxVisitor {
    private var positions: [AbsolutePosition] = []

    static func positions(in tree: SourceFileSyntax) -> [AbsolutePosition] {
        let finder = ManagedAttributeFinder(viewMode: .sourceAccurate)
        finder.walk(tree)
        return finder.positions
    }

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
        if node.attributeName.trimmedDescription == "NSManaged" {
            positions.append(node.positionAfterSkippingLeadingTrivia)
        }
        return .skipChildren
    }

    /// Clauses that are not built do not count; those that are built were read already.
    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}
