import SwiftSyntax
import SwiftSyntaxMacros

/// `@ModelActor`: gives an actor a container, and a context that is used on the actor's executor only.
struct ModelActorMacro {
    static let formatMode = FormatMode.disabled
}

extension ModelActorMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let actor = declaration.as(ActorDeclSyntax.self) else { return [] }
        let access = actor.modifiers.memberAccess
        var members = [
            "\(access)nonisolated let modelExecutor: any SwiftData.ModelExecutor",
            "\(access)nonisolated let modelContainer: SwiftData.ModelContainer",
        ]
        if !hasOwnInitializer(actor) {
            members.append(
                """
                \(access)init(modelContainer: SwiftData.ModelContainer) {
                    let modelContext = SwiftData.ModelContext(modelContainer)
                    self.modelExecutor = SwiftData.DefaultSerialModelExecutor(modelContext: modelContext)
                    self.modelContainer = modelContainer
                }
                """)
        }
        return members.map(DeclSyntax.init(text:))
    }

    /// Whether the actor declares `init(modelContainer:)` itself.
    private static func hasOwnInitializer(_ actor: ActorDeclSyntax) -> Bool {
        actor.memberBlock.members.contains { member in
            guard let initializer = member.decl.as(InitializerDeclSyntax.self) else { return false }
            return initializer.signature.parameterClause.parameters.map(\.firstName.text) == ["modelContainer"]
        }
    }
}

extension ModelActorMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard let actor = declaration.as(ActorDeclSyntax.self) else {
            context.diagnose(ModelDiagnosis.notAnActor(declaration, attribute: node))
            return []
        }
        guard !protocols.isEmpty else { return [] }
        let text = "\(actor.attributes.availability)extension \(type.trimmed): SwiftData.ModelActor"
        return [ExtensionDeclSyntax(text: text)]
    }
}
