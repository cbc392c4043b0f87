import Foundation
import SwiftData
import Testing

/// The module's own store, by snapshots, and snapshots themselves.
struct DefaultStoreTests {
    private func open() throws -> DefaultStore {
        try DefaultStore(ModelConfiguration(schema: Schema([Dish.self]), isStoredInMemoryOnly: true))
    }

    private func request<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) -> DataStoreFetchRequest<T> {
        DataStoreFetchRequest(editingState: EditingState(author: "cook"), descriptor: descriptor)
    }

    private func snapshot(_ dish: Dish) -> DefaultSnapshot {
        var related: [PersistentIdentifier: any BackingData] = [:]
        return DefaultSnapshot(from: dish.persistentBackingData, relatedBackingDatas: &related)
    }

    private func save(
        _ store: DefaultStore, inserted: [DefaultSnapshot] = [], updated: [DefaultSnapshot] = [],
        deleted: [DefaultSnapshot] = []
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try store.save(
            DataStoreSaveChangesRequest(
                inserted: inserted, updated: updated, deleted: deleted, editingState: EditingState(author: "cook")))
    }

    @Test func snapshotsAreWrittenAndRead() throws {
        let store = try open()
        let dish = snapshot(Dish(name: "Soup", servings: 3))
        let result = try save(store, inserted: [dish])
        let id = try #require(result.remappedIdentifiers[dish.persistentIdentifier])
        #expect(id.storeIdentifier == store.identifier && result.storeIdentifier == store.identifier)
        let many = FetchDescriptor<Dish>(predicate: #Predicate { $0.servings > 2 })
        let found = try store.fetch(request(many)).fetchedSnapshots
        #expect(found.map(\.persistentIdentifier) == [id])
        #expect(try store.fetchCount(request(many)) == 1)
        #expect(try store.fetchIdentifiers(request(many)) == [id])
        #expect(try store.cachedSnapshots(for: [id], editingState: EditingState()).keys.map { $0 } == [id])
        #expect(try store.fetchHistory(HistoryDescriptor()).map(\.author) == ["cook"])
        let tokens = try store.fetchHistory(HistoryDescriptor()).map(\.token)
        #expect(tokens == [try #require(result.historyToken as? DefaultHistoryToken)])

        let changed = snapshot(Dish(name: "Broth", servings: 1)).copy(persistentIdentifier: id)
        _ = try save(store, updated: [changed])
        #expect(try store.fetchCount(request(many)) == 0)
        _ = try save(store, deleted: [changed])
        #expect(try store.fetchCount(request(FetchDescriptor<Dish>())) == 0)
    }

    @Test func batchesAreDeleted() throws {
        let store = try open()
        _ = try save(store, inserted: [snapshot(Dish(name: "Soup")), snapshot(Dish(name: "Pie", servings: 6))])
        try store.delete(
            DataStoreBatchDeleteRequest<Dish>(
                editingState: EditingState(), predicate: #Predicate { $0.servings > 2 }, includeSubclasses: true))
        #expect(try store.fetchCount(request(FetchDescriptor<Dish>())) == 1)
        try store.erase()
        #expect(try store.fetchCount(request(FetchDescriptor<Dish>())) == 0)
    }

    /// Values, relationships and no value survive JSON.
    @Test func snapshotsAreEncodedByTheNamesOfProperties() throws {
        let store = try open()
        let dish = Dish(name: "Soup", servings: 3)
        dish.season = .winter
        let made = snapshot(dish)
        let encoded = try JSONEncoder().encode(made)
        let object = try #require(try JSONSerialization.jsonObject(with: encoded) as? [String: Any])
        #expect(object["name"] as? String == "Soup" && object["season"] as? String == "winter")
        #expect(object["note"] == nil && object["persistentIdentifier"] != nil)
        let decoded = try JSONDecoder().decode(DefaultSnapshot.self, from: encoded)
        _ = try save(store, inserted: [decoded])
        let found = try #require(try store.fetch(request(FetchDescriptor<Dish>())).fetchedSnapshots.first)
        let again = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(found)) as? [String: Any])
        #expect(again["name"] as? String == "Soup" && again["servings"] as? Int == 3)
    }
}
