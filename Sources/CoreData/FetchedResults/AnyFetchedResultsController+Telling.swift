import Foundation

// How the delegate hears of changes: as a snapshot, as a difference, or call by call.
extension AnyFetchedResultsController {
    final func tell(_ changes: FetchedChanges) {
        if tellSnapshot(reloading: changes.updated.map(\.object)) { return }
        if sectionNameKeyPath == nil, tellDifference(changes.difference) { return }
        tellEach(changes)
    }

    /// Gives a delegate that shows snapshots the first one, after a fetch.
    final func tellFirst() {
        guard !isTelling else { return }
        isTelling = true
        _ = tellSnapshot(reloading: [])
        isTelling = false
    }

    /// Reports objects that were reported with temporary IDs and have permanent ones now: a delegate that shows IDs
    /// needs them.
    final func tellNewIDs(_ objects: [(object: NSManagedObject, told: NSManagedObjectID)]) {
        guard let rows, !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        if tellSnapshot(reloading: []) { return }
        guard sectionNameKeyPath == nil, !missing.contains(.difference) else { return }
        var changes: [CollectionDifference<NSManagedObjectID>.Change] = []
        for (object, told) in objects {
            guard let place = rows.place(of: object), told != object.objectID else { continue }
            changes.append(.remove(offset: place.item, element: told, associatedWith: nil))
            changes.append(.insert(offset: place.item, element: object.objectID, associatedWith: nil))
        }
        _ = tellDifference(CollectionDifference(changes))
    }

    /// Returns whether the delegate takes snapshots. If it does not, none is made.
    private func tellSnapshot(reloading objects: [NSManagedObject]) -> Bool {
        guard let delegate, let rows, !missing.contains(.snapshot) else { return false }
        let contents = rows.contents
        let snapshot = NSDiffableDataSourceSnapshotReference {
            SnapshotContent(
                contents.map { name, chunks in
                    (AnyHashable(name), chunks.flatMap { $0.map { AnyHashable($0.objectID) } })
                }, reloaded: objects.map { AnyHashable($0.objectID) })
        }
        delegate.controller(untyped, didChangeContentWith: snapshot)
        if missing.contains(.snapshot) { return false }
        snapshot.resolve()
        return true
    }

    private func tellDifference(_ difference: CollectionDifference<NSManagedObjectID>?) -> Bool {
        guard let delegate, let difference, !missing.contains(.difference) else { return false }
        delegate.controller(untyped, didChangeContentWith: difference)
        return !missing.contains(.difference)
    }

    private func tellEach(_ changes: FetchedChanges) {
        guard let delegate else { return }
        let controller = untyped
        delegate.controllerWillChangeContent(controller)
        for (index, section) in changes.deletedSections {
            delegate.controller(controller, didChange: section, atSectionIndex: index, for: .delete)
        }
        for (index, section) in changes.insertedSections {
            delegate.controller(controller, didChange: section, atSectionIndex: index, for: .insert)
        }
        for (object, place) in changes.deleted {
            delegate.controller(controller, didChange: object, at: place.indexPath, for: .delete, newIndexPath: nil)
        }
        for row in changes.updated {
            delegate.controller(
                controller, didChange: row.object, at: row.old.indexPath, for: .update, newIndexPath: nil)
        }
        for row in changes.moved {
            delegate.controller(
                controller, didChange: row.object, at: row.old.indexPath, for: .move, newIndexPath: row.new.indexPath)
        }
        for (object, place) in changes.inserted {
            delegate.controller(controller, didChange: object, at: nil, for: .insert, newIndexPath: place.indexPath)
        }
        delegate.controllerDidChangeContent(controller)
    }
}
