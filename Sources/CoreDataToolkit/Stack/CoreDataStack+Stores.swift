import CoreData
import Foundation

extension CoreDataStack {
    /// The store, while it is attached.
    public var store: NSPersistentStore? { coordinator.persistentStores.first }

    /// Forgets every object of the standing contexts; what was not saved is lost. The store stays.
    public func reset(isolation: isolated (any Actor)? = #isolation) async {
        await mergeNow()
        for context in [viewContext, parentContext] {
            await context.perform {
                context.undoManager?.removeAllActions()
                context.reset()
            }
        }
    }

    /// Takes the store off the coordinator; its file stays. What was not saved is lost.
    ///
    /// Whoever still has objects of it can no longer read them. ``reload(isolation:)`` adds it again.
    public func removeStores(isolation: isolated (any Actor)? = #isolation) async throws {
        await reset()
        merging.end()
        let coordinator = coordinator
        try await BackgroundWork.run { _ in
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
    }

    /// Opens the store anew, or makes it where its file is gone: after the file was replaced, or ``removeStores(isolation:)``.
    ///
    /// - Throws: what setting up throws; then the stack has no store, until a reload succeeds.
    public func reload(isolation: isolated (any Actor)? = #isolation) async throws {
        try await removeStores()
        try await addStore()
    }

    /// Takes the store away with all that is in it, and makes an empty one; without a file, one that is new.
    public func destroyStores(isolation: isolated (any Actor)? = #isolation) async throws {
        try await removeStores()
        if let storeURL {
            let (coordinator, type) = (coordinator, options.storeType)
            try await BackgroundWork.run { _ in
                try coordinator.destroyPersistentStore(at: storeURL, type: type)
                // An empty file is no store of the initial kind: it would keep the initial store from being copied.
                try? FileManager.default.removeItem(at: storeURL)
            }
        }
        try await addStore()
    }

    /// Runs the body while the store is off the coordinator, so that its files can be changed, then opens it anew.
    ///
    /// - Throws: what the body throws, after the store was opened again; what opening it throws.
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
