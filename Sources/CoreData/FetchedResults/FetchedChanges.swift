import Foundation

/// The position of a row: its section, and its index there.
struct FetchedPlace: Comparable {
    var section: Int
    var item: Int

    static func < (a: FetchedPlace, b: FetchedPlace) -> Bool {
        a.section == b.section ? a.item < b.item : a.section < b.section
    }

    var indexPath: IndexPath { IndexPath(item: item, section: section) }
}

/// The changes that transform the old rows into the new ones.
///
/// Deletions, and the origins of moves, are positions in the old rows. Insertions, and the targets of moves, are
/// positions in the new rows. To apply them, remove everything that leaves from the old rows, from the end, and insert
/// everything that arrives, from the beginning. Other rows keep their order.
struct FetchedChanges {
    struct Row {
        let object: NSManagedObject
        let old: FetchedPlace
        let new: FetchedPlace
    }

    var deletedSections: [(index: Int, section: FetchedSection)] = []
    var insertedSections: [(index: Int, section: FetchedSection)] = []
    var deleted: [(object: NSManagedObject, place: FetchedPlace)] = []
    var inserted: [(object: NSManagedObject, place: FetchedPlace)] = []
    var moved: [Row] = []
    var updated: [Row] = []

    var isEmpty: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && deleted.isEmpty && inserted.isEmpty && moved.isEmpty
            && updated.isEmpty
    }

    /// Sorts each list in the order of the notifications: removals from the end, insertions from the beginning.
    mutating func sort() {
        deletedSections.sort { $0.index > $1.index }
        insertedSections.sort { $0.index < $1.index }
        deleted.sort { $0.place > $1.place }
        inserted.sort { $0.place < $1.place }
        moved.sort { $0.new < $1.new }
        updated.sort { $0.old < $1.old }
    }

    /// The changes of the only section, as a difference of IDs.
    ///
    /// A row that changed and kept its position is removed and inserted there.
    var difference: CollectionDifference<NSManagedObjectID>? {
        var changes: [CollectionDifference<NSManagedObjectID>.Change] = []
        for (object, place) in deleted {
            changes.append(.remove(offset: place.item, element: object.objectID, associatedWith: nil))
        }
        for (object, place) in inserted {
            changes.append(.insert(offset: place.item, element: object.objectID, associatedWith: nil))
        }
        for row in moved + updated {
            let id = row.object.objectID
            changes.append(.remove(offset: row.old.item, element: id, associatedWith: row.new.item))
            changes.append(.insert(offset: row.new.item, element: id, associatedWith: row.old.item))
        }
        return CollectionDifference(changes)
    }
}

/// Finds the elements of a sequence that can keep their positions.
enum LongestRun {
    /// The positions of the longest part of a sequence of `count` elements that is in order; O(n log n).
    ///
    /// `isInOrder(a, b)` says whether the element at `b` may follow that at `a`.
    static func positions(count: Int, _ isInOrder: (Int, Int) -> Bool) -> [Int] {
        // For each length, the end of the run that ends earliest in the order.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: count)
        for position in 0..<count {
            let length = ends.firstIndexOfTail { !isInOrder($0, position) }
            previous[position] = length > 0 ? ends[length - 1] : -1
            if length == ends.count { ends.append(position) } else { ends[length] = position }
        }
        var run: [Int] = []
        var next = ends.last ?? -1
        while next >= 0 {
            run.append(next)
            next = previous[next]
        }
        return run.reversed()
    }
}
