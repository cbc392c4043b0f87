import Foundation

// Computes from the objects of an event which rows leave, arrive, move and stay. The cost grows with the number of
// these objects, and with the logarithm of the number of rows.
extension FetchedRows {
    /// An object that may have to come, go or move.
    struct Examined {
        let object: NSManagedObject
        /// Whether it is to be among the rows now.
        let isMember: Bool
        /// Whether the object itself changed, not only an object on which the order or the condition depends.
        let isChanged: Bool
    }

    /// A row that was touched and is a row still.
    private struct Candidate {
        let examined: Examined
        let section: FetchedSection
        let place: FetchedPlace
        let keys: FetchedOrder.Keys
    }

    /// Updates the rows, and returns the changes.
    func change(_ examined: [Examined]) -> FetchedChanges {
        // If a section's name does not determine its position, sections may have to move: then rows are compared.
        let old = order.isSortedBySectionName ? nil : FetchedPicture(self)
        var changes = FetchedChanges()
        var candidates: [Candidate] = []
        var arriving: [(NSManagedObject, FetchedOrder.Keys)] = []
        var affected: Set<ObjectIdentifier> = []
        for examined in examined {
            let object = examined.object
            if let place = place(of: object), let section = section(of: object) {
                affected.insert(ObjectIdentifier(object))
                if examined.isMember {
                    candidates.append(
                        Candidate(examined: examined, section: section, place: place, keys: order.keys(of: object)))
                } else {
                    changes.deleted.append((object, place))
                }
            } else if examined.isMember {
                arriving.append((object, order.keys(of: object)))
            }
        }
        candidates.sort { $0.place < $1.place }
        let stays = staying(candidates, affected)
        var moving: [Candidate] = []
        var updated: [Candidate] = []
        for (candidate, stays) in zip(candidates, stays) {
            if !stays { moving.append(candidate) } else if candidate.examined.isChanged { updated.append(candidate) }
        }
        for (object, _) in changes.deleted { remove(object) }
        for candidate in moving { remove(candidate.examined.object) }
        let entering = arriving + moving.map { ($0.examined.object, $0.keys) }
        for (object, keys) in entering.sorted(by: { order.compare($0.1, $1.1) < 0 }) { insert(object, keys) }
        let isReordered = finishSections(&changes)
        if let old, sortSections() || isReordered {
            let changed = Set(examined.lazy.filter(\.isChanged).map { ObjectIdentifier($0.object) })
            return FetchedPicture.changes(from: old, to: self) { changed.contains(ObjectIdentifier($0)) }
        }
        for (object, _) in arriving { if let new = place(of: object) { changes.inserted.append((object, new)) } }
        changes.moved = rows(moving)
        changes.updated = rows(updated)
        changes.sort()
        return changes
    }

    private func rows(_ candidates: [Candidate]) -> [FetchedChanges.Row] {
        candidates.compactMap { candidate in
            place(of: candidate.examined.object).map {
                FetchedChanges.Row(object: candidate.examined.object, old: candidate.place, new: $0)
            }
        }
    }

    /// Which of the candidates, which come in order of their places, keep theirs: as many as can.
    private func staying(_ candidates: [Candidate], _ affected: Set<ObjectIdentifier>) -> [Bool] {
        var stays = [Bool](repeating: false, count: candidates.count)
        var start = 0
        while start < candidates.count {
            let section = candidates[start].section
            let item = candidates[start].place.item
            // The nearest rows that nothing happened to, on either side.
            var (low, high) = (item - 1, item + 1)
            while low >= 0, affected.contains(ObjectIdentifier(section.object(at: low))) { low -= 1 }
            while high < section.count, affected.contains(ObjectIdentifier(section.object(at: high))) { high += 1 }
            var end = start
            while end < candidates.count, candidates[end].section === section, candidates[end].place.item < high {
                end += 1
            }
            let (before, after) = (
                low >= 0 ? section.object(at: low) : nil, high < section.count ? section.object(at: high) : nil
            )
            let fitting = (start..<end).filter { fits(candidates[$0], between: before, and: after) }
            let run = LongestRun.positions(count: fitting.count) {
                order.compare(candidates[fitting[$0]].keys, candidates[fitting[$1]].keys) <= 0
            }
            for position in run { stays[fitting[position]] = true }
            start = end
        }
        return stays
    }

    private func fits(_ candidate: Candidate, between low: NSManagedObject?, and high: NSManagedObject?) -> Bool {
        guard order.sectionName(of: candidate.examined.object) == candidate.section.name else { return false }
        if let low, order.compare(candidate.keys, low) < 0 { return false }
        if let high, order.compare(candidate.keys, high) > 0 { return false }
        return true
    }
}
