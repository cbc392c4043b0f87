import CoreData
import CoreDataToolkit
import Foundation
import TestSupport
import Testing

/// The example's model and data, and a folder for one test, gone after it.
final class Grocery: Sendable {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let example = root.appendingPathComponent("Examples/ShoppingList")
    static let data = root.appendingPathComponent("Examples/GroceryDude/Sources/GroceryDude/Assets/DefaultData.xml")
    static let unique = [
        "Item": "name", "Unit": "name", "LocationAtHome": "storedIn", "LocationAtShop": "aisle",
    ]
    static let map = [
        "unit": "unit.name", "locationathome": "locationAtHome.storedIn", "locationatshop": "locationAtShop.aisle",
    ]

    let folder: URL
    var storeURL: URL { folder.appendingPathComponent("Stores/Grocery.sqlite") }

    init() throws { folder = try Fixtures.temporaryFolder() }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static func model() throws -> NSManagedObjectModel {
        let url = example.appendingPathComponent("Model.xcdatamodeld")
        let model = try #require(NSManagedObjectModel(contentsOf: url))
        for entity in model.entities { entity.managedObjectClassName = nil }
        return model
    }

    /// A stack of the example's model, without a main queue.
    func makeStack(
        at url: URL? = nil, _ options: CoreDataStack.Options = .server
    ) async throws -> CoreDataStack {
        try await CoreDataStack.setUp(model: Self.model(), storeURL: url ?? storeURL, options: options)
    }

    /// A stack with the example's items.
    func makeFullStack(at url: URL? = nil) async throws -> CoreDataStack {
        let stack = try await makeStack(at: url)
        let importer = try Importer(stack, unique: Self.unique)
        try await importer.importRecords(from: .file(Self.data), as: "Item", map: Self.map)
        return stack
    }

    func write(_ text: String, to name: String) throws -> URL {
        let url = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url
    }
}

extension CoreDataStack {
    /// How many objects of the entity the view context sees.
    func count(_ entity: String, _ format: String? = nil, _ arguments: any CVarArg...) async throws -> Int {
        let predicate = Passing(format.map { NSPredicate(format: $0, argumentArray: arguments) })
        return try await viewContext.perform { [viewContext] in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = predicate.value
            return try viewContext.count(for: request)
        }
    }

    /// The values of one attribute, sorted.
    func texts(_ entity: String, _ attribute: String) async throws -> [String] {
        try await viewContext.perform { [viewContext] in
            try viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
                .compactMap { $0.value(forKey: attribute) as? String }.sorted()
        }
    }

    /// Changes something in the view context, on its queue.
    func inView<T>(_ body: @escaping @Sendable (NSManagedObjectContext) throws -> T) async rethrows -> T {
        try await viewContext.perform { [viewContext] in try body(viewContext) }
    }
}

/// A program of the tests beside the test program, where SwiftPM puts both.
enum Worker {
    static func executable() throws -> URL {
        try #require(
            BuiltProgram.url("ToolkitWorker"), "the program has not been built: swift build --product ToolkitWorker")
    }

    /// Runs it to its end.
    @discardableResult
    static func run(_ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = try executable()
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Runs it until it has printed so many lines, and kills it then.
    static func runAndKill(afterLines count: Int, _ arguments: String...) throws {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = try executable()
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
        var lines = 0
        while lines < count {
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { break }
            lines += data.count { $0 == UInt8(ascii: "\n") }
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
