import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// A delete rule that denies a deletion.
package struct DeletionDenied: EngineFailure {
    package var key: RowKey
    package var relationship: String
}

extension BatchWriter {
    /// Deletes the rows that the plan selects, applying the model's delete rules.
    ///
    ///     // DELETE FROM ZITEM AS t0 WHERE t0.ZLISTED = ?           if no rule requires more
    ///
    /// - Returns: the number of deleted rows, including cascaded ones; their keys if requested.
    package func delete(_ plan: FetchPlan, wantsKeys: Bool) throws -> (count: Int, keys: [RowKey]) {
        try answering { try delete(plan, wantsKeys: wantsKeys, $0) }
    }

    private func delete(
        _ plan: FetchPlan, wantsKeys: Bool, _ planner: FetchPlanner
    ) throws -> (count: Int, keys: [RowKey]) {
        let split = try planner.split(plan)
        guard split.isWhole else { return try delete(selected(plan, split, planner), wantsKeys: wantsKeys) }
        if plan.limit == 0, plan.offset == 0, !wantsKeys, !needsRules(plan.entity) {
            let start = try planner.start(plan)
            let select = start.scope.select([.integer(1)])
            let key = SQLExpression.column(start.scope.alias, "Z_PK")
            let table = try engine.saveTables.table(of: plan.entity)
            try record(.deletion, planner.keys(plan), of: plan.entity)
            let statement = DeleteStatement(
                from: table.name, as: start.scope.alias,
                where: select.joins.isEmpty ? select.condition : .inSelect(key, start.scope.select([key])))
            return (try connection.run(statement), [])
        }
        return try delete(selected(plan, planner), wantsKeys: wantsKeys)
    }

    /// Returns whether deleting a row of the entity, or of a subentity, affects other rows.
    private func needsRules(_ entity: Int) -> Bool {
        engine.model.entities[entity].subtree.contains { ordinal in
            let entity = engine.model.entities[ordinal]
            guard let table = try? engine.saveTables.table(of: ordinal) else { return false }
            return !table.externalColumns.isEmpty
                || entity.properties.contains { property in
                    guard let relationship = property.relationship else { return false }
                    // A to-one without a rule that acts on it, whose destination has many such rows.
                    let isPlain =
                        !relationship.isToMany && [.noAction, .nullify].contains(relationship.deleteRule)
                        && inverse(of: relationship)?.isToMany ?? true
                    return !isPlain
                }
        }
    }

    func inverse(of relationship: CompiledRelationship) -> CompiledRelationship? {
        relationship.inverseSlot.flatMap { engine.model.entities[relationship.destination].properties[$0].relationship }
    }

    /// Returns whether a deletion may remove the last required object of a destination.
    private func empties(_ relationship: CompiledRelationship) -> Bool {
        guard relationship.deleteRule == .nullify, let slot = relationship.inverseSlot else { return false }
        let inverse = engine.model.entities[relationship.destination].properties[slot]
        return !inverse.isOptional && inverse.relationship?.isToMany == false
    }

    /// Deletes rows by their keys; missing rows are ignored.
    package func delete(_ keys: [RowKey], wantsKeys: Bool) throws -> (count: Int, keys: [RowKey]) {
        var asked = KeySet(model: engine.model)
        for key in keys { asked.insert(key) }
        return try delete(asked, wantsKeys: wantsKeys)
    }

    private func delete(_ asked: KeySet, wantsKeys: Bool) throws -> (count: Int, keys: [RowKey]) {
        var doomed = asked
        var wave = asked
        while !wave.isEmpty {
            var next = KeySet(model: engine.model)
            try wave.forEachPortion(of: Self.portion) { entity, keys in
                for found in try cascading(entity, keys) where doomed.insert(found) { next.insert(found) }
            }
            wave = next
        }
        try doomed.forEachPortion(of: Self.portion) {
            try checkDenials($0, $1, doomed)
            try checkInverses($0, $1, doomed)
        }
        var count = 0
        var deleted: [RowKey] = []
        try doomed.forEachPortion(of: Self.portion) { entity, keys in
            let changes = try self.changes(deleting: keys, of: entity, doomed)
            try write(changes)
            count += changes.deletions.count
            if wantsKeys { deleted += changes.deletions.map(\.key) }
        }
        return (count, deleted)
    }

    // MARK: Rules

