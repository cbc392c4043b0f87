import CoreDataStore
import Foundation

// Contexts that are pinned to a generation.
extension NSManagedObjectContext {
    /// What the open property of the class does.
    final var tokenOfGeneration: NSQueryGenerationToken? {
        switch generationReader?.state {
        case nil, .newest: nil
        case .atNextRead: .current
        case .pinned(let generation): NSQueryGenerationToken(generation)
        }
    }

    /// What the open method of the class does.
    final func pin(to token: NSQueryGenerationToken?) throws {
        checkOwned("setQueryGenerationFrom(_:)")
        if keptParent != nil {
            throw CoreDataErrors.invalidRequest(
                "A context with a parent reads the parent's generation: set it on the context that has the coordinator."
            )
        }
        guard let token else {
            generationReader?.state = .newest
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
        if let known = generationReader { return known }
        let made = GenerationReader(self)
        generationReader = made
        hasBeenPinned.store(true, ordering: .releasing)
        forgetHomes()
        rowForms = []
        registry.forgetHomes()
        for object in registry.objects {
            guard object.storeIndex != 0, let store = store(at: object.storeIndex) else { continue }
            object.move(to: registry.home(of: object.runtime, in: store))
        }
        return made
    }

    /// The rows of a coordinator's store without unsaved changes, as the context's children read them: those of the generation that
    /// the topmost context is pinned to, else the newest.
    ///
    /// Called from any queue; waits for the topmost context's only where that has been pinned.
    final func committedRows(of store: AttachedStore) throws -> any ReadableSource {
        if let keptParent { return try keptParent.committedRows(of: store) }
        guard hasBeenPinned.load(ordering: .acquiring) else { return store.source }
        return try runAndWait { try generationReader?.generation()?.sources[store.index] ?? store.source }
    }

    /// A store through the context's reader.
    final func generationStore(_ store: AttachedStore, _ reader: GenerationReader) -> AttachedStore {
        if let known = parentStores[store.index] { return known }
        let made = AttachedStore(of: store, through: GenerationSource(reader, store), newest: store.source)
        parentStores[store.index] = made
        return made
    }

    /// Those of the stores that are read: of a generation, the ones that it has.
    final func readStores(for entity: EntityRuntime, affected: [NSPersistentStore]?) throws -> [AttachedStore] {
        let stores = stores(for: entity, affected: affected)
        guard let generation = try generationReader?.generation() else { return stores }
        let read = stores.filter { generation.stores.contains($0.index) }
        guard read.count < stores.count else { return read }
        // Rows that were in a store that is gone, since it was migrated to one of these, are not simply none.
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

    /// The next read is of what is there then.
    final func advanceGeneration() { generationReader?.advance() }

    /// As ``advanceGeneration()`` where the pinned generation cannot be read any more; else it stays.
    final func leaveGenerationIfGone() {
        guard case .pinned(let generation)? = generationReader?.state else { return }
        let attached = Set((coordinator?.attachedStores ?? []).map(\.index))
        do {
            try generation.check()
            if !generation.stores.isSubset(of: attached) { advanceGeneration() }
        } catch { advanceGeneration() }
    }

    /// The generation after a save, for those who are told of it.
    final func tokenAfterSave() -> NSQueryGenerationToken? {
        guard let generationReader else { return nil }
        do { return try generationReader.generation().map { NSQueryGenerationToken($0) } } catch { return nil }
    }
}
