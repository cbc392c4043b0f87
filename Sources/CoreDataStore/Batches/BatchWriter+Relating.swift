import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// A batch request would empty a mandatory to-one.
package struct MandatoryInverse: EngineFailure {
    /// The row that would have no object.
    package var key: RowKey
    package var slot: Int
}

/// The properties of a hierarchy's to-ones that affect the rows on the other side.
struct RelatedSides {
    /// Whether there are positions in ordered to-manys.
    var havePlaces = false
    /// Whether there are partners of one-to-ones.
    var havePartners = false
}

// Maintains the other side of to-ones that a batch request sets: positions in ordered to-manys, and the partners of
// one-to-ones.
//
//  row ──owner──▶ shelf      the position among the shelf's items is a column of the row: after the last one
//  row ──pupil──▶ partner    refers back by a column of its own, and releases its former partner
extension BatchWriter {
    /// Writes rows of one hierarchy whose to-ones a request has set, and the resulting changes on the other sides.
    func writeBothSides(_ changes: ChangeSet) throws {
        guard let row = changes.insertions.first?.row ?? changes.updates.first?.new else { return }
        let sides = relatedSides(ofRoot: engine.model.entities[row.entity].root)
        if sides.havePlaces { try takePlaces(changes) }
        try write(changes)
        guard sides.havePartners else { return }
        try updatePartners(changes.insertions.map { (nil, $0.row) } + changes.updates.map { ($0.old, $0.new) })
    }

    private func relatedSides(ofRoot root: Int) -> RelatedSides {
        if let known = relatedSides[root] { return known }
        var found = RelatedSides()
        for entity in engine.model.entities[root].subtree {
            if engine.model.entities[entity].rowLayout.orderColumnOfSlot.contains(where: { $0 >= 0 }) {
                found.havePlaces = true
            }
            if !oneToOnes(of: entity).isEmpty { found.havePartners = true }
        }
        relatedSides[root] = found
        return found
    }

    /// Returns the to-ones of an entity that are one side of a one-to-one.
    func oneToOnes(of entity: Int) -> [(slot: Int, relationship: CompiledRelationship, inverse: Int)] {
        engine.model.entities[entity].properties.compactMap { property in
            guard !property.isTransient, let relationship = property.relationship, !relationship.isToMany,
                let slot = relationship.inverseSlot, inverse(of: relationship)?.isToMany == false,
                engine.layout.entities[relationship.destination] != nil
            else { return nil }
            return (property.slot, relationship, slot)
        }
    }

    // MARK: Destinations

    /// - Throws: a refusal for a to-one that refers to a missing row.
    func checkDestinations(_ insertions: [ChangeSet.Insertion], of entity: Int) throws {
        let compiled = engine.model.entities[entity]
        for property in compiled.properties where property.relationship?.isToMany == false && !property.isTransient {
            let column = compiled.rowLayout.columnOfSlot[property.slot]
            guard column >= 0, let relationship = property.relationship else { continue }
            let known = destinations(root: engine.model.entities[relationship.destination].root)
            var unknown: Set<Int64> = []
            for insertion in insertions {
                insertion.row.withView { row in
                    guard !row.isNull(column) else { return }
                    let key = row.integer(column)
                    if known.word(key) == 0 { unknown.insert(key) }
                }
            }
            if !unknown.isEmpty { try checkDestinations(unknown, of: property, entity) }
        }
    }

    func checkDestinations(_ keys: Set<Int64>, of property: CompiledProperty, _ entity: Int) throws {
        guard let relationship = property.relationship else { return }
        let root = engine.model.entities[relationship.destination].root
        let known = destinations(root: root)
        let unknown = keys.filter { known.word($0) == 0 }
        guard !unknown.isEmpty else { return }
        let found = try existing(unknown, root: root)
        if let missing = unknown.subtracting(found).min() {
            let names = (engine.model.entities[entity].name, engine.model.entities[relationship.destination].name)
            throw BatchRefusal(
                "A batch request cannot set '\(property.name)' of entity '\(names.0)' to the '\(names.1)' with the key \(missing), "
                    + "which is not in the store.")
        }
        know(found, root: root)
    }

