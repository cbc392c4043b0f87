import CoreDataStore
import Foundation
import Synchronization

// A context on top of another one, which is its store: it reads the parent's state, with unsaved changes, and saves to
// the parent.
extension NSManagedObjectContext {
    /// What ``parent`` does when it is set.
    final func setParent(_ newParent: NSManagedObjectContext?) {
        guard newParent !== parentLink.parent else { return }
        precondition(
            newParent == nil || storeView.restriction == nil,
            "A restricted context cannot get a parent: restrict the topmost context; its children inherit that.")
        precondition(
            registry.objects.isEmpty, "A context that has objects cannot change its parent; reset it first.")
        precondition(
            newParent == nil || coordinator == nil || parentLink.isChild,
            "A context has a parent or a persistentStoreCoordinator, not both.")
        if let newParent {
            precondition(
                concurrencyType != .confinementConcurrencyType
                    && newParent.concurrencyType != .confinementConcurrencyType,
                "Parent contexts are for contexts with queues: make both with .privateQueue or .mainQueue.")
            precondition(
                !sequence(first: newParent, next: { $0.parentLink.parent }).contains { $0 === self },
                "A context cannot be its own ancestor.")
        }
        if let parent = parentLink.parent { parent.children.remove(self) }
        parentLink = ParentLink(newParent)
        if let newParent { newParent.children.add(self) }
        storeView.stores = [:]
        storeView.generationReader = nil
        takeCoordinator(newParent?.coordinator)
    }

    /// Sets the coordinator of the context and its descendants.
    final func takeCoordinator(_ newCoordinator: NSPersistentStoreCoordinator?) {
        coordinator = newCoordinator
        registry.coordinator = newCoordinator
        if storeView.generationReader != nil {
            storeView.generationReader = nil
            storeView.stores = [:]
        }
        homeCache.forgetHomes()
        for child in children.contexts { child.takeCoordinator(newCoordinator) }
    }

    /// What ``persistentStoreCoordinator`` does when it is set.
    final func setCoordinator(_ newCoordinator: NSPersistentStoreCoordinator?) {
        precondition(
            !parentLink.isChild || newCoordinator === coordinator,
            "A context with a parent reads and saves through it: it has no persistentStoreCoordinator of its own.")
        precondition(
            coordinator == nil || coordinator === newCoordinator || registry.objects.isEmpty,
            "A context that has objects cannot change its coordinator; reset it first.")
        precondition(
            storeView.restriction == nil || coordinator === newCoordinator,
            "A restricted context cannot change its coordinator: make another context.")
        takeCoordinator(newCoordinator)
    }

    // MARK: Stores

    final func store(at index: Int32) -> AttachedStore? { coordinator?.store(at: index).map { seen($0) } }

    final func store(withIdentifier identifier: String) -> AttachedStore? {
        coordinator?.store(withIdentifier: identifier).map { seen($0) }
    }

    final func attachedStore(of store: NSPersistentStore) -> AttachedStore? {
        coordinator?.attachedStore(of: store).map { seen($0) }
    }

    /// The stores that have the entity or one below it.
    final func stores(for entity: EntityRuntime, affected: [NSPersistentStore]?) -> [AttachedStore] {
        coordinator?.stores(for: entity, affected: affected).map { seen($0) } ?? []
    }

    private func seen(_ store: AttachedStore) -> AttachedStore {
        if parentLink.isChild { return parentStore(store) }
        return storeView.isDirect ? store : indirectStore(store)
    }

    private func parentStore(_ store: AttachedStore) -> AttachedStore {
        if let known = storeView.stores[store.index] { return known }
        guard let parent = parentLink.parent else { return store }
        let made = AttachedStore(of: store, through: ParentSource(parent: parent, store: store))
        storeView.stores[store.index] = made
        return made
    }

