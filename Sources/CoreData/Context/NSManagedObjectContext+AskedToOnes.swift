import CoreDataPrimitives
import CoreDataStore

// To-one relationships that an object's node left out: the store is asked for them when they are read.
extension NSManagedObjectContext {
    /// Asks the store for the destination of a to-one. The object gets a row that contains it.
    ///
    /// - Returns: whether the object's row now contains the destination.
    final func askDestination(of object: NSManagedObject, slot: Int) -> Bool {
        guard let row = object.row, let store = object.home.store, store.isAttached else { return false }
        do {
            if readsSiblings(in: store) { try askDestinations(of: siblings(of: object, leavingOut: slot), slot: slot) }
            let asked = try store.source.row(object.row ?? row, withDestinationOf: slot)
            // The store may have read the object meanwhile.
            if object.isUnasked(slot) {
                // A fault whose row is superseded reads another row in any case.
                if object.isFault, !object.hasCurrentRow { asked.supersede() }
                object.row = asked
            }
        } catch {
            noteReadFailure(error, "The destination of '\(object.runtime.slots[slot].name)' of \(object.objectID)")
            return false
        }
        guard !object.isUnasked(slot) else { return false }
        if object.home.hasOneToOne { giveUpPartnersLedElsewhere(of: object) }
        return true
    }

    /// Asks the store for the destinations of a to-one of objects of one entity, if the store can answer for many
    /// objects at once.
    final func askDestinations(of objects: [NSManagedObject], slot: Int) throws {
        let unasked = objects.filter { $0.isUnasked(slot) && $0.hasCurrentRow }
        guard unasked.count > 1, let store = unasked[0].home.store, store.isAttached else { return }
        let rows = unasked.compactMap(\.row)
        guard rows.count == unasked.count else { return }
        for (object, row) in zip(unasked, try store.source.rows(rows, withDestinationsOf: slot)) {
            // The store may have read the object meanwhile.
            if object.isUnasked(slot) { object.row = row }
            if object.home.hasOneToOne { giveUpPartnersLedElsewhere(of: object) }
        }
    }

    /// Returns the row with those destinations of to-ones that the object's own row contains, for a comparison.
    final func row(_ row: RowSnapshot, withToOnesReadBy object: NSManagedObject) -> RowSnapshot {
        guard let store = object.home.store, store.readsRowsLater, let before = object.row else { return row }
        var row = row
        for slot in object.runtime.relationSlots {
            let column = Int(object.home.facts[slot].column)
            guard column >= 0, row.isUnreadable(column),
                !before.isUnreadable(column) || object.relations.isRead(object.runtime.slots[slot].relation)
            else { continue }
            do { row = try store.source.row(row, withDestinationOf: slot) } catch {
                noteReadFailure(error, "The destination of '\(object.runtime.slots[slot].name)' of \(object.objectID)")
            }
        }
        return row
    }
}
