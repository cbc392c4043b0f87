import Foundation
import TestSupport
import Testing

/// One run of the built tool.
struct CommandRun {
    let status: Int32
    let output: String
    let error: String

    /// The lines of the output, without blank ones.
    var lines: [Substring] { output.split(separator: "\n") }

    /// Runs `coredata` with these arguments.
    @discardableResult
    static func coredata(_ arguments: String..., input: String? = nil) throws -> CommandRun {
        try run(executable(), arguments, input: input)
    }

    static func run(
        _ executable: URL, _ arguments: [String], input: String? = nil, environment: [String: String] = [:]
    ) throws -> CommandRun {
        let scratch = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: scratch) }
        // Files, not pipes: a pipe that nobody reads meanwhile would stop the tool.
        func file(_ name: String, _ text: String = "") throws -> URL {
            let url = scratch.appendingPathComponent(name)
            try text.write(to: url, atomically: true, encoding: .utf8)
            return url
        }
        let output = try file("output")
        let error = try file("error")
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = scratch
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = try FileHandle(forReadingFrom: file("input", input ?? ""))
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: error)
        try process.run()
        process.waitUntilExit()
        return CommandRun(
            status: process.terminationStatus,
            output: try String(contentsOf: output, encoding: .utf8),
            error: try String(contentsOf: error, encoding: .utf8))
    }

    /// The tool beside the test program, where SwiftPM puts both.
    static func executable() throws -> URL {
        try #require(BuiltProgram.url("coredata"), "the tool has not been built: swift build --product coredata")
    }

    static let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let example = packageRoot.appendingPathComponent("Examples/ShoppingList")
    static let exampleModel = example.appendingPathComponent("Model.xcdatamodeld").path
    static let exampleData = packageRoot.appendingPathComponent(
        "Examples/GroceryDude/Sources/GroceryDude/Assets/DefaultData.xml"
    ).path
}

/// A folder for one test, gone after it.
final class Scratch {
    let folder: URL

    init() throws { folder = try Fixtures.temporaryFolder() }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Writes a file and returns its path.
    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: path(name), atomically: true, encoding: .utf8)
        return path(name)
    }

    func read(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    /// Makes a store of the example's model, or of another one.
    func makeStore(model: String = CommandRun.exampleModel) throws -> String {
        let store = path("store.sqlite")
        let run = try CommandRun.coredata("store", "create", store, "--model", model)
        try #require(run.status == 0, "\(run.error)")
        return store
    }

    /// Copies an empty store of the example's model that was made once: all copies have the same UUID.
    func copyOfEmptyStore() throws -> String {
        try FileManager.default.copyItem(atPath: Self.emptyStore.get(), toPath: path("store.sqlite"))
        return path("store.sqlite")
    }

    private static let emptyStore = Result { () throws -> String in
        let store = try Fixtures.temporaryFolder().appendingPathComponent("store.sqlite").path
        let run = try CommandRun.coredata("store", "create", store, "--model", CommandRun.exampleModel)
        try #require(run.status == 0, "\(run.error)")
        return store
    }

    /// Makes a store of a model whose entities are given as a model file writes them.
    func makeStore(entities: String) throws -> String {
        let model = folder.appendingPathComponent("Model.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let contents = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities)</model>
            """
        try contents.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        return try makeStore(model: model.path)
    }
}
