import CoreDataModel
import CoreDataPrimitives

/// Builds a graph from rows and from the relationships that objects on both sides list.
///
/// An object's own values go to its row at once. Some data is known only after all rows exist: the entity of a to-one's
/// destination, the position in an ordered to-many, and the owner in a to-many without inverse. It is then added to the
/// affected rows. If the two sides of a relationship differ, the member's own data wins.
package struct GraphBuilder {
    private let model: CompiledModel
    private var builders: [Int: RowBuilder] = [:]
    /// The rows, by root entity and key.
    private var rows: [RowKey: RowSnapshot] = [:]
    private var toOnes: [(row: RowKey, slot: Int, key: Int64)] = []
    private var toManys: [ToMany] = []

    private struct ToMany {
        var owner: RowKey
        var slot: Int
        var keys: [Int64]
    }

    /// The distance between two positions in an ordered relationship.
    private static let orderStep: Int64 = 1024

    package init(model: CompiledModel) { self.model = model }

    // MARK: Rows

    package func contains(_ key: Int64, root: Int) -> Bool { rows[RowKey(entity: root, primaryKey: key)] != nil }

    /// Returns the builder for the rows of an entity, one row after another.
    package mutating func builder(of entity: CompiledEntity) -> RowBuilder {
        if let known = builders[entity.ordinal] { return known }
        let made = RowBuilder(columnCount: entity.rowLayout.columns.count)
        builders[entity.ordinal] = made
        return made
    }

    /// Sets the destination of a to-one of the current row.
    package mutating func setToOne(_ slot: Int, of entity: CompiledEntity, key: Int64, to destination: Int64) {
        let layout = entity.rowLayout
        guard layout.columnOfSlot[slot] >= 0 else { return }
        builder(of: entity).setInteger(destination, at: layout.columnOfSlot[slot])
        guard layout.entityColumnOfSlot[slot] >= 0 else { return }
        toOnes.append((RowKey(entity: entity.root, primaryKey: key), slot, destination))
    }

    /// Sets the members of a to-many of the current row, in their order.
    package mutating func setToMany(_ slot: Int, of entity: CompiledEntity, key: Int64, to members: [Int64]) {
        guard !members.isEmpty else { return }
        toManys.append(ToMany(owner: RowKey(entity: entity.root, primaryKey: key), slot: slot, keys: members))
    }

    /// Completes the current row.
    package mutating func finish(_ entity: CompiledEntity, key: Int64, version: Int32 = 1) {
        let row = builder(of: entity).finish(primaryKey: key, version: version, entity: entity.ordinal)
        rows[RowKey(entity: entity.root, primaryKey: key)] = row
    }

    // MARK: The graph

    mutating func fill(_ graph: inout MemoryGraph) {
        let pairs = connect()
        for row in rows.values { graph.put(row) }
        for link in pairs { graph.apply(link) }
    }

    /// Returns the complete rows as the content of a ``MemoryEngine``.
    package mutating func contents(identifier: String) -> MemoryContents {
        var contents = MemoryContents(model: model, identifier: identifier)
        fill(&contents.graph)
        return contents
    }

    /// Completes rows with data from other rows; returns the pairs of many-to-many relationships.
    private mutating func connect() -> [ChangeSet.Link] {
        var changes = RowChanges()
        for (row, slot, key) in toOnes {
            guard let own = rows[row],
                let destination = model.entities[own.entity].properties[slot].relationship?.destination
            else { continue }
            let target = rows[RowKey(entity: model.entities[destination].root, primaryKey: key)]?.entity ?? destination
            changes.set(model.entities[own.entity].rowLayout.entityColumnOfSlot[slot], of: row, to: Int64(target) + 1)
        }
        var pairs = PairCollector(step: Self.orderStep)
        for toMany in toManys {
            guard let owner = rows[toMany.owner] else { continue }
            let property = model.entities[owner.entity].properties[toMany.slot]
            guard let relationship = property.relationship else { continue }
            let inverse = model.inverse(of: relationship)
            if let inverse, inverse.relationship?.isToMany == true {
                pairs.add(toMany.keys, of: toMany.owner.primaryKey, property, relationship, inverse)
                continue
            }
            let root = model.entities[relationship.destination].root
            for (index, key) in toMany.keys.enumerated() {
                let order = Int64(index + 1) * Self.orderStep
                connect(RowKey(entity: root, primaryKey: key), to: owner, property, inverse, order, &changes)
            }
        }
        for (key, columns) in changes.columns { change(key, columns) }
        return pairs.links
    }

    /// Adds a member of a to-many whose rows contain the owner's key.
    private func connect(
        _ member: RowKey, to owner: RowSnapshot, _ property: CompiledProperty, _ inverse: CompiledProperty?,
        _ order: Int64, _ changes: inout RowChanges
    ) {
        guard let row = rows[member] else { return }
        let layout = model.entities[row.entity].rowLayout
        guard let inverse else {
            let (entity, slot) = (property.declaringEntity, property.slot)
            changes.set(
                layout.column(of: .ownerKey(entity: entity, slot: slot)) ?? -1, of: member, to: owner.primaryKey)
            changes.set(layout.column(of: .ownerOrder(entity: entity, slot: slot)) ?? -1, of: member, to: order)
            return
        }
        let column = layout.columnOfSlot[inverse.slot]
        if row.isNull(column) {
            changes.set(column, of: member, to: owner.primaryKey)
            changes.set(layout.entityColumnOfSlot[inverse.slot], of: member, to: Int64(owner.entity) + 1)
        } else if row.integer(column) != owner.primaryKey {
            return
        }
        changes.set(layout.orderColumnOfSlot[inverse.slot], of: member, to: order)
    }

    private mutating func change(_ key: RowKey, _ columns: [(column: Int, value: Int64)]) {
        guard let row = rows[key] else { return }
        let entity = model.entities[row.entity]
        let builder = builder(of: entity)
        for (column, kind) in entity.rowLayout.kinds.enumerated() { builder.copy(column, kind: kind, from: row) }
        for (column, value) in columns { builder.setInteger(value, at: column) }
        rows[key] = builder.finish(primaryKey: row.primaryKey, version: row.version, entity: row.entity)
    }

    /// By row: columns and their values.
    private struct RowChanges {
        private(set) var columns: [RowKey: [(column: Int, value: Int64)]] = [:]

        mutating func set(_ column: Int, of row: RowKey, to value: Int64) {
            if column >= 0 { columns[row, default: []].append((column, value)) }
        }
    }
}