    /// Returns the rows that a relationship refers to from rows of one entity.
    private func destinations(
        of property: CompiledProperty, _ relationship: CompiledRelationship, _ entity: Int, _ keys: [Int64]
    ) throws -> [(owner: Int64, key: RowKey)] {
        if relationship.isToMany { return try destinations(entity: entity, slot: property.slot, owners: keys) }
        let column = engine.model.entities[entity].rowLayout.columnOfSlot[property.slot]
        guard column >= 0 else { return [] }
        let leading = try rows(keys, root: engine.model.entities[entity].root).filter { !$0.isNull(column) }
        let root = engine.model.entities[relationship.destination].root
        let found = Dictionary(
            try rows(Array(Set(leading.map { $0.integer(column) })), root: root).map { ($0.primaryKey, $0.key) },
            uniquingKeysWith: { first, _ in first })
        return leading.compactMap { row in found[row.integer(column)].map { (row.primaryKey, $0) } }
    }

    private func forEachRelationship(
        of entity: Int, _ body: (CompiledProperty, CompiledRelationship) throws -> Void
    ) rethrows {
        for property in engine.model.entities[entity].properties where !property.isTransient {
            if let relationship = property.relationship, engine.layout.entities[relationship.destination] != nil {
                try body(property, relationship)
            }
        }
    }

    private func cascading(_ entity: Int, _ keys: [Int64]) throws -> [RowKey] {
        var found: [RowKey] = []
        try forEachRelationship(of: entity) { property, relationship in
            guard relationship.deleteRule == .cascade else { return }
            found += try destinations(of: property, relationship, entity, keys).map(\.key)
        }
        return found
    }

    private func checkDenials(_ entity: Int, _ keys: [Int64], _ doomed: KeySet) throws {
        try forEachRelationship(of: entity) { property, relationship in
            guard relationship.deleteRule == .deny else { return }
            for (owner, key) in try destinations(of: property, relationship, entity, keys) where !doomed.contains(key) {
                throw DeletionDenied(key: RowKey(entity: entity, primaryKey: owner), relationship: property.name)
            }
        }
    }

    /// - Throws: ``MandatoryInverse`` for a remaining row that would lose the object of a mandatory to-one.
    private func checkInverses(_ entity: Int, _ keys: [Int64], _ doomed: KeySet) throws {
        try forEachRelationship(of: entity) { property, relationship in
            guard empties(relationship), let slot = relationship.inverseSlot else { return }
            for (_, key) in try destinations(of: property, relationship, entity, keys) where !doomed.contains(key) {
                throw MandatoryInverse(key: key, slot: slot)
            }
        }
    }

    // MARK: Changes

    private func changes(deleting keys: [Int64], of entity: Int, _ doomed: KeySet) throws -> ChangeSet {
        var changes = ChangeSet()
        let root = engine.model.entities[entity].root
        changes.deletions = try rows(keys, root: root).map { .init(key: $0.key, version: $0.version) }
        var cleared: [RowKey: Set<RowLayout.Role>] = [:]
        try forEachRelationship(of: entity) { property, relationship in
            if engine.layout.joinTables[.init(entity: property.declaringEntity, slot: property.slot)] != nil {
                for (owner, key) in try destinations(of: property, relationship, entity, keys) {
                    changes.links.append(
                        .init(
                            .remove, entity: property.declaringEntity, slot: property.slot, owner: owner,
                            destination: key.primaryKey))
                }
                return
            }
            guard relationship.deleteRule != .noAction else { return }
            let roles: Set<RowLayout.Role>
            if let slot = relationship.inverseSlot {
                // A destination of a many-to-many has no column for its owner.
                guard inverse(of: relationship)?.isToMany == false else { return }
                roles = [.destinationKey(slot: slot), .destinationEntity(slot: slot), .order(slot: slot)]
            } else {
                guard relationship.isToMany else { return }
                roles = [
                    .ownerKey(entity: property.declaringEntity, slot: property.slot),
                    .ownerOrder(entity: property.declaringEntity, slot: property.slot),
                ]
            }
            for (_, key) in try destinations(of: property, relationship, entity, keys) where !doomed.contains(key) {
                cleared[key, default: []].formUnion(roles)
            }
        }
        changes.updates = try updates(clearing: cleared)
        return changes
    }

    private func updates(clearing cleared: [RowKey: Set<RowLayout.Role>]) throws -> [ChangeSet.Update] {
        var updates: [ChangeSet.Update] = []
        for (root, keys) in Dictionary(grouping: cleared.keys, by: { engine.model.entities[$0.entity].root }) {
            for row in try rows(keys.map(\.primaryKey), root: root) {
                let layout = engine.model.entities[row.entity].rowLayout
                let roles = cleared[row.key] ?? []
                let builder = RowBuilder(columnCount: layout.columns.count)
                for (index, column) in layout.columns.enumerated() {
                    if roles.contains(column.role) {
                        builder.setNull(at: index)
                    } else {
                        builder.copy(index, kind: column.kind, from: row)
                    }
                }
                updates.append(
                    .init(
                        old: row,
                        new: builder.finish(primaryKey: row.primaryKey, version: row.version &+ 1, entity: row.entity)))
            }
        }
        return updates
    }
}
