import SwiftSyntax
import SwiftSyntaxMacros

/// `@Model`: makes a class a `PersistentModel`.
///
/// It has three roles. As a member attribute macro it marks the persisted properties, each with its index; their
/// accessors come from ``PersistedPropertyMacro``. As a member macro it adds the backing data, the metadata of the
/// schema and the initializer that contexts use (``ModelMembers``), and reports what a model cannot have
/// (``ModelDiagnosis``). As an extension macro it adds the conformances.
struct PersistentModelMacro {
    static let formatMode = FormatMode.disabled

    /// Written before the protocol, so that the conformance is not isolated where the main actor is the default
    /// isolation. Compilers before 6.2 know neither.
    #if compiler(>=6.2)
        private static let isolation = "nonisolated "
    #else
        private static let isolation = ""
    #endif

    /// The class, unless it is a declaration that can never be a model.
    static func model(_ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext) -> ModelDeclaration?
    {
        guard let node = declaration.as(ClassDeclSyntax.self), node.name.text != "ID",
            ModelDiagnosis.genericContext(of: node, in: context) == nil
        else { return nil }
        return ModelDeclaration(node)
    }
}

extension PersistentModelMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let model = model(declaration, in: context) else { return [] }
        ModelDiagnosis.reportMembers(of: model, in: context)
        // A class that inherits a model's conformances lacks none. One that names a protocol which inherits from
        // PersistentModel lacks Sendable still.
        let isSubclass = !protocols.needs("PersistentModel") && !protocols.needs("Sendable")
        return ModelMembers(model, isSubclass: isSubclass).declarations.map(DeclSyntax.init(text:))
    }
}

extension PersistentModelMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard let property = model(declaration, in: context)?.property(declaredBy: member) else { return [] }
        let macro = property.isTransformable ? "_TransformablePersistedProperty" : "_PersistedProperty"
        return [AttributeSyntax(text: "SwiftData.\(macro)(\(property.index))")]
    }
}

extension PersistentModelMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // Here, because the compiler expands members of some declarations only when it looks for one.
        guard ModelDiagnosis.reportKind(of: declaration, attribute: node, in: context),
            let model = model(declaration, in: context)
        else { return [] }
        let availability = model.node.attributes.availability
        var extensions: [ExtensionDeclSyntax] = []
        // It implies the conformance to Observable.
        if protocols.needs("PersistentModel") {
            // An `id` of the class itself is a witness of Identifiable, and isolated: its use on another actor is
            // checked when it runs.
            let checking = model.isOfMainActor && model.declaresIdentity ? "@preconcurrency " : ""
            let text = "\(availability)extension \(type.trimmed): \(checking)\(isolation)SwiftData.PersistentModel"
            extensions.append(ExtensionDeclSyntax(text: text))
        }
        if protocols.needs("Sendable") {
            let text = """
                @available(*, unavailable, message: "Models are not Sendable: pass 'persistentModelID' to another context, or use a ModelActor")
                extension \(type.trimmed): Sendable
                """
            extensions.append(ExtensionDeclSyntax(text: text))
        }
        return extensions
    }
}

extension [TypeSyntax] {
    /// Whether the protocol is among those that the type does not conform to yet.
    fileprivate func needs(_ name: String) -> Bool {
        contains { type in
            type.trimmedDescription.split(separator: ".").last.map(String.init) == name
        }
    }
}
