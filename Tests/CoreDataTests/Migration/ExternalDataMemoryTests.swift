import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What a large value that lies in a file takes of memory; runs where `COREDATA_EXTERNAL_BYTES` says how large.
@Suite struct ExternalDataMemoryTests {
    private static let size = ProcessInfo.processInfo.environment["COREDATA_EXTERNAL_BYTES"].flatMap { Int($0) } ?? 0

    private static func status(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
    }

    /// Prints how often the value lay in memory at most, what was there before apart.
    private func measured<R>(_ name: String, _ body: () throws -> R) throws -> R {
        // Forgets the high water mark ("The /proc Filesystem", clear_refs).
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        let before = Self.status("VmRSS")
        let start = ContinuousClock.now
        let result = try body()
        let most = Double(Self.status("VmHWM") - before) / Double(Self.size)
        print("\(name): \(String(format: "%.2f", most)) times the value at most, \(ContinuousClock.now - start)")
        return result
    }

    private func stack(
        _ url: URL, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil
    ) throws
        -> NSManagedObjectContext
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test(.enabled(if: size > 0)) func copiesInMemory() throws {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        func version(_ name: String) throws -> NSManagedObjectModel {
            try NSManagedObjectModel(
                document: model(
                    entity(
                        "Film", attribute(name),
                        attribute("data", .binaryData).with { property in
                            var attribute = AttributeElement(type: .binaryData)
                            attribute.allowsExternalBinaryDataStorage = true
                            property.kind = .attribute(attribute)
                        })))
        }
        let (old, new) = (try version("title"), try version("name"))
        let url = folder.appendingPathComponent("Films.sqlite")
        do {
            let context = try stack(url, old)
            try context.performAndWait {
                let film = NSEntityDescription.insertNewObject(forEntityName: "Film", into: context)
                film.setValue("One", forKey: "title")
                film.setValue(Data(repeating: 7, count: Self.size), forKey: "data")
                try measured("save, beside the program's own value") { try context.save() }
            }
        }
        func read(_ name: String, _ url: URL, _ model: NSManagedObjectModel) throws {
            let context = try stack(url, model)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Film")
            try context.performAndWait {
                let film = try measured("\(name): fetch") { try #require(context.fetch(request).first) }
                let count = try measured("\(name): read") { (film.value(forKey: "data") as? Data)?.count }
                #expect(count == Self.size)
            }
        }
        try read("saved", url, old)
        do {
            let context = try stack(url, old)
            try context.performAndWait {
                let film = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Film")).first)
                film.setValue("Two", forKey: "title")
                try measured("save another attribute") { try context.save() }
            }
        }
        let other = folder.appendingPathComponent("Copy.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        try measured("copy") {
            try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: url, type: .sqlite)
        }
        let moved = folder.appendingPathComponent("Moved.sqlite")
        try measured("move to another store") {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
            let store = try coordinator.addPersistentStore(type: .sqlite, at: other)
            try coordinator.remove(try coordinator.migratePersistentStore(store, to: moved, type: .sqlite))
        }
        try measured("lightweight migration") {
            let options: [AnyHashable: Any] = [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ]
            _ = try stack(other, new, options)
        }
        try measured("mapping model") {
            let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
            manager.usesStoreSpecificMigrationManager = false
            try manager.migrateStore(
                from: url, type: .sqlite,
                mapping: NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new),
                to: folder.appendingPathComponent("Mapped.sqlite"), type: .sqlite)
        }
    }
}
