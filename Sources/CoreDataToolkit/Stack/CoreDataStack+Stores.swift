import CoreData
import Foundation

extension CoreDataStack {
    /// The store, if it is attached.
    public var store: NSPersistentStore? { coordinator.persistentStores.first }

    /// Resets the view context and its parent; unsaved changes are lost. The store stays attached.
    public func reset(isolation: isolated (any Actor)? = #isolation) async {
        await mergeNow()
        for context in [viewContext, parentContext] {
            await context.perform {
                context.undoManager?.removeAllActions()
                context.reset()
            }
        }
    }

    /// Removes the store from the coordinator, but keeps its file. Unsaved changes are lost.
    ///
    /// Existing objects can no longer be read. ``reload(isolation:)`` adds the store again.
    public func removeStores(isolation: isolated (any Actor)? = #isolation) async throws {
        await reset()
        merging.end()
        let coordinator = coordinator
        try await BackgroundWork.run { _ in
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
    }

    /// Opens the store again, or creates it if its file does not exist. Call it after the file was replaced, or after
    /// ``removeStores(isolation:)``.
    ///
    /// - Throws: the errors of setup; then the stack has no store until a reload succeeds.
    public func reload(isolation: isolated (any Actor)? = #isolation) async throws {
        try await removeStores()
        try await addStore()
    }

    /// Deletes the store with all its data and creates an empty one; a store in memory is replaced by a new one.
    public func destroyStores(isolation: isolated (any Actor)? = #isolation) async throws {
        try await removeStores()
        if let storeURL {
            let (coordinator, type) = (coordinator, options.storeType)
            try await BackgroundWork.run { _ in
                try coordinator.destroyPersistentStore(at: storeURL, type: type)
                // An empty file would prevent copying the initial store.
                try? FileManager.default.removeItem(at: storeURL)
            }
        }
        try await addStore()
    }

    /// Removes the store from the coordinator, runs the body, which may change the store's files, and opens the store
    /// again.
    ///
    /// - Throws: the errors of the body, after the store was opened again; the errors of opening it.
    func whileStoresAreRemoved<T: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try await removeStores()
        let result: Result<T, any Error>
        do { result = .success(try await BackgroundWork.run { _ in try body() }) } catch { result = .failure(error) }
        do { try await addStore() } catch {
            if case .failure(let first) = result { throw first }
            throw error
        }
        return try result.get()
    }

    private func addStore(isolation: isolated (any Actor)? = #isolation) async throws {
        let stack = self
        try await BackgroundWork.run { cancellation in
            let opening = StoreOpening(stack.storeURL, stack.options, stack.model)
            try opening.prepare(cancellation, nil)
            try opening.add(to: stack.coordinator)
        }
        if !options.isReadOnly { merging.begin() }
    }
}