/// Merges the pairs that both sides of a many-to-many list.
private struct PairCollector {
    let step: Int64
    private var found: [Side: [Pair: Int]] = [:]
    private(set) var links: [ChangeSet.Link] = []

    private struct Side: Hashable {
        var entity: Int
        var slot: Int
    }

    private struct Pair: Hashable {
        var owner: Int64
        var destination: Int64
    }

    init(step: Int64) { self.step = step }

    mutating func add(
        _ keys: [Int64], of owner: Int64, _ property: CompiledProperty, _ relationship: CompiledRelationship,
        _ inverse: CompiledProperty
    ) {
        let own = Side(entity: property.declaringEntity, slot: property.slot)
        let other = Side(entity: inverse.declaringEntity, slot: inverse.slot)
        let isFlipped = (other.entity, other.slot) < (own.entity, own.slot)
        let side = isFlipped ? other : own
        for (index, key) in keys.enumerated() {
            let order = relationship.isOrdered ? Int64(index + 1) * step : nil
            let pair = isFlipped ? Pair(owner: key, destination: owner) : Pair(owner: owner, destination: key)
            if let known = found[side]?[pair] {
                if isFlipped { links[known].inverseOrder = order } else { links[known].order = order }
                continue
            }
            found[side, default: [:]][pair] = links.count
            links.append(
                ChangeSet.Link(
                    .insert, entity: side.entity, slot: side.slot, owner: pair.owner, destination: pair.destination,
                    order: isFlipped ? nil : order, inverseOrder: isFlipped ? order : nil))
        }
    }
}
