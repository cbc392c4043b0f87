import CoreDataModel
import CoreDataPrimitives

/// Provides related rows to predicates that memory evaluates.
protocol RowGraph {
    var model: CompiledModel { get }
    /// Returns the row with the key in the hierarchy of a root entity.
    func row(_ key: Int64, root: Int) throws -> RowSnapshot?
    /// Returns the members of a to-many relationship: ordered ones in their order, others by key.
    func members(of owner: Int64, entity: Int, slot: Int) throws -> [RowSnapshot]
}

/// All rows of a ``MemoryEngine`` after a save; a value, so that readers keep theirs during the next save.
struct MemoryGraph: RowGraph {
    let model: CompiledModel
    /// The tables by root entity.
    private var tables: [Int: MemoryTable] = [:]
    private var pairs: [Side: MemoryPairs] = [:]

    /// A many-to-many relationship, identified by the side that is declared first.
    private struct Side: Hashable {
        var entity: Int
        var slot: Int
    }

    init(model: CompiledModel) { self.model = model }

    private func layout(_ entity: Int) -> RowLayout { model.entities[entity].rowLayout }

    // MARK: Reading

    func row(_ key: Int64, root: Int) -> RowSnapshot? { tables[root]?.rows[key] }

    func heldRow(_ key: Int64, root: Int) -> HeldRow? { row(key, root: root).map { HeldRow($0) } }

    /// The highest key that any row has ever had.
    var highestKey: Int64 { tables.values.map(\.highestKey).max() ?? 0 }

    /// Returns the highest key that a row of the hierarchy has ever had.
    func highestKey(root: Int) -> Int64 { tables[root]?.highestKey ?? 0 }

    /// Returns the rows of the hierarchy whose column with the role has the key, in no order.
    func rows(referringTo key: Int64, by role: RowLayout.Role, root: Int) -> [RowSnapshot] {
        tables[root]?.rows(referringTo: key, by: role) ?? []
    }

    /// Returns the rows of an entity, optionally with those of its subentities, by key.
    func rows(of entity: Int, includesSubentities: Bool) -> [RowSnapshot] {
        let compiled = model.entities[entity]
        let wanted = includesSubentities ? Set(compiled.subtree) : [entity]
        return (tables[compiled.root]?.rows.values.filter { wanted.contains($0.entity) } ?? [])
            .sorted { $0.primaryKey < $1.primaryKey }
    }

    /// Returns the members of a to-many relationship: ordered ones in their order, others by key.
    func members(of owner: Int64, entity: Int, slot: Int) -> [RowSnapshot] {
        let property = model.entities[entity].properties[slot]
        guard let relationship = property.relationship else { return [] }
        let root = model.entities[relationship.destination].root
        guard let table = tables[root] else { return [] }
        switch Storage(property, relationship, model) {
        case .pairs(let side, let isFlipped):
            return pairs[side]?.others(of: owner, fromDestination: isFlipped).compactMap { table.rows[$0] } ?? []
        case .column(let role, let order):
            let rows = table.rows(referringTo: owner, by: role)
            guard relationship.isOrdered else { return rows.sorted { $0.primaryKey < $1.primaryKey } }
            let keyed = rows.map { row -> (order: Int64, row: RowSnapshot) in
                let column = layout(row.entity).column(of: order)
                return (column.flatMap { row.isNull($0) ? nil : row.integer($0) } ?? .min, row)
            }
            return keyed.sorted { ($0.order, $0.row.primaryKey) < ($1.order, $1.row.primaryKey) }.map(\.row)
        }
    }

    /// Returns the other ends of an owner's pairs, in the relationship's order, including missing rows; `nil` for a
    /// to-many without pairs.
    func pairedKeys(of owner: Int64, entity: Int, slot: Int) -> [Int64]? {
        let property = model.entities[entity].properties[slot]
        guard let relationship = property.relationship,
            case .pairs(let side, let isFlipped) = Storage(property, relationship, model)
        else { return nil }
        return pairs[side]?.others(of: owner, fromDestination: isFlipped) ?? []
    }

    /// Returns the order value of a pair in the owner's relationship; `nil` if the pair has none.
    func order(of pair: MemberPair, entity: Int, slot: Int) -> Int64? {
        let property = model.entities[entity].properties[slot]
        guard let relationship = property.relationship,
            case .pairs(let side, let isFlipped) = Storage(property, relationship, model)
        else { return nil }
        return pairs[side]?.order(of: pair.destination, beside: pair.owner, fromDestination: isFlipped)
    }

