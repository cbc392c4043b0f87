import CoreDataModel
import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Values of a megabyte and more lie beside their rows: nothing copies them, and nobody can tell (S4).
@Suite struct LargeValueTests {
    private let folder: URL
    private let model: NSManagedObjectModel

    init() throws {
        folder = try Fixtures.temporaryFolder()
        model = try NSManagedObjectModel(
            document: TestSupport.model(
                entity(
                    "Film", attribute("title"), attribute("inline", .binaryData),
                    attribute("data", .binaryData).with { property in
                        var attribute = AttributeElement(type: .binaryData)
                        attribute.allowsExternalBinaryDataStorage = true
                        property.kind = .attribute(attribute)
                    })))
    }

    private func context(_ type: NSPersistentStore.StoreType, _ name: String = "Films") throws -> NSManagedObjectContext
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: type, at: folder.appendingPathComponent(name))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private static let size = 3 << 20

    private static func bytes(_ seed: UInt8) -> Data {
        let part = Data((0..<4093).map { UInt8(truncatingIfNeeded: $0 / 7) ^ seed })
        var whole = Data(capacity: size + part.count)
        while whole.count < size { whole.append(part) }
        return whole.prefix(size)
    }

    private func film(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Film")).first)
    }

    @Test(arguments: [NSPersistentStore.StoreType.sqlite, .binary, .xml, .inMemory])
    func valuesAreWhatWasSaved(type: NSPersistentStore.StoreType) throws {
        let context = try context(type)
        try context.performAndWait {
            let film = NSEntityDescription.insertNewObject(forEntityName: "Film", into: context)
            var data = Self.bytes(1)
            film.setValue("One", forKey: "title")
            film.setValue(data, forKey: "data")
            film.setValue(data, forKey: "inline")
            try context.save()
            // What the program does with its own value is no matter of the row's.
            data[0] = 99
            context.refreshAllObjects()
            #expect(film.value(forKey: "data") as? Data == Self.bytes(1))
            #expect(film.value(forKey: "inline") as? Data == Self.bytes(1))
            film.setValue("Two", forKey: "title")
            try context.save()
            film.setValue(Self.bytes(2), forKey: "inline")
            try context.save()
            film.setValue(nil, forKey: "inline")
            film.setValue(Data(), forKey: "data")
            try context.save()
            film.setValue(Self.bytes(3), forKey: "data")
            try context.save()
        }
        guard type != .inMemory else { return }
        let other = try self.context(type)
        try other.performAndWait {
            let film = try self.film(other)
            #expect(film.value(forKey: "title") as? String == "Two")
            #expect(film.value(forKey: "inline") == nil)
            #expect(film.value(forKey: "data") as? Data == Self.bytes(3))
        }
    }

    @Test func whatWasReadStaysWhenTheFileGoes() throws {
        let (writer, reader) = (try context(.sqlite), try context(.sqlite))
        try writer.performAndWait {
            let film = NSEntityDescription.insertNewObject(forEntityName: "Film", into: writer)
            film.setValue(Self.bytes(1), forKey: "data")
            try writer.save()
        }
        var kept: Data?
        try reader.performAndWait {
            let film = try self.film(reader)
            film.willAccessValue(forKey: nil)
            try writer.performAndWait {
                try self.film(writer).setValue(Self.bytes(2), forKey: "data")
                try writer.save()
            }
            // As when the row was read, though its file is gone.
            kept = film.value(forKey: "data") as? Data
            #expect(kept == Self.bytes(1))
            // Changed in place, by whoever has it alone, it changes no row.
            kept?[0] ^= 0xFF
            #expect(film.value(forKey: "data") as? Data == Self.bytes(1))
            reader.stalenessInterval = 0
            reader.refresh(film, mergeChanges: false)
            #expect(film.value(forKey: "data") as? Data == Self.bytes(2))
            reader.reset()
        }
        kept?[1] ^= 0xFF
        #expect(kept?.count == Self.size && kept?[2] == Self.bytes(1)[2])
    }

    @Test func rowsShareAndGiveUpWhatTheyHold() throws {
        weak var held: HeldBytes?
        do {
            let builder = RowBuilder(columnCount: 3)
            let bytes = HeldBytes(Self.bytes(5))
            held = bytes
            builder.setInteger(4, at: 0)
            builder.setHeld(bytes, at: 1)
            builder.setText("beside", at: 2)
            let row = builder.finish(primaryKey: 7, version: 1, entity: 0)
            builder.copy(1, kind: .blob, from: row)
            let copy = builder.finish(primaryKey: 8, version: 1, entity: 0)
            builder.setText("no other", at: 2)
            let third = builder.finish(primaryKey: 9, version: 1, entity: 0)
            #expect(row.data(1) == Self.bytes(5) && copy.data(1) == Self.bytes(5))
            #expect(row.text(2) == "beside" && row.integer(0) == 4 && third.text(2) == "no other")
            #expect(row.isEqual(to: copy, at: 1, kind: .blob) && third.isNull(1))
            #expect(row.withView { $0.held(1) } === copy.withView { $0.held(1) })
        }
        #expect(held == nil)
    }

    @Test("T3: through every migration, to every type")
    func valuesPassMigrations() throws {
        let context = try context(.sqlite)
        try context.performAndWait {
            for seed in 0..<3 {
                let film = NSEntityDescription.insertNewObject(forEntityName: "Film", into: context)
                film.setValue("\(seed)", forKey: "title")
                film.setValue(Self.bytes(UInt8(seed)), forKey: "data")
            }
            try context.save()
        }
        let url = folder.appendingPathComponent("Films")
        for own in [false, true] {
            final class OwnManager: NSMigrationManager, @unchecked Sendable {}
            let manager =
                own
                ? OwnManager(sourceModel: model, destinationModel: model)
                : NSMigrationManager(sourceModel: model, destinationModel: model)
            manager.usesStoreSpecificMigrationManager = false
            let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model)
            try manager.migrateStore(
                from: url, type: .sqlite, mapping: mapping, to: folder.appendingPathComponent("Made\(own)"),
                type: .sqlite)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        try coordinator.migratePersistentStore(store, to: folder.appendingPathComponent("Binary"), type: .binary)
        for (name, type) in [
            ("Madefalse", NSPersistentStore.StoreType.sqlite), ("Madetrue", .sqlite), ("Binary", .binary),
        ] {
            let context = try self.context(type, name)
            try context.performAndWait {
                let films = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Film"))
                #expect(films.count == 3, "\(name)")
                for film in films {
                    let seed = UInt8(film.value(forKey: "title") as? String ?? "") ?? 9
                    #expect(film.value(forKey: "data") as? Data == Self.bytes(seed), "\(name)")
                }
            }
        }
    }
}
