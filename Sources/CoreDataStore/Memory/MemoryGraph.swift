import CoreDataModel
import CoreDataPrimitives

/// Where predicates that are answered in memory find the rows that theirs lead to.
protocol RowGraph {
    var model: CompiledModel { get }
    /// The row with that key in the hierarchy of a root entity.
    func row(_ key: Int64, root: Int) throws -> RowSnapshot?
    /// The members of a to-many relationship: ordered ones in their order, others by key.
    func members(of owner: Int64, entity: Int, slot: Int) throws -> [RowSnapshot]
}

/// All rows of a ``MemoryEngine`` as one save left them; a value, so that readers keep theirs while somebody saves.
struct MemoryGraph: RowGraph {
    let model: CompiledModel
    /// By root entity.
    private var tables: [Int: MemoryTable] = [:]
    private var pairs: [Side: MemoryPairs] = [:]

    /// A many-to-many relationship, by the one of its two sides that is declared first.
    private struct Side: Hashable {
        var entity: Int
        var slot: Int
    }

    init(model: CompiledModel) { self.model = model }

    private func layout(_ entity: Int) -> RowLayout { model.entities[entity].rowLayout }

    // MARK: Asking

    func row(_ key: Int64, root: Int) -> RowSnapshot? { tables[root]?.rows[key] }

    func heldRow(_ key: Int64, root: Int) -> HeldRow? { row(key, root: root).map { HeldRow($0) } }

    /// The highest key that any row has ever had.
    var highestKey: Int64 { tables.values.map(\.highestKey).max() ?? 0 }

    /// The highest key that a row of the hierarchy has ever had.
    func highestKey(root: Int) -> Int64 { tables[root]?.highestKey ?? 0 }

    /// The rows of the hierarchy whose column of that role has the key, in no order.
    func rows(referringTo key: Int64, by role: RowLayout.Role, root: Int) -> [RowSnapshot] {
        tables[root]?.rows(referringTo: key, by: role) ?? []
    }

    /// The rows of an entity, and those below it where that is asked for, by key.
    func rows(of entity: Int, includesSubentities: Bool) -> [RowSnapshot] {
        let compiled = model.entities[entity]
        let wanted = includesSubentities ? Set(compiled.subtree) : [entity]
        return (tables[compiled.root]?.rows.values.filter { wanted.contains($0.entity) } ?? [])
            .sorted { $0.primaryKey < $1.primaryKey }
    }

    /// The members of a to-many relationship: ordered ones in their order, others by key.
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

    /// The other ends of an owner's pairs, in the relationship's order, also those whose rows are gone; `nil` for a to-many
    /// that has no pairs.
    func pairedKeys(of owner: Int64, entity: Int, slot: Int) -> [Int64]? {
        let property = model.entities[entity].properties[slot]
        guard let relationship = property.relationship,
            case .pairs(let side, let isFlipped) = Storage(property, relationship, model)
        else { return nil }
        return pairs[side]?.others(of: owner, fromDestination: isFlipped) ?? []
    }

    /// The order value of a pair in the owner's relationship; `nil` where the pair has none.
    func order(of pair: MemberPair, entity: Int, slot: Int) -> Int64? {
        let property = model.entities[entity].properties[slot]
        guard let relationship = property.relationship,
            case .pairs(let side, let isFlipped) = Storage(property, relationship, model)
        else { return nil }
        return pairs[side]?.order(of: pair.destination, beside: pair.owner, fromDestination: isFlipped)
    }

    /// How many rows a to-many has, or pairs, which count though the row at the other end is gone.
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

    /// How the members of a to-many are found.
    private enum Storage {
        case pairs(Side, isFlipped: Bool)
        /// In a column of the members' rows, with their positions in another.
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

    // MARK: Everything

    /// The root entities that have rows.
    var roots: [Int] { tables.filter { !$0.value.rows.isEmpty }.keys.sorted() }
    func rowCount(root: Int) -> Int { tables[root]?.rows.count ?? 0 }
    /// The hierarchy's rows, in no order.
    func rows(root: Int) -> some Collection<RowSnapshot> { (tables[root]?.rows ?? [:]).values }

    /// Every many-to-many relationship that has pairs, by the side that it is kept under.
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
        // The row's own entity: its layout tells what refers to it.
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