    /// Returns the number of members of a to-many; pairs count even if the row at the other end is missing.
    func memberCount(of owner: Int64, entity: Int, slot: Int) -> Int {
        let property = model.entities[entity].properties[slot]
        guard let relationship = property.relationship else { return 0 }
        switch Storage(property, relationship, model) {
        case .pairs(let side, let isFlipped):
            return pairs[side]?.others(of: owner, fromDestination: isFlipped).count ?? 0
        case .column(let role, _):
            return rows(referringTo: owner, by: role, root: model.entities[relationship.destination].root).count
        }
    }

    /// The storage of a to-many's members.
    private enum Storage {
        case pairs(Side, isFlipped: Bool)
        /// In a column of the members' rows, with their positions in another one.
        case column(RowLayout.Role, order: RowLayout.Role)

        init(_ property: CompiledProperty, _ relationship: CompiledRelationship, _ model: CompiledModel) {
            let own = Side(entity: property.declaringEntity, slot: property.slot)
            guard let inverseSlot = relationship.inverseSlot else {
                self = .column(
                    .ownerKey(entity: own.entity, slot: own.slot),
                    order: .ownerOrder(entity: own.entity, slot: own.slot))
                return
            }
            let inverse = model.entities[relationship.destination].properties[inverseSlot]
            guard inverse.relationship?.isToMany == true else {
                self = .column(.destinationKey(slot: inverseSlot), order: .order(slot: inverseSlot))
                return
            }
            let other = Side(entity: inverse.declaringEntity, slot: inverseSlot)
            let isFlipped = (other.entity, other.slot) < (own.entity, own.slot)
            self = .pairs(isFlipped ? other : own, isFlipped: isFlipped)
        }
    }

    // MARK: Whole content

    /// The root entities that have rows.
    var roots: [Int] { tables.filter { !$0.value.rows.isEmpty }.keys.sorted() }
    func rowCount(root: Int) -> Int { tables[root]?.rows.count ?? 0 }
    /// Returns the hierarchy's rows, in no order.
    func rows(root: Int) -> some Collection<RowSnapshot> { (tables[root]?.rows ?? [:]).values }

    /// Every many-to-many relationship that has pairs, by the side under which it is stored.
    var pairedSides: [(entity: Int, slot: Int)] {
        pairs.keys.map { ($0.entity, $0.slot) }.sorted { ($0.entity, $0.slot) < ($1.entity, $1.slot) }
    }

    func forEachPair(
        entity: Int, slot: Int,
        _ body: (_ owner: Int64, _ destination: Int64, _ order: Int64?, _ inverseOrder: Int64?) throws -> Void
    ) rethrows {
        try pairs[Side(entity: entity, slot: slot)]?.forEach(body)
    }

    // MARK: Changing

    mutating func put(_ row: RowSnapshot) {
        let entity = model.entities[row.entity]
        tables[entity.root, default: MemoryTable()].put(row, entity.rowLayout)
    }

    mutating func remove(_ key: RowKey) {
        let root = model.entities[key.entity].root
        // Use the row's own entity: its layout contains the columns with references.
        guard let row = row(key.primaryKey, root: root) else { return }
        let layout = layout(row.entity)
        tables[root]?.remove(key.primaryKey, layout)
    }

    mutating func apply(_ link: ChangeSet.Link) {
        let property = model.entities[link.entity].properties[link.slot]
        guard let relationship = property.relationship,
            case .pairs(let side, let isFlipped) = Storage(property, relationship, model)
        else { return }
        let isReflexive =
            relationship.inverseSlot == property.slot
            && model.entities[relationship.destination].properties[property.slot].declaringEntity
                == property.declaringEntity
        let ends = (link.owner, link.destination)
        let (owner, destination) = isFlipped ? (ends.1, ends.0) : ends
        let (order, inverseOrder) = isFlipped ? (link.inverseOrder, link.order) : (link.order, link.inverseOrder)
        for isMirrored in isReflexive ? [false, true] : [false] {
            let (owner, destination) = isMirrored ? (destination, owner) : (owner, destination)
            let (order, inverseOrder) = isMirrored ? (inverseOrder, order) : (order, inverseOrder)
            switch link.kind {
            case .insert:
                pairs[side, default: MemoryPairs()].insert(
                    owner: owner, destination: destination, order: order, inverseOrder: inverseOrder)
            case .remove: pairs[side]?.remove(owner: owner, destination: destination)
            }
        }
    }
}
