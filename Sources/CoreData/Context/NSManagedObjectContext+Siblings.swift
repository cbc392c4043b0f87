import CoreDataPrimitives
import CoreDataStore

// Where a store is far away one fault is as dear as a hundred.
extension NSManagedObjectContext {
    /// Whether siblings are read with a fault of that store; see ``readsSiblingsOfFaults``.
    final func readsSiblings(in store: AttachedStore) -> Bool { readsSiblingsOfFaults && store.readsManyRowsAtOnce }

    /// Takes note that the objects came together.
    final func noteSiblings(_ objects: [NSManagedObject], in store: AttachedStore) {
        if readsSiblings(in: store) { siblings.add(objects) }
    }

    /// Takes note by which to-one an object was reached that nobody had registered.
    final func noteTrail(from owner: NSManagedObject, slot: Int, to key: Int64, root: Int, in store: AttachedStore) {
        guard readsSiblings(in: store) else { return }
        siblings.trail = .init(
            store: owner.storeIndex, root: owner.home.root, owner: owner.primaryKey, slot: slot, destinationRoot: root,
            destination: key)
    }

    /// The registered objects that came with one, itself among them.
    private func siblings(of key: Int64, root: Int, store: Int32) -> [NSManagedObject] {
        siblings.keys(beside: key, root: root, store: store).compactMap { key in
            registry.object(store: store, root: root, primaryKey: key)
        }
    }

    /// Reads the fault's row, and those of the objects that came with it or that siblings lead to by the same relationship: one statement.
    ///
    /// - Returns: whether there was anything to read beside it; else nothing was read.
    final func readRowWithSiblings(of object: NSManagedObject) throws -> Bool {
        guard !siblings.isEmpty, object.isStored, !object.hasRow, let store = object.home.store,
            readsSiblings(in: store), store.isAttached
        else { return false }
        let (root, index) = (object.home.root, object.storeIndex)
        if let row = store.source.cachedRow(object.primaryKey, root: root, staleness: staleness) {
            object.takeRow(row)
            return true
        }
        if let trail = siblings.trail, trail.destination == object.primaryKey, trail.destinationRoot == root,
            trail.store == index
        {
            siblings.trail = nil
            let owners = siblings(of: trail.owner, root: trail.root, store: trail.store)
            if let home = owners.first?.home, owners.count > 1 {
                let alike = owners.filter { $0.home === home && $0.hasRow && !$0.isDeleted }
                noteSiblings(try prefetchToOne(trail.slot, of: alike), in: store)
                if object.hasRow { return true }
            }
        }
        let others = siblings(of: object.primaryKey, root: root, store: index).filter {
            $0.isFault && !$0.hasCurrentRow
        }
        guard others.count > 1 else { return false }
        try readRows(of: others)
        return true
    }

    /// The objects that came with one and whose rows leave out the same to-one, itself the first.
    final func siblings(of object: NSManagedObject, leavingOut slot: Int) -> [NSManagedObject] {
        guard !siblings.isEmpty else { return [object] }
        let others = siblings(of: object.primaryKey, root: object.home.root, store: object.storeIndex).filter {
            $0 !== object && $0.home === object.home && $0.isUnasked(slot)
        }
        return [object] + others
    }

    /// The objects whose relationship is read with that of the object: those that came with it and of which it is not known, itself
    /// the first.
    final func siblings(
        of object: NSManagedObject, readingMembersOf slot: Int, in store: AttachedStore
    ) -> [NSManagedObject] {
        guard store.isRemote, readsSiblings(in: store), !siblings.isEmpty else { return [object] }
        let others = siblings(of: object.primaryKey, root: object.home.root, store: object.storeIndex).filter {
            $0 !== object && $0.home === object.home && $0.isStored && !$0.isDeleted && !$0.members(slot).isKnown
        }
        return [object] + others
    }
}
