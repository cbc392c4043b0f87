import Foundation
import Testing

/// The shapes compile in the modes that this target is not compiled in.
@Suite(.enabled(if: MacroCompiler.isAvailable, Comment(rawValue: MacroCompiler.missing)))
struct ModelShapeModeTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let files = ["Plain", "Relationships", "Actors"].map {
        folder.appendingPathComponent("ModelShapes+\($0).swift")
    }

    /// H5.
    @Test func shapesCompileWhereTheMainActorIsTheDefault() throws {
        #expect(try MacroCompiler.check(Self.files, flags: ["-default-isolation", "MainActor"]).log == "")
    }

    /// Without the plain ones, which are the same in both modes.
    @Test func shapesCompileInSwift5() throws {
        #expect(try MacroCompiler.check(Array(Self.files.dropFirst()), mode: "5").log == "")
    }

    /// As in projects that were made before Swift 6: only warnings.
    @Test func constantsAndIsolatedModelsCompileInSwift5() throws {
        let output = try MacroCompiler.check(
            """
            import Foundation
            import SwiftData

            @Model final class Constant {
                let id = UUID()
                let name: String
                init(name: String) { self.name = name }
            }

            @MainActor @Model final class Isolated {
                var name = ""
                init() {}
            }
            """, mode: "5", flags: ["-default-isolation", "MainActor"])
        #expect(output.diagnostics.count > 1)
        #expect(output.diagnostics.filter { !$0.message.hasPrefix("warning: ") } == [])
        let message = "Model 'Isolated' belongs to the actor of its context: remove '@MainActor'"
        #expect(output.diagnostics.contains { $0.line == 10 && $0.message.hasPrefix("warning: \(message)") })
    }
}
