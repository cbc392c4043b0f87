import CoreDataStore
import Foundation

// Contexts that are pinned to a generation.
extension NSManagedObjectContext {
    /// Implements the open property of the class.
    final var tokenOfGeneration: NSQueryGenerationToken? {
        switch storeView.generationReader?.state {
        case nil, .newest: nil
        case .atNextRead: .current
        case .pinned(let generation): NSQueryGenerationToken(generation)
        }
    }

    /// Implements the open method of the class.
    final func pin(to token: NSQueryGenerationToken?) throws {
        checkOwned("setQueryGenerationFrom(_:)")
        if parentLink.isChild {
            throw CoreDataErrors.invalidRequest(
                "A context with a parent reads the parent's generation: set it on the context that has the coordinator."
            )
        }
        guard let token else {
            storeView.generationReader?.state = .newest
            return
        }
        guard let identifier = token.identifier else {
            takeReader().state = .atNextRead
            return
        }
        let coordinator = try coordinatorForRequest()
        guard let generation = coordinator.generations.generation(identifier) else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                token.generation == nil
                    ? "The query generation of the token is no longer kept: nobody has held it meanwhile."
                    : "The query generation is of another persistentStoreCoordinator than the context's.")
        }
        let attached = Set(coordinator.attachedStores.map(\.index))
        guard generation.stores.isSubset(of: attached) else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "The query generation has a store that was removed from the coordinator since.")
        }
        try CoreDataErrors.converting { try generation.check() }
        takeReader().state = .pinned(generation)
    }

    /// From now on the context's stores are read through its reader.
    private func takeReader() -> GenerationReader {
        if let known = storeView.generationReader { return known }
        let made = GenerationReader(self)
        storeView.generationReader = made
        storeView.stores = [:]
        children.hasBeenPinned.store(true, ordering: .releasing)
        homeCache.forgetHomes()
        homeCache.rowForms = []
        registry.forgetHomes()
        for object in registry.objects {
            guard object.storeIndex != 0, let store = store(at: object.storeIndex) else { continue }
            object.move(to: registry.home(of: object.runtime, in: store))
        }
        return made
    }

    /// Returns the rows of a coordinator's store without unsaved changes, for the context's children: the rows of the
    /// generation to which the topmost context is pinned, else the newest; those that it may read, if it is restricted.
    ///
    /// Called from any queue. Waits for the topmost context's queue only if that context was ever pinned or restricted.
    final func committedRows(of store: AttachedStore) throws -> any ReadableSource {
        if let parent = parentLink.parent { return try parent.committedRows(of: store) }
        guard children.hasBeenPinned.load(ordering: .acquiring) else { return store.source }
        return try runAndWait {
            let rows = try storeView.generationReader?.generation()?.sources[store.index] ?? store.source
            return storeView.restriction?.source(rows, of: store.target) ?? rows
        }
    }

    /// Returns the stores to read. A pinned context reads the stores of its generation.
    final func readStores(for entity: EntityRuntime, affected: [NSPersistentStore]?) throws -> [AttachedStore] {
        let stores = stores(for: entity, affected: affected)
        guard let generation = try storeView.generationReader?.generation() else { return stores }
        let read = stores.filter { generation.stores.contains($0.index) }
        guard read.count < stores.count else { return read }
        // A store with such rows may have been removed because it was migrated to one of these. Its rows must not count
        // as deleted.
        let attached = Set((coordinator?.attachedStores ?? []).map(\.index))
        let isGone = generation.sources.contains { index, source in
            !attached.contains(index) && entity.compiled.subtree.contains { source.includes(entity: $0) }
        }
        guard isGone else { return read }
        throw CoreDataErrors.make(
            NSPersistentStoreOperationError,
            "The query generation that the context is pinned to has a store of entity '\(entity.name)' that was migrated or "
                + "removed since: to read what is there now, save, merge, refreshAllObjects(), reset(), or set another generation."
        )
    }

    /// Lets the next read pin the newest generation.
    final func advanceGeneration() { storeView.generationReader?.advance() }

    /// Calls ``advanceGeneration()`` if the pinned generation cannot be read any more.
    final func leaveGenerationIfGone() {
        guard case .pinned(let generation)? = storeView.generationReader?.state else { return }
        let attached = Set((coordinator?.attachedStores ?? []).map(\.index))
        do {
            try generation.check()
            if !generation.stores.isSubset(of: attached) { advanceGeneration() }
        } catch { advanceGeneration() }
    }

    /// Returns the generation after a save, for observers.
    final func tokenAfterSave() -> NSQueryGenerationToken? {
        guard let reader = storeView.generationReader else { return nil }
        do { return try reader.generation().map { NSQueryGenerationToken($0) } } catch { return nil }
    }
}
