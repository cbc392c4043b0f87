import Foundation

// Finds objects by temporary IDs that had been handed out before they were saved.
extension ObjectRegistry {
    func alias(_ temporaryKey: Int64, to id: NSManagedObjectID) {
        state.withLock { $0.aliases[temporaryKey] = id }
    }

    /// As ``alias(_:to:)``, for a new object that a row's object, or another new one, took the place of.
    func alias(absorbed temporaryKey: Int64, to id: NSManagedObjectID) {
        state.withLock {
            $0.aliases[temporaryKey] = id
            $0.absorbed.insert(temporaryKey)
        }
    }

    func permanentID(forTemporaryKey key: Int64) -> NSManagedObjectID? {
        state.withLock { $0.aliases[key] }
    }

    func isAbsorbed(_ temporaryKey: Int64) -> Bool {
        state.withLock { $0.absorbed.contains(temporaryKey) }
    }
}
