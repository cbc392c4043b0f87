import CoreData
import CoreDataStudio
import Foundation
import Testing

@testable import coredata_studio

@Suite struct ArgumentTests {
    private static func summary(_ arguments: [String]) throws -> String {
        let read = try StudioArguments(arguments)
        return [
            read.model.map { "model \($0.lastPathComponent)" }, read.store.map { "store \($0.lastPathComponent)" },
            read.options.isWritable ? "write" : nil, read.options.infersModel ? "infer" : nil,
            read.options.modelVersion.map { "version \($0)" }, read.port.map { "port \($0)" },
            read.options.comparedStore.map { "compare \($0.lastPathComponent)" }, read.wantsHelp ? "help" : nil,
            read.wantsDemo ? "demo" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
    }

    @Test(
        arguments: [
            ([], ""), (["A.sqlite"], "store A.sqlite"), (["M.xcdatamodeld/"], "model M.xcdatamodeld"),
            (["M.momd", "A", "--write", "--port", "0"], "model M.momd, store A, write, port 0"),
            (["A", "--infer", "--compare", "B.xml"], "store A, infer, compare B.xml"),
            (["M.xcdatamodeld", "--model-version", "M 2"], "model M.xcdatamodeld, version M 2"), (["-h"], "help"),
            (["--demo"], "write, demo"),
        ] as [([String], String)])
    func argumentsAreRead(arguments: [String], summary: String) throws {
        #expect(try Self.summary(arguments) == summary)
    }

    @Test func theDemoHasAModelAndAFilledStore() async throws {
        let demo = try await Demo.make()
        defer { try? FileManager.default.removeItem(at: demo.model.deletingLastPathComponent()) }
        await (try Studio(model: demo.model, store: demo.store)).close()
        let model = try #require(NSManagedObjectModel(contentsOf: demo.model))
        for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(type: .sqlite, at: demo.store)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        for (entity, count) in Demo.counts {
            #expect(
                try await context.perform {
                    try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
                } == count)
        }
    }

    @Test(arguments: [
        ["--nothing"], ["--port"], ["--port", "x"], ["--port", "70000"], ["A", "B"], ["M.momd", "N.mom"], ["--write"],
        ["--demo", "A"],
        ["--infer", "M.momd"],
    ])
    func badArgumentsAreRefused(arguments: [String]) {
        #expect(throws: StudioArguments.Problem.self) { try StudioArguments(arguments) }
    }
}
