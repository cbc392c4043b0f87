import CoreData
import Foundation
import Testing

/// The README's example, run as its reader would.
@Suite struct GroceriesTests {
    @Test func exampleOfTheReadmePrintsWhatItSaved() throws {
        let data = FileManager.default.temporaryDirectory.appendingPathComponent("groceries-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: data) }
        #expect(try run(keepingDataIn: data) == "[\"Milk\"]\n")
        #expect(try run(keepingDataIn: data) == "[\"Milk\", \"Milk\"]\n", "the store is kept")
        #expect(FileManager.default.fileExists(atPath: data.appendingPathComponent("Groceries/Groceries.sqlite").path))
    }

    @Test func modelInSwiftOfTheReadmeIsAModel() throws {
        let model = try NSManagedObjectModel { ModelEntity("Item") { ModelAttribute("name", .string).required() } }
        #expect(model.entitiesByName["Item"]?.attributesByName["name"]?.isOptional == false)
    }

    private func run(keepingDataIn data: URL) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("Groceries")
        process.environment = ProcessInfo.processInfo.environment.merging(["XDG_DATA_HOME": data.path]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text
    }
}