    /// Returns the keys of existing rows among `keys`.
    ///
    ///     // SELECT t0.Z_PK FROM ZUNIT t0 WHERE t0.Z_PK IN (?, …)
    private func existing(_ keys: Set<Int64>, root: Int) throws -> Set<Int64> {
        let key = SQLExpression.column("t0", "Z_PK")
        var select = SelectStatement([.init(key)], from: .init(try engine.saveTables.table(of: root).name, as: "t0"))
        var found: Set<Int64> = []
        try forEachRow(of: Array(keys)) { sizeClass in
            select.condition = sizeClass.condition(on: key)
            return select
        } _: { statement in
            found.insert(statement.integer(0))
        }
        return found
    }

    // MARK: Positions in ordered to-manys

    /// Gives new members of ordered to-manys positions after the existing members; existing ones keep theirs.
    private func takePlaces(_ changes: ChangeSet) throws {
        for (entity, rows) in Dictionary(grouping: changes.insertions.map(\.row), by: \.entity) {
            try takePlaces(rows.map { (nil, $0) }, entity)
        }
        for (entity, updates) in Dictionary(grouping: changes.updates, by: \.new.entity) {
            try takePlaces(updates.map { ($0.old, $0.new) }, entity)
        }
    }

    private func takePlaces(_ rows: [(old: RowSnapshot?, new: RowSnapshot)], _ entity: Int) throws {
        let layout = engine.model.entities[entity].rowLayout
        for (slot, place) in layout.orderColumnOfSlot.enumerated() where place >= 0 {
            let column = layout.columnOfSlot[slot]
            guard column >= 0 else { continue }
            var coming: [RowSnapshot] = []
            for (old, row) in rows where !row.isNull(column) && !row.isNull(place) {
                if let old, !old.isNull(column), old.integer(column) == row.integer(column), !old.isNull(place) {
                    row.assign(integer: old.integer(place), at: place)
                } else {
                    coming.append(row)
                }
            }
            var last = try lastPlaces(entity, slot, Set(coming.map { $0.integer(column) }))
            for row in coming {
                let (next, overflows) = last[row.integer(column), default: MemberPlace.beforeFirst]
                    .addingReportingOverflow(MemberPlace.distance)
                row.assign(integer: overflows ? .max : next, at: place)
                last[row.integer(column)] = overflows ? .max : next
            }
        }
    }

    /// Returns the last position among the members of each owner that has some.
    ///
    ///     // SELECT t0.ZSHELF, MAX(t0.Z_FOK_SHELF) FROM ZITEM t0 WHERE t0.ZSHELF IN (?, …) GROUP BY t0.ZSHELF
    private func lastPlaces(_ entity: Int, _ slot: Int, _ owners: Set<Int64>) throws -> [Int64: Int64] {
        let layout = engine.model.entities[entity].rowLayout
        guard !owners.isEmpty, let names = engine.layout.entities[entity]?.columnNames,
            let key = names[layout.columnOfSlot[slot]], let place = names[layout.orderColumnOfSlot[slot]]
        else { return [:] }
        let table = try engine.saveTables.table(of: entity)
        let owner = SQLExpression.column("t0", key)
        var select = SelectStatement(
            [.init(owner), .init(.aggregate(.maximum, .column("t0", place), distinct: false))],
            from: .init(table.name, as: "t0"))
        select.groups = [owner]
        var last: [Int64: Int64] = [:]
        try forEachRow(of: Array(owners)) { sizeClass in
            select.condition = sizeClass.condition(on: owner)
            return select
        } _: { statement in
            if !statement.isNull(1) { last[statement.integer(0)] = statement.integer(1) }
        }
        return last
    }

    /// Returns the expression that puts new members of an owner after its members; existing members keep their
    /// positions.
    ///
    ///     // CASE WHEN t0.ZSHELF = ? THEN t0.Z_FOK_SHELF ELSE ? + t0.Z_PK END
    func place(_ slot: Int, _ entity: Int, among owner: RowKey, _ alias: String) throws -> SQLExpression {
        let layout = engine.model.entities[entity].rowLayout
        guard let names = engine.layout.entities[entity]?.columnNames, let key = names[layout.columnOfSlot[slot]],
            let place = names[layout.orderColumnOfSlot[slot]]
        else { return .null }
        let last = try lastPlaces(entity, slot, [owner.primaryKey])[owner.primaryKey] ?? MemberPlace.beforeFirst
        return .caseWhen(
            [
                .init(
                    .comparison(.equal, .column(alias, key), .bind(.integer(owner.primaryKey))), .column(alias, place))
            ], otherwise: .arithmetic(.add, .bind(.integer(last)), .column(alias, "Z_PK")))
    }

