import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What tombstones keep of composite attributes (O3, U3).
@Suite struct CompositeTombstoneTests {
    private static var history: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    private static func kept(_ property: PropertyElement, if isKept: Bool = true) -> PropertyElement {
        property.with {
            guard case .attribute(var attribute) = $0.kind else { return }
            attribute.preservesValueInHistoryOnDeletion = isKept
            $0.kind = .attribute(attribute)
        }
    }

    private static func document(keepsAddress: Bool = false, keepsZip: Bool = false) -> ModelDocument {
        let address = composite(
            "address", attribute("city"), kept(attribute("zip", .integer16), if: keepsZip),
            composite("geo", attribute("x", .double)))
        return model(entity("Shop", kept(attribute("title")), attribute("phone"), kept(address, if: keepsAddress)))
    }

    /// Makes shops and deletes them.
    private func makeAndDelete(
        _ addresses: [[String: Any]?], isBatch: Bool = false, in coordinator: NSPersistentStoreCoordinator
    ) throws {
        try FileStack.story(coordinator) { context in
            for address in addresses {
                let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
                shop.setValue("Book & Co", forKey: "title")
                shop.setValue("1234", forKey: "phone")
                shop.setValue(address, forKey: "address")
            }
            try context.save()
            if isBatch {
                try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Shop")))
            } else {
                for shop in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shop")) {
                    context.delete(shop)
                }
                try context.save()
            }
        }
    }

    /// The tombstones as texts by path.
    private func tombstones(_ coordinator: NSPersistentStoreCoordinator) throws -> Set<[String: String]> {
        func flat(_ values: [AnyHashable: Any], _ path: String = "") -> [String: String] {
            values.reduce(into: [:]) { result, entry in
                if let inner = entry.value as? [String: Any] {
                    result.merge(flat(inner, "\(path)\(entry.key).")) { first, _ in first }
                } else {
                    result["\(path)\(entry.key)"] = "\(entry.value)"
                }
            }
        }
        return try FileStack.story(coordinator) { context in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            return Set(transactions.flatMap { $0.changes ?? [] }.compactMap(\.tombstone).map { flat($0) })
        }
    }

    private static var address: [String: Any] { ["city": "Oslo", "zip": 150, "geo": ["x": 1.5]] }
    private static let title = ["title": "Book & Co"]
    private static let whole = [
        "title": "Book & Co", "address.city": "Oslo", "address.zip": "150", "address.geo.x": "1.5",
    ]

    @Test(arguments: [false, true]) func aKeptCompositeKeepsItsElements(isBatch: Bool) throws {
        let stack = try FileStack(.sqlite, model: NSManagedObjectModel(document: Self.document(keepsAddress: true)))
        try stack.reopen(Self.history)
        try makeAndDelete([Self.address, nil], isBatch: isBatch, in: stack.coordinator)
        #expect(try tombstones(stack.coordinator) == [Self.whole, Self.title])
    }

    @Test func aKeptElementStandsInItsComposite() throws {
        let stack = try FileStack(.sqlite, model: NSManagedObjectModel(document: Self.document(keepsZip: true)))
        try stack.reopen(Self.history)
        try makeAndDelete([Self.address], in: stack.coordinator)
        #expect(try tombstones(stack.coordinator) == [["title": "Book & Co", "address.zip": "150"]])
    }

    /// That a model keeps a composite is not in its version hash: the store opens without a migration, with the tombstones that it has.
    @Test func aStoreMakesRoomForACompositeThatIsKeptFromNowOn() throws {
        let stack = try FileStack(.sqlite, model: NSManagedObjectModel(document: Self.document()))
        try stack.reopen(Self.history)
        try makeAndDelete([Self.address], in: stack.coordinator)
        try stack.coordinator.remove(stack.store)
        let newer = try NSManagedObjectModel(document: Self.document(keepsAddress: true))
        let coordinator = try NSPersistentStoreCoordinator(validating: newer)
        try coordinator.addPersistentStore(type: .sqlite, at: stack.url, options: Self.history)
        try makeAndDelete([Self.address], in: coordinator)
        #expect(try tombstones(coordinator) == [Self.title, Self.whole])
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(
            try NSPersistentStoreCoordinator.verifyPersistentStore(at: stack.url, model: newer).findings.isEmpty)
    }
}
