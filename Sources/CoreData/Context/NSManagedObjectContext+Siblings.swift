import CoreDataPrimitives
import CoreDataStore

// If a store is remote, reading one fault costs as much as reading a hundred.
extension NSManagedObjectContext {
    /// Whether a fault of a store on a server is read together with its siblings: the objects that came with it by the
    /// same fetch or relationship, up to a hundred, in one statement.
    ///
    ///     for item in try context.fetch(request) { print(item.unit?.name ?? "") }
    ///     // SELECT … FROM "Item"; SELECT … FROM "Unit" WHERE "_id" = ANY (…)      once for every hundred items
    ///
    /// A round trip to a server takes as long as a hundred rows. A sibling then has the row of that moment, as after a
    /// fetch. The setting makes no difference for stores in files and in memory. The faults of a
    /// ``BatchReadingIncrementalStore`` are read in this way, too.
    ///
    /// Not in Apple's API.
    public final var readsSiblingsOfFaults: Bool {
        get { rowReading.readsSiblings }
        set { rowReading.readsSiblings = newValue }
    }

    /// Whether siblings are read with a fault of that store; see ``readsSiblingsOfFaults``.
    final func readsSiblings(in store: AttachedStore) -> Bool { rowReading.readsSiblings && store.readsManyRowsAtOnce }

    /// Takes note that the objects came together.
    final func noteSiblings(_ objects: [NSManagedObject], in store: AttachedStore) {
        if readsSiblings(in: store) { rowReading.siblings.add(objects) }
    }

    /// Records the to-one through which a new object was reached.
    final func noteTrail(from owner: NSManagedObject, slot: Int, to key: Int64, root: Int, in store: AttachedStore) {
        guard readsSiblings(in: store) else { return }
        rowReading.siblings.trail = .init(
            store: owner.storeIndex, root: owner.home.root, owner: owner.primaryKey, slot: slot, destinationRoot: root,
            destination: key)
    }

    /// The registered objects that came with one, itself among them.
    private func siblings(of key: Int64, root: Int, store: Int32) -> [NSManagedObject] {
        rowReading.siblings.keys(beside: key, root: root, store: store).compactMap { key in
            registry.object(store: store, root: root, primaryKey: key)
        }
    }

    /// Reads the row of the fault, and with the same statement the rows of the objects that were fetched with it or
    /// that siblings refer to by the same relationship.
    ///
    /// - Returns: whether there were other rows to read; if not, nothing was read.
    final func readRowWithSiblings(of object: NSManagedObject) throws -> Bool {
        guard !rowReading.siblings.isEmpty, object.isStored, !object.hasRow, let store = object.home.store,
            readsSiblings(in: store) || rowReading.readsMembersByKey, store.isAttached
        else { return false }
        let (root, index) = (object.home.root, object.storeIndex)
        if let row = store.source.cachedRow(object.primaryKey, root: root, staleness: rowReading.staleness) {
            object.takeRow(row)
            return true
        }
        if let trail = rowReading.siblings.trail, trail.destination == object.primaryKey, trail.destinationRoot == root,
            trail.store == index
        {
            rowReading.siblings.trail = nil
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
        if rowReading.siblings.foundMembersOf >= 0 {
            rowReading.memberReads.noteUse(rowReading.siblings.foundMembersOf)
        }
        guard others.count > 1 else { return false }
        try readRows(of: others)
        return true
    }

    /// Returns the objects that were fetched with this one and whose rows omit the same to-one; the object itself is
    /// first.
    final func siblings(of object: NSManagedObject, leavingOut slot: Int) -> [NSManagedObject] {
        guard !rowReading.siblings.isEmpty else { return [object] }
        let others = siblings(of: object.primaryKey, root: object.home.root, store: object.storeIndex).filter {
            $0 !== object && $0.home === object.home && $0.isUnasked(slot)
        }
        return [object] + others
    }

    /// Returns the objects whose relationship is read together with the object's: those that were fetched with it and
    /// do not know the relationship; the object itself is first.
    final func siblings(
        of object: NSManagedObject, readingMembersOf slot: Int, in store: AttachedStore
    ) -> [NSManagedObject] {
        guard store.isRemote, readsSiblings(in: store), !rowReading.siblings.isEmpty else { return [object] }
        let others = siblings(of: object.primaryKey, root: object.home.root, store: object.storeIndex).filter {
            $0 !== object && $0.home === object.home && $0.isStored && !$0.isDeleted && !$0.members(slot).isKnown
        }
        return [object] + others
    }
}