    /// A store as the context sees it that is restricted or pinned to a generation.
    final func indirectStore(_ store: AttachedStore) -> AttachedStore {
        if let known = storeView.stores[store.index] { return known }
        let read: any ReadableSource =
            storeView.generationReader.map { GenerationSource($0, store) } ?? store.source
        func restricted(_ source: any ReadableSource) -> any ReadableSource {
            storeView.restriction?.source(source, of: store.target) ?? source
        }
        let made = AttachedStore(of: store, through: restricted(read), newest: restricted(store.source))
        storeView.stores[store.index] = made
        return made
    }

    /// The restriction of the context, or of the ancestor through which it reads.
    package final var restriction: (any ContextRestriction)? {
        // An ancestor's never changes while it has children.
        parentLink.parent.map { $0.restriction } ?? storeView.restriction
    }

    /// Returns the store in which children keep a parent's new object before a store is assigned to it.
    final func storeForNew(_ runtime: EntityRuntime) -> AttachedStore? {
        let stores = stores(for: runtime, affected: nil)
        return stores.first { !$0.isReadOnly } ?? stores.first
    }

    // MARK: Keys

    /// Gives objects that an ancestor has saved meanwhile the permanent keys that they have there.
    ///
    /// They keep their temporary keys until the context next reads, so that nothing changes under its user's hands.
    @inline(__always)
    final func adoptPermanentKeys() {
        if parentLink.isChild { adoptNewPermanentKeys() }
    }

    private func adoptNewPermanentKeys() {
        guard let parent = parentLink.parent else { return }
        let count = permanentKeyCountOfAncestors
        guard count != storeView.adoptedKeyCount else { return }
        storeView.adoptedKeyCount = count
        var survivors: [ObjectIdentifier: NSManagedObject] = [:]
        var replaced: [NSManagedObject] = []
        for object in registry.temporaryObjects where object.isStored {
            guard let id = parent.permanentID(forTemporaryKey: object.primaryKey),
                let store = store(withIdentifier: id.storeIdentifier)
            else { continue }
            let temporaryKey = object.primaryKey
            // An object that read the row under its new key first exists already.
            if isAbsorbed(temporaryKey) || isKnown(id, in: store, besides: object) {
                if let survivor = adopt(object, absorbedBy: id, in: store) {
                    survivors[ObjectIdentifier(object)] = survivor
                    replaced.append(object)
                }
                continue
            }
            object.take(key: id.primaryKey)
            becomePermanent([object], 0..<1, in: store, temporaryKeys: [temporaryKey])
        }
        if !replaced.isEmpty { redirectReferences(to: survivors) }
    }

    private func isKnown(_ id: NSManagedObjectID, in store: AttachedStore, besides object: NSManagedObject) -> Bool {
        let known = registry.object(store: store.index, root: object.home.root, primaryKey: id.primaryKey)
        return known != nil && known !== object
    }

    /// Returns whether an ancestor's save replaced the object with this key by another one.
    private func isAbsorbed(_ temporaryKey: Int64) -> Bool {
        registry.isAbsorbed(temporaryKey) || parentLink.parent?.isAbsorbed(temporaryKey) ?? false
    }

    /// Whether rows in other contexts may contain keys of this context's objects.
    final var isKnownElsewhere: Bool { parentLink.isChild || !children.isEmpty }

    /// The ID that an object has now which had that key, here or in an ancestor.
    final func permanentID(forTemporaryKey key: Int64) -> NSManagedObjectID? {
        registry.permanentID(forTemporaryKey: key) ?? parentLink.parent?.permanentID(forTemporaryKey: key)
    }

    private var permanentKeyCountOfAncestors: Int {
        guard let parent = parentLink.parent else { return 0 }
        return parent.children.permanentKeyCount.load(ordering: .acquiring) + parent.permanentKeyCountOfAncestors
    }

    // MARK: Through the parent

    /// Runs the body on the parent's queue and waits. Meanwhile no other code uses this context.
    final func withParent<R>(_ body: (NSManagedObjectContext) throws -> R) rethrows -> R {
        guard let parent = parentLink.parent else { preconditionFailure("the context has no parent") }
        return try parent.runAndWait { try Confinement.with(self) { try body(parent) } }
    }
}
