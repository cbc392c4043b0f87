import CoreData
import Foundation

// Synchronisation as a reader of the store's history, so that purging keeps what was not captured.
extension SyncedStore {
    /// The name under which synchronisation reads the history of a store.
    var historyReader: String { "CoreDataSync \(store.identifier ?? "")" }

    /// The number of transactions after which the position is noted again: noting is a transaction of the store.
    private static let notingInterval: Int64 = 1_000

    /// Notes in the store up to where its history was captured.
    ///
    /// A position that is noted late only keeps more of the history. So a store that cannot be written to is no
    /// failure.
    func noteHistoryRead() {
        guard let identifier = store.identifier, let position = sidecar.settings.token?[identifier], !store.isReadOnly
        else { return }
        do {
            let noted = try coordinator.historyConsumers()
                .first { $0.name == historyReader && $0.storeID == identifier }?.transactionNumber
            if let noted, position < noted + Self.notingInterval { return }
            try coordinator.noteHistoryRead(
                upTo: NSPersistentHistoryToken([identifier: position]), byConsumer: historyReader)
        } catch {}
    }

    /// Lets the whole history be purged again.
    func forgetHistoryReader() throws {
        guard !store.isReadOnly else { return }
        try coordinator.removeHistoryConsumer(historyReader)
    }
}
