import CoreData
import CoreDataModel
import Foundation
import TestSupport

/// A store whose content follows from the number of its last save, so that half a save is recognised.
///
/// Save *k* sets the counter to *k* and inserts item *k*, with a picture if *k* is odd. It gives item *k* − 2 another
/// picture if it has one, and deletes item *k* − 3.
struct CrashShop {
    let url: URL
    var type = NSPersistentStore.StoreType.sqlite
    var options: [AnyHashable: Any] = [:]
    /// Whether items have pictures, which are files of their own.
    var hasPictures = true

    // Safe because nothing changes it.
    nonisolated(unsafe) static let model: NSManagedObjectModel = {
        let picture = attribute("picture", .binaryData).with {
            guard case .attribute(var attribute) = $0.kind else { return }
            attribute.allowsExternalBinaryDataStorage = true
            $0.kind = .attribute(attribute)
        }
        var document = ModelDocument()
        document.entities = [
            entity("Counter", attribute("value", .integer64)),
            entity("Item", attribute("number", .integer64), attribute("text"), picture),
        ]
        // A model of constants.
        guard let model = try? NSManagedObjectModel(document: document) else { preconditionFailure("no model") }
        return model
    }()

    // MARK: Writing

    /// The open store.
    final class Session {
        let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext
        private let shops: [CrashShop]

        init(_ shops: CrashShop...) throws {
            self.shops = shops
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: CrashShop.model)
            context = NSManagedObjectContext(.privateQueue)
            do {
                for shop in shops {
                    try coordinator.addPersistentStore(type: shop.type, at: shop.url, options: shop.options)
                }
            } catch {
                close()
                throw error
            }
            context.persistentStoreCoordinator = coordinator
        }

        func close() {
            context.performAndWait { context.reset() }
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
        }

        /// Makes the changes of a save in each store; ``save()`` writes them.
        func change(_ number: Int) throws {
            try context.performAndWait {
                for (shop, store) in zip(shops, coordinator.persistentStores) { try change(number, shop, store) }
            }
        }

        func save() throws { try context.performAndWait { try context.save() } }

        private func change(_ number: Int, _ shop: CrashShop, _ store: NSPersistentStore) throws {
            func insert(_ entity: String) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                context.assign(object, to: store)
                return object
            }
            let counter = try shop.objects("Counter", store, context).first ?? insert("Counter")
            counter.setValue(number, forKey: "value")
            let item = insert("Item")
            item.setValue(number, forKey: "number")
            item.setValue("item \(number)", forKey: "text")
            item.setValue(shop.picture(of: number, after: number), forKey: "picture")
            for old in try shop.objects("Item", store, context) {
                guard let key = old.value(forKey: "number") as? Int else { continue }
                if key == number - 3 { context.delete(old) }
                if key == number - 2 { old.setValue(shop.picture(of: key, after: number), forKey: "picture") }
            }
        }
    }

    private func objects(
        _ entity: String, _ store: NSPersistentStore, _ context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.affectedStores = [store]
        request.includesPendingChanges = false
        return try context.fetch(request)
    }

    private func picture(of item: Int, after save: Int) -> Data? {
        guard hasPictures, item % 2 == 1 else { return nil }
        return Data(repeating: UInt8(truncatingIfNeeded: item * 2 + (save - item) / 2), count: 101 << 10)
    }

    /// Makes the store, with some saves.
    func fill(_ numbers: ClosedRange<Int>) throws {
        let session = try Session(self)
        defer { session.close() }
        for number in numbers {
            try session.change(number)
            try session.save()
        }
    }

    // MARK: Checking

    /// The number of the last save in the store, which must be whole.
    ///
    /// - Parameter next: whether another save is tried: a store must be usable after a crash.
    func lastSave(tryingNext next: Bool = true) throws -> Int {
        let session = try Session(self)
        defer { session.close() }
        let number = try check(session)
        if next {
            try session.change(number + 1)
            try session.save()
            session.context.performAndWait { session.context.reset() }
            guard try check(session) == number + 1 else { throw Broken("the next save is not in the store") }
        }
        guard type == .sqlite else { return number }
        let findings = try NSPersistentStoreCoordinator.verifyPersistentStore(at: url).findings
        if let finding = findings.first(where: { $0.severity == .error }) { throw Broken("\(finding)") }
        return number
    }

    private func check(_ session: Session) throws -> Int {
        try session.context.performAndWait {
            guard let store = session.coordinator.persistentStores.first else { throw Broken("no store") }
            let counters = try objects("Counter", store, session.context)
            let number = counters.first?.value(forKey: "value") as? Int ?? 0
            let items = try objects("Item", store, session.context).map { item -> String in
                let key = item.value(forKey: "number") as? Int ?? -1
                let isWhole =
                    item.value(forKey: "text") as? String == "item \(key)"
                    && item.value(forKey: "picture") as? Data == picture(of: key, after: number)
                return isWhole ? "\(key)" : "\(key) damaged"
            }
            let expected = number == 0 ? [] : (max(1, number - 2)...number).map(String.init)
            guard counters.count == min(number, 1), items.sorted() == expected.sorted() else {
                throw Broken("save \(number) is not whole: \(counters.count) counters, items \(items.sorted())")
            }
            return number
        }
    }
}

/// A state of files that no promise allows.
package struct Broken: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
