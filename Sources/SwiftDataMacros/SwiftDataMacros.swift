import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plug-in of the module `SwiftData`.
@main
struct SwiftDataMacros: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        PersistentModelMacro.self, PersistedPropertyMacro.self, TransformablePersistedPropertyMacro.self,
        AttributeMacro.self, RelationshipMacro.self, TransientMacro.self, UniqueMacro.self, IndexMacro.self,
        ModelActorMacro.self,
    ]
}
