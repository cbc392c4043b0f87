import CoreDataPrimitives
import SwiftSyntax

/// The file that defines the symbols that the compiler leaves undefined for `@NSManaged` declarations.
///
///     @NSManaged public var title: String?
///
/// leaves two symbols undefined. The companion defines them under the names that the linker expects:
///
///     @_silgen_name("$s8Notebook4NoteC5titleSSSgvg")
///     public dynamic func _managed_Notebook_Note_title() -> Swift.String? { self[Keys.Note_title] }
///     @_silgen_name("$s8Notebook4NoteC5titleSSSgvs")
///     public dynamic func _managed_Notebook_Note_setTitle(_ value: __owned Swift.String?) { self[Keys.Note_title] = value }
///
/// After them, it lists the members that key-value coding accesses; see ``MemberText``.
///
/// A method of the class has an accessor's calling convention: self in the context register. A setter consumes its
/// value, hence `__owned`. In whole-module builds, the compiler verifies that both agree.
package struct Companion {
    /// The text of the file.
    package private(set) var text = ""
    /// The errors and warnings of declarations; if there is an error, `text` must not be used.
    package private(set) var diagnostics: [Diagnostic] = []
    /// The symbols that the file defines.
    package private(set) var symbols: [String] = []

    package init(target: ModuleSources, dependencies: [ModuleSources]) {
        let program = Program(target: target, dependencies: dependencies)
        var writer = CompanionWriter(program: program)
        for declaration in program.managed { writer.add(declaration) }
        for declaration in program.members { writer.add(declaration) }
        diagnostics = program.diagnostics + writer.diagnostics
        text = writer.text
        symbols = writer.symbols
    }
}
