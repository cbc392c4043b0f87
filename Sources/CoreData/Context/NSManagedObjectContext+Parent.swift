import CoreDataStore
import Foundation
import Synchronization

// A context on top of another one, which is its store: it reads what the parent has, unsaved changes included, and saves to it.
extension NSManagedObjectContext {
    /// What ``parent`` does when it is set.
    final func setParent(_ newParent: NSManagedObjectContext?) {
        guard newParent !== keptParent else { return }
        precondition(
            registry.objects.isEmpty, "A context that has objects cannot change its parent; reset it first.")
        precondition(
            newParent == nil || coordinator == nil || keptParent != nil,
            "A context has a parent or a persistentStoreCoordinator, not both.")
        if let newParent {
            precondition(
                concurrencyType != .confinementConcurrencyType
                    && newParent.concurrencyType != .confinementConcurrencyType,
                "Parent contexts are for contexts with queues: make both with .privateQueue or .mainQueue.")
            precondition(
                !sequence(first: newParent, next: { $0.keptParent }).contains { $0 === self },
                "A context cannot be its own ancestor.")
        }
        keptParent?.children.remove(self)
        keptParent = newParent
        newParent?.children.add(self)
        parentStores = [:]
        generationReader = nil
        takeCoordinator(newParent?.coordinator)
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
        if keptParent != nil { return parentStore(store) }
        return generationReader.map { generationStore(store, $0) } ?? store
    }

    private func parentStore(_ store: AttachedStore) -> AttachedStore {
        if let known = parentStores[store.index] { return known }
        guard let keptParent else { return store }
        let made = AttachedStore(of: store, through: ParentSource(parent: keptParent, store: store))
        parentStores[store.index] = made
        return made
    }

    /// Where a parent's new object is kept in its children, which no store has been found for yet.
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
        if isChild { adoptNewPermanentKeys() }
    }

    private func adoptNewPermanentKeys() {
        guard let keptParent else { return }
        let renamings = renamingsOfAncestors
        guard renamings != seenRenamings else { return }
        seenRenamings = renamings
        var survivors: [ObjectIdentifier: NSManagedObject] = [:]
        var replaced: [NSManagedObject] = []
        for object in registry.temporaryObjects where object.isStored {
            guard let id = keptParent.permanentID(forTemporaryKey: object.primaryKey),
                let store = store(withIdentifier: id.storeIdentifier)
            else { continue }
            let temporaryKey = object.primaryKey
            // Whoever read its row under the new key first has an object of it already.
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

    /// Whether another object took the place of the one that had that key, when an ancestor saved it.
    private func isAbsorbed(_ temporaryKey: Int64) -> Bool {
        registry.isAbsorbed(temporaryKey) || keptParent?.isAbsorbed(temporaryKey) ?? false
    }

    /// Whether rows that contexts have of one another may name this one's objects.
    final var isKnownElsewhere: Bool { keptParent != nil || !children.isEmpty }

    /// The ID that an object has now which had that key, here or in an ancestor.
    final func permanentID(forTemporaryKey key: Int64) -> NSManagedObjectID? {
        registry.permanentID(forTemporaryKey: key) ?? keptParent?.permanentID(forTemporaryKey: key)
    }

    private var renamingsOfAncestors: Int {
        keptParent.map { $0.renamings.load(ordering: .acquiring) + $0.renamingsOfAncestors } ?? 0
    }

    // MARK: Through the parent

    /// Runs the body on the parent's queue and waits; what it uses of this context, nobody else uses meanwhile.
    final func withParent<R>(_ body: (NSManagedObjectContext) throws -> R) rethrows -> R {
        guard let keptParent else { preconditionFailure("the context has no parent") }
        return try keptParent.runAndWait { try Confinement.with(self) { try body(keptParent) } }
    }
}

/// The contexts that have one as their parent, as long as they live.
final class ContextChildren: Sendable {
    private struct Child {
        weak var context: NSManagedObjectContext?
    }

    private struct State: @unchecked Sendable {
        // Safe because the contexts are only compared and asked for what guards itself.
        var children: [Child] = []
    }

    /// Guards the list, which children change from their own queues.
    private let state = Mutex(State())
    private let hasHad = Atomic(false)

    /// Whether there is one, or was.
    var mayExist: Bool { hasHad.load(ordering: .relaxed) }

    var isEmpty: Bool { state.withLock { state in state.children.allSatisfy { $0.context == nil } } }

    var contexts: [NSManagedObjectContext] { state.withLock { $0.children.compactMap(\.context) } }

    func add(_ context: NSManagedObjectContext) {
        hasHad.store(true, ordering: .relaxed)
        state.withLock { state in
            state.children.removeAll { $0.context == nil }
            state.children.append(Child(context: context))
        }
    }

    func remove(_ context: NSManagedObjectContext) {
        state.withLock { $0.children.removeAll { $0.context == nil || $0.context === context } }
    }
}