    // MARK: Partners

    /// A to-one of one row.
    private struct End: Hashable {
        var root: Int
        var slot: Int
        var key: Int64
    }

    /// Makes the partners of written rows refer back to them, and clears the references of their former partners.
    ///
    /// - Throws: ``MandatoryInverse`` if a row would lose its required partner.
    func updatePartners(_ changes: [(old: RowSnapshot?, new: RowSnapshot)]) throws {
        for (entity, changes) in Dictionary(grouping: changes, by: \.new.entity) {
            for (slot, relationship, inverse) in oneToOnes(of: entity) {
                try updatePartners(changes, slot, relationship, inverse, of: engine.model.entities[entity])
            }
        }
    }

    private func updatePartners(
        _ changes: [(old: RowSnapshot?, new: RowSnapshot)], _ slot: Int, _ relationship: CompiledRelationship,
        _ inverse: Int, of entity: CompiledEntity
    ) throws {
        let column = entity.rowLayout.columnOfSlot[slot]
        guard column >= 0 else { return }
        func partner(_ row: RowSnapshot?) -> Int64? { row.flatMap { $0.isNull(column) ? nil : $0.integer(column) } }
        let moves = changes.compactMap { old, new in
            partner(old) == partner(new) ? nil : (row: new.key, from: partner(old), to: partner(new))
        }
        guard !moves.isEmpty else { return }
        let destinationRoot = engine.model.entities[relationship.destination].root
        /// The current row at each side, as far as it was read.
        var rows: [End: RowSnapshot] = [:]
        var leads: [End: Int64?] = [:]
        func look(_ keys: Set<Int64>, _ slot: Int, root: Int) throws {
            for row in try self.rows(Array(keys), root: root) {
                let column = engine.model.entities[row.entity].rowLayout.columnOfSlot[slot]
                let end = End(root: root, slot: slot, key: row.primaryKey)
                rows[end] = row
                leads[end] = row.isNull(column) ? .some(nil) : row.integer(column)
            }
        }
        try look(Set(moves.compactMap(\.from) + moves.compactMap(\.to)), inverse, root: destinationRoot)
        try look(Set(leads.values.compactMap { $0 } + moves.map(\.row.primaryKey)), slot, root: entity.root)
        let before = leads
        for move in moves {
            if let from = move.from {
                let end = End(root: destinationRoot, slot: inverse, key: from)
                if leads[end] == move.row.primaryKey { leads[end] = .some(nil) }
            }
            guard let to = move.to else { continue }
            let end = End(root: destinationRoot, slot: inverse, key: to)
            guard let former = leads[end] else { continue }
            if let former, former != move.row.primaryKey {
                let other = End(root: entity.root, slot: slot, key: former)
                if leads[other] == to { leads[other] = .some(nil) }
            }
            leads[end] = move.row.primaryKey
        }
        let movers = Dictionary(moves.map { ($0.row.primaryKey, $0.row) }, uniquingKeysWith: { first, _ in first })
        // A row may be on both sides of a relationship of its own entity.
        var settings: [RowKey: (row: RowSnapshot, assignments: [BatchAssignment])] = [:]
        for (end, partner) in leads where before[end] != partner {
            guard let row = rows[end] else { continue }
            let property = engine.model.entities[row.entity].properties[end.slot]
            if partner == nil, !property.isOptional { throw MandatoryInverse(key: row.key, slot: end.slot) }
            settings[row.key, default: (row, [])].assignments.append(
                BatchAssignment(slot: end.slot, .destination(partner.flatMap { movers[$0] })))
        }
        var changes = ChangeSet()
        changes.updates = settings.values.map { .init(old: $0.row, new: row($0.row, setting: $0.assignments)) }
        try write(changes)
    }
}
