import Foundation
import TestSupport
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
    @Test func constantsCompileInSwift5() throws {
        let output = try MacroCompiler.check(
            """
            import Foundation
            import SwiftData

            @Model final class Constant {
                let id = UUID()
                let name: String
                init(name: String) { self.name = name }
            }
            """, mode: "5", flags: ["-default-isolation", "MainActor"])
        #expect(output.diagnostics.count > 1)
        #expect(output.diagnostics.filter { !$0.message.hasPrefix("warning: ") } == [])
    }

    private static let isolated = """
        import Foundation
        import SwiftData

        @MainActor @Model class Isolated {
            #Unique<Isolated>([\\.id])
            var id = UUID()
            var name = ""
            var size: Size = .small
            @Attribute(.transformable(by: "T")) var color: [Int] = []
            @Relationship(inverse: \\IsolatedPart.whole) var parts: [IsolatedPart] = []
            var count = 0 { didSet { name = "\\(count)" } }
            @Transient var isOpen = false
            init() {}
        }
        enum Size: String, Codable { case small }

        @MainActor @Model final class IsolatedPart {
            var whole: Isolated?
            init() {}
        }

        @Model final class Inheriting: Isolated {
            var extra = 1
            override init() { super.init() }
        }
        """

    /// Classes with `@MainActor`, one with an `id` of its own, and one that inherits the isolation.
    @Test(arguments: Trials.some(of: ["5", "6"]), [[], ["-default-isolation", "MainActor"]])
    func isolatedModelsCompile(mode: String, flags: [String]) throws {
        #expect(try MacroCompiler.check(Self.isolated, mode: mode, flags: flags).log == "")
    }

    /// Their properties are used on the main actor only.
    @Test func propertiesOfIsolatedModelsAreIsolated() throws {
        let use = "\nnonisolated func show(_ model: Isolated) -> String { model.name }"
        let messages = try MacroCompiler.check(Self.isolated + use).diagnostics.map(\.message)
        #expect(
            messages.contains { $0.contains("main actor-isolated property 'name' can not be referenced") },
            "\(messages)")
    }
}
