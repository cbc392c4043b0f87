import CoreData
import Foundation

/// The entities of a store with the numbers of their objects; subentities follow their parents.
package struct EntityList {
    package struct Row: Sendable {
        package var name: String
        package var parent: String?
        /// The number of ancestors.
        package var depth: Int
        /// The number of objects including subentities, as a query counts them.
        package var count: Int
    }

    package private(set) var rows: [Row] = []

    /// Makes the list from a report, which needs no model.
    package init(_ report: PersistentStoreReport) {
        let children = Dictionary(grouping: report.entities) { $0.parent ?? "" }
        var visited: Set<String> = []
        /// Adds the entity and its subentities; returns the number of their objects.
        func add(_ entity: PersistentStoreReport.Entity, depth: Int) -> Int {
            guard visited.insert(entity.name).inserted else { return 0 }
            let place = rows.count
            rows.append(Row(name: entity.name, parent: entity.parent, depth: depth, count: 0))
            let below = (children[entity.name] ?? []).sorted { $0.name < $1.name }.map { add($0, depth: depth + 1) }
            rows[place].count = entity.rowCount + below.reduce(0, +)
            return rows[place].count
        }
        for entity in (children[""] ?? []).sorted(by: { $0.name < $1.name }) { _ = add(entity, depth: 0) }
    }
}
