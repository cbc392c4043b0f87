import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plug-in of the module `SwiftData`.
@main
struct SwiftDataMacros: CompilerPlugin {
    let providingMacros: [any Macro.Type] = []
}
