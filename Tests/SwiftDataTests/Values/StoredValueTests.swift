import CoreData
import Foundation
import TestSupport
import Testing

@testable import SwiftData

/// Values of every type in a store: F1, 3.2.
@Suite struct StoredValueTests {
    private static func context(_ url: URL) throws -> NSManagedObjectContext {
        let container = try ModelContainer(
            for: Schema([Everything.self]), configurations: [ModelConfiguration(url: url)])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.coordinator
        return context
    }

    private static func object(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Everything")).first)
    }

    private static func form(_ name: String) throws -> AttributeForm {
        try #require(ModelLayout.of(Everything.self).property(named: name)?.attributeForm)
    }

    private static func expect<T: Equatable>(_ object: NSManagedObject, _ name: String, is value: T) throws {
        #expect(try form(name).decode(object.value(forKey: name)) as? T == value, "\(name)")
    }

    private static func isNil(_ value: Any) -> Bool { (value as? any OptionalType).map { $0.wrapped == nil } ?? false }

    /// In the store that it was saved in, in another context, and when it is opened again.
    @Test func valuesComeBackFromAStore() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("everything.store")
        let context = try Self.context(url)
        try context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Everything", into: context)
            for (name, value) in Everything.values {
                object.setValue(try Self.form(name).encode(value), forKey: name)
            }
            try context.save()
            for (name, value) in Everything.values { try Self.expect(object, name, is: value) }
            context.reset()
            let fetched = try Self.object(context)
            for (name, value) in Everything.values {
                try Self.expect(fetched, name, is: value)
                #expect(try Self.isNil(Self.form(name + "OrNil").decode(fetched.value(forKey: name + "OrNil"))))
            }
            for (name, value) in Everything.values {
                fetched.setValue(try Self.form(name + "OrNil").encode(value), forKey: name + "OrNil")
            }
            try context.save()
        }
        let again = try Self.context(url)
        try again.performAndWait {
            let fetched = try Self.object(again)
            for (name, value) in Everything.values {
                try Self.expect(fetched, name, is: value)
                try Self.expect(fetched, name + "OrNil", is: value)
                fetched.setValue(nil, forKey: name + "OrNil")
            }
            try again.save()
            again.reset()
            let empty = try Self.object(again)
            for (name, _) in Everything.values {
                #expect(try Self.isNil(Self.form(name + "OrNil").decode(empty.value(forKey: name + "OrNil"))))
            }
        }
    }
}
