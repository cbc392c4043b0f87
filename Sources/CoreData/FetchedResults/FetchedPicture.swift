import Foundation

/// The rows at one moment, to be compared with later ones row by row: O(n log n).
struct FetchedPicture {
    private let sections: [FetchedSection]
    private let rows: [(section: String, objects: [[NSManagedObject]])]

    init(_ rows: FetchedRows) {
        sections = rows.sections
        self.rows = rows.contents.map { ($0.name, $0.chunks) }
    }

    private struct Former {
        let object: NSManagedObject
        let place: FetchedPlace
        let position: Int
        let section: String
    }

    /// Returns the changes from the rows in the picture to the current rows.
    ///
    /// Sections that changed their order are removed and inserted: there is no other way to report it.
    static func changes(
        from old: FetchedPicture, to new: FetchedRows, isChanged: (NSManagedObject) -> Bool
    ) -> FetchedChanges {
        var changes = FetchedChanges()
        let formerSections = Dictionary(
            old.rows.enumerated().map { ($1.section, $0) }, uniquingKeysWith: { first, _ in first })
        let common = new.sections.filter { formerSections[$0.name] != nil }
        let kept = Set(
            LongestRun.positions(count: common.count) {
                formerSections[common[$0].name, default: 0] < formerSections[common[$1].name, default: 0]
            }.map { common[$0].name })
        for (index, section) in old.sections.enumerated() where !kept.contains(section.name) {
            changes.deletedSections.append((index, section))
        }
        for (index, section) in new.sections.enumerated() where !kept.contains(section.name) {
            changes.insertedSections.append((index, section))
        }
        compareRows(old.formerRows, new, kept, isChanged, &changes)
        changes.sort()
        return changes
    }

    private var formerRows: [ObjectIdentifier: Former] {
        var former: [ObjectIdentifier: Former] = [:]
        var position = 0
        for (index, section) in rows.enumerated() {
            var item = 0
            for object in section.objects.joined() {
                former[ObjectIdentifier(object)] = Former(
                    object: object, place: FetchedPlace(section: index, item: item), position: position,
                    section: section.section)
                item += 1
                position += 1
            }
        }
        return former
    }

    private static func compareRows(
        _ formerRows: [ObjectIdentifier: Former], _ new: FetchedRows, _ keptSections: Set<String>,
        _ isChanged: (NSManagedObject) -> Bool, _ changes: inout FetchedChanges
    ) {
        var former = formerRows
        var candidates: [(row: FetchedChanges.Row, position: Int)] = []
        for (index, section) in new.sections.enumerated() {
            for (item, object) in section.list.enumerated() {
                let place = FetchedPlace(section: index, item: item)
                guard let old = former.removeValue(forKey: ObjectIdentifier(object)) else {
                    changes.inserted.append((object, place))
                    continue
                }
                let row = FetchedChanges.Row(object: object, old: old.place, new: place)
                if old.section == section.name, keptSections.contains(section.name) {
                    candidates.append((row, old.position))
                } else {
                    changes.moved.append(row)
                }
            }
        }
        changes.deleted = former.values.map { ($0.object, $0.place) }
        let staying = Set(
            LongestRun.positions(count: candidates.count) { candidates[$0].position < candidates[$1].position })
        for (index, candidate) in candidates.enumerated() {
            if !staying.contains(index) {
                changes.moved.append(candidate.row)
            } else if isChanged(candidate.row.object) {
                changes.updated.append(candidate.row)
            }
        }
    }
}
