import CoreData
import Foundation

extension LiveStore {
    /// Saves the view context and its parent; changes that cannot be saved are rolled back. While another process is writing to the
    /// store, the parent keeps the changes for ``settle()``.
    func saveStack() throws {
        do { try stack.saveAndWait() } catch {
            if view.hasChanges {
                // The view has handed nothing on: changes of other forms, which may wait in the parent, stay.
                view.rollback()
            } else if BusyStore.isBusy(error) {
                return
            } else {
                rollBack()
            }
            throw error
        }
    }

    /// Rolls back the changes that the store does not have yet.
    private func rollBack() {
        view.rollback()
        let parent = stack.parentContext
        guard parent.performAndWait({ parent.hasChanges }) else { return }
        // The view has handed its changes on: it has to read the store again.
        parent.performAndWait { parent.rollback() }
        lossCount += 1
        // Their steps cannot be told from those that the store has.
        histories = []
        view.refreshAllObjects()
        view.processPendingChanges()
        onRollback?()
    }

    /// Returns when the store has all changes. Another process may be writing to it for a while; pages are read meanwhile.
    ///
    /// - Throws: what the save throws, and ``BusyStore/Failure`` where the other process does not end; then the changes that the store
    ///   does not have are rolled back, and browsers lose their steps.
    package func settle() async throws {
        let end = ContinuousClock.now + patience
        let before = lossCount
        do {
            while try !hasSettled() {
                guard ContinuousClock.now < end else { throw BusyStore.Failure() }
                try await Task.sleep(for: BusyStore.pause)
            }
        } catch {
            rollBack()
            throw error
        }
        // Another form, which waited as well, has rolled everything back.
        guard lossCount == before else { throw BusyStore.Failure() }
    }

    /// Whether the store has all changes; false while another process is writing to it.
    private func hasSettled() throws -> Bool {
        let parent = stack.parentContext
        do { try parent.performAndWait { if parent.hasChanges { try parent.save() } } } catch {
            if BusyStore.isBusy(error) { return false }
            throw error
        }
        return true
    }
}

extension NSManagedObjectContext {
    /// Gives new objects IDs that stay the same, also where ``LiveStore/settle()`` saves them later.
    ///
    /// - Throws: what reserving numbers in the store throws, while another process is writing to it for example.
    package func obtainPermanentIDs() throws {
        let new = insertedObjects.filter { $0.objectID.isTemporaryID }
        if !new.isEmpty { try obtainPermanentIDs(for: Array(new)) }
    }
}
