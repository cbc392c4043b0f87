import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import SwiftData

/// Schemas against stores that Apple's SwiftData made: reference 3.1 to 3.4.
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct AppleStoreTests {
    private static func container(_ types: [any PersistentModel.Type], at url: URL) throws -> ModelContainer {
        try ModelContainer(for: Schema(types), configurations: [ModelConfiguration(url: url)])
    }

    /// What the store was made with.
    private static func statements(of url: URL) throws -> [String] {
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: url.path))
        defer { database.close() }
        return try database.read { connection in
            try connection.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
                .compactMap { if case .text(let sql)? = $0.first { sql } else { nil } }
        }
    }

    /// 3.4: composites, inferred inverses, constraints.
    @Test func entitiesHaveTheHashesOfAppleMadeStores() throws {
        let (model, _) = try SchemaCompiler.managedObjectModel(of: Schema([Bar.Cocktail.self]))
        let hashes = model.entityVersionHashesByName
        for vector in try CompositeVector.all() {
            let hash = hashes[vector.entity]?.map { String(format: "%02x", $0) }.joined()
            #expect(hash == vector.hash, "\(vector.entity)")
        }
        #expect(hashes.count == 5)
    }

    /// 3.3, 3.1.7, 3.1.8.
    @Test func tablesAndIndexesAreThoseOfAppleMadeStores() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("bar.store")
        let container = try Self.container([Bar.Cocktail.self], at: url)
        let statements = try Self.statements(of: url)
        for vector in try CompositeVector.all() {
            for sql in vector.sql { #expect(statements.contains(sql), "\(sql)") }
        }
        withExtendedLifetime(container) {}
    }

    @Test(.enabled(if: SchemaOracle.isAvailable, Comment(rawValue: SchemaOracle.missing)))
    func freshStoresAreAsTheOraclePredicts() throws {
        let folder = try Fixtures.temporaryFolder()
        let schemas: [[any PersistentModel.Type]] = [
            [Bar.Cocktail.self], [Cart.CartModel.self], [Recipe.self, Spice.self], [Shelf.self], [Everything.self],
        ]
        let urls = try schemas.enumerated().map { number, types in
            let url = folder.appendingPathComponent("\(number).store")
            let container = try Self.container(types, at: url)
            for store in container.coordinator.persistentStores { try container.coordinator.remove(store) }
            return url
        }
        let complaints = try SchemaOracle.complaints(about: urls)
        #expect(complaints == [])
    }

    @Test func appleMadeStoreOpensWithOurClasses() throws {
        let url = try Fixtures.temporaryCopy("swiftdata/CartKitSwiftData_v1.sqlite")
        let before = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        let container = try Self.container([Cart.CartModel.self], at: url)
        let hashes = container.coordinator.managedObjectModel.entityVersionHashesByName
        #expect(before[NSStoreModelVersionHashesKey] as? [String: Data] == hashes)
        let layout = ModelLayout.of(Cart.CartModel.self)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.coordinator
        try context.performAndWait {
            let cart = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "CartModel")).first)
            func value<V>(_ name: String, as type: V.Type) throws -> V {
                try #require(try layout.property(named: name)?.attributeForm?.decode(cart.value(forKey: name)) as? V)
            }
            #expect(try value("id", as: String.self) == "31D0046D-3C85-410E-BBB0-141FC0105E06")
            #expect(try value("metadataJSON", as: Data?.self)?.count == 29)
            #expect(try value("maxItemCount", as: Int?.self) == nil)
            #expect(try value("minSubtotalAmount", as: Decimal?.self) == nil)
            cart.setValue("done", forKey: "status")
            try context.save()
        }
        for store in container.coordinator.persistentStores { try container.coordinator.remove(store) }
        let again = try Self.container([Cart.CartModel.self], at: url)
        #expect(again.coordinator.persistentStores.count == 1)
    }
}
