import CoreDataStore
import Foundation

extension NSPersistentStoreCoordinator {
    /// Deletes transactions, by the identifier of their store; transactions that were deleted before are no error.
    package final func deleteHistory(transactions: [String: [Int64]]) throws {
        try CoreDataErrors.converting {
            for (store, history) in try HistoryTranslation(coordinator: self).stores(nil) {
                guard let numbers = transactions[store.identifier], !numbers.isEmpty else { continue }
                if store.isReadOnly { throw CoreDataErrors.readOnly(store.store) }
                _ = try history.deleteHistory(numbers)
            }
        }
    }

    /// Implements the open method of the class.
    final func historyToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let asked = stores.map { $0.compactMap { $0 as? NSPersistentStore } } ?? []
        let positions = try? HistoryTranslation(coordinator: self).stores(asked).reduce(into: [:]) {
            positions, pair in
            positions[pair.0.identifier] = try pair.1.historyExtent().last
        }
        guard let positions, !positions.isEmpty else { return nil }
        return NSPersistentHistoryToken(positions)
    }
}
