import CoreDataModel
import CoreDataSQL

/// The pairs of objects of a relationship of the older model, independent of where the file stores them.
///
/// ```
///  to-one                     near Z_PK           far the foreign key
///  to-many, inverse to-one    near the inverse's foreign key     far Z_PK
///  to-many without inverse    near the owner's key               far Z_PK
///  many-to-many               the two columns of its table
/// ```
struct MigrationLinks: Hashable {
    var table: String
    /// The column with the key of the near object, which owns the relationship.
    var near: String
    var far: String
    /// The columns with the positions: of the near object among the far one's members, and vice versa.
    var nearOrder: String?
    var farOrder: String?
    /// The columns with the entity numbers.
    var nearEntity: String?
    var farEntity: String?
    /// The possible entities of each side, by ordinal.
    var nearEntities: [Int]
    var farEntities: [Int]
    /// Whether a near object has at most one far object, and vice versa.
    var isToOne: Bool
    var isInverseToOne: Bool

    var reversed: MigrationLinks {
        MigrationLinks(
            table: table, near: far, far: near, nearOrder: farOrder, farOrder: nearOrder, nearEntity: farEntity,
            farEntity: nearEntity, nearEntities: farEntities, farEntities: nearEntities, isToOne: isInverseToOne,
            isInverseToOne: isToOne)
    }
}

extension MigrationPlanner {
    /// The values of a to-one's columns.
    struct End {
        var key: SQLExpression
        var entity: SQLExpression
        var order: SQLExpression
        /// Links that must not have several far objects for one near object.
        var doubtful: [MigrationLinks]
    }

    /// Returns the links of an old entity's relationship; `nil` if the file does not store them.
    func links(of slot: Int, in ordinal: Int) -> MigrationLinks? {
        let entity = oldModel.entities[ordinal]
        let property = entity.properties[slot]
        guard let relationship = property.relationship, !property.isTransient,
            source.schema.layout.entities[relationship.destination] != nil
        else { return nil }
        let near = stored(oldModel.entities[property.declaringEntity].subtree)
        let far = stored(oldModel.entities[relationship.destination].subtree)
        let inverse = oldModel.inverse(of: relationship)
        if !relationship.isToMany {
            guard let bound = source.schema.layout.entities[ordinal],
                let key = name(entity.rowLayout.columnOfSlot[slot], of: bound)
            else { return nil }
            return MigrationLinks(
                table: bound.table, near: "Z_PK", far: key,
                nearOrder: name(entity.rowLayout.orderColumnOfSlot[slot], of: bound), farOrder: nil,
                nearEntity: "Z_ENT",
                farEntity: name(entity.rowLayout.entityColumnOfSlot[slot], of: bound), nearEntities: near,
                farEntities: far, isToOne: true, isInverseToOne: inverse?.relationship?.isToMany == false)
        }
        let own = StoreLayout.Relationship(entity: property.declaringEntity, slot: slot)
        if let join = source.schema.layout.joinTables[own] {
            return MigrationLinks(
                table: join.name, near: join.ownerColumn, far: join.destinationColumn,
                nearOrder: join.inverseOrderColumn, farOrder: join.orderColumn, nearEntity: nil, farEntity: nil,
                nearEntities: near, farEntities: far, isToOne: false, isInverseToOne: false)
        }
        let destination = oldModel.entities[relationship.destination]
        guard let bound = source.schema.layout.entities[destination.ordinal] else { return nil }
        func column(_ role: RowLayout.Role) -> String? {
            destination.rowLayout.column(of: role).flatMap { name($0, of: bound) }
        }
        let (key, order): (String?, String?) =
            if let inverse {
                inverse.isTransient
                    ? (nil, nil)
                    : (column(.destinationKey(slot: inverse.slot)), column(.order(slot: inverse.slot)))
            } else {
                (
                    column(.ownerKey(entity: own.entity, slot: own.slot)),
                    column(.ownerOrder(entity: own.entity, slot: own.slot))
                )
            }
        guard let key else { return nil }
        return MigrationLinks(
            table: bound.table, near: key, far: "Z_PK", nearOrder: nil, farOrder: order, nearEntity: nil,
            farEntity: "Z_ENT", nearEntities: near, farEntities: far, isToOne: false, isInverseToOne: true)
    }

    private func name(_ column: Int, of bound: StoreLayout.Entity) -> String? {
        column < 0 ? nil : bound.columnNames[column]
    }

    private func stored(_ ordinals: [Int]) -> [Int] { ordinals.filter { source.schema.layout.entities[$0] != nil } }

    /// Returns the links that a newer relationship takes over from the older ones of its entity and subentities.
    func links(to slot: Int, declaredIn ordinal: Int) -> [MigrationLinks: [Int]] {
        var found: [MigrationLinks: [Int]] = [:]
        for entity in newModel.entities[ordinal].subtree {
            guard target.numbers[entity] != nil, let old = mapping.source(of: entity),
                let before = mapping.sourceSlot(of: slot, in: entity), source.schema.layout.entities[old] != nil,
                let links = links(of: before, in: old)
            else { continue }
            found[links, default: []].append(old)
        }
        return found
    }

    // MARK: To-ones

    func toOne(_ slot: Int, _ member: MigrationFlow.Member, _ flow: MigrationFlow) -> End? {
        guard let relationship = newModel.entities[member.new].properties[slot].relationship else { return nil }
        let own = mapping.sourceSlot(of: slot, in: member.new).flatMap { links(of: $0, in: member.old) }
        var found = own.map { [$0] } ?? []
        if found.isEmpty, let inverse = newModel.inverse(of: relationship) {
            found = links(to: inverse.slot, declaredIn: inverse.declaringEntity).keys.map(\.reversed)
        }
        return end(found, to: relationship.destination, member, flow)
    }

    /// Returns the owner of a row in a to-many without inverse.
    func owner(_ entity: Int, _ slot: Int, _ member: MigrationFlow.Member, _ flow: MigrationFlow) -> End? {
        end(links(to: slot, declaredIn: entity).keys.map(\.reversed), to: entity, member, flow)
    }

    private func end(
        _ candidates: [MigrationLinks], to destination: Int, _ member: MigrationFlow.Member, _ flow: MigrationFlow
    ) -> End? {
        let found = candidates.filter { $0.nearEntities.contains(member.old) }.sorted {
            ($0.table, $0.far) < ($1.table, $1.far)
        }
        guard let first = found.first else { return nil }
        let kept = heirs(of: Set(found.flatMap(\.farEntities)).sorted(), below: destination)
        guard !kept.isEmpty else { return nil }
        if found.count == 1, first.near == "Z_PK", first.table == flow.oldTable {
            return end(inRow: first, kept)
        }
        // Each near object is looked up in the table of the links.
        let keys = found.map { scalar($0, .column("l", $0.far), kept) }
        let key = keys.count == 1 ? keys[0] : SQLExpression.function(.coalesce, keys)
        let made = SQLExpression.caseWhen(
            [.init(.isNotNull(key), Self.madeOrder(Self.column("Z_PK")))], otherwise: .null)
        let orders = found.compactMap { links in
            links.nearOrder.map { scalar(links, .column("l", $0), kept) }
        }
        return End(
            key: key, entity: number(ofRowWith: key, in: first, kept),
            order: orders.isEmpty ? made : .function(.coalesce, orders + [made]), doubtful: found.filter { !$0.isToOne }
        )
    }

    /// The key is in the row itself.
    private func end(inRow links: MigrationLinks, _ kept: [MigrationFlow.Member]) -> End {
        let column = Self.column(links.far)
        let isFiltered = kept.count < links.farEntities.count
        let key: SQLExpression =
            isFiltered
            ? .caseWhen([.init(isOneOf(column, links.farEntities, kept), column)], otherwise: .null) : column
        let entity: SQLExpression
        if let companion = links.farEntity, links.farEntities.count > 1 {
            let pairs = kept.map { (source.schema.numbers[$0.old] ?? 0, target.numbers[$0.new] ?? 0) }
            entity =
                isFiltered
                ? .caseWhen(
                    pairs.map { .init(.comparison(.equal, Self.column(companion), .integer($0.0)), .integer($0.1)) },
                    otherwise: .null)
                : Self.renumbered(Self.column(companion), pairs)
        } else {
            entity = number(ofRowWith: key, in: links, kept)
        }
        let made = SQLExpression.caseWhen(
            [.init(.isNotNull(key), Self.madeOrder(Self.column("Z_PK")))], otherwise: .null)
        return End(
            key: key, entity: entity,
            order: links.nearOrder.map {
                isFiltered ? .caseWhen([.init(.isNotNull(key), Self.column($0))], otherwise: .null) : Self.column($0)
            }
                ?? made, doubtful: [])
    }

    /// Returns the new number of the entity of the row with the key.
    private func number(
        ofRowWith key: SQLExpression, in links: MigrationLinks, _ kept: [MigrationFlow.Member]
    ) -> SQLExpression {
        if kept.count == 1 {
            return .caseWhen([.init(.isNotNull(key), .integer(target.numbers[kept[0].new] ?? 0))], otherwise: .null)
        }
        let pairs = kept.map { (source.schema.numbers[$0.old] ?? 0, target.numbers[$0.new] ?? 0) }
        var select = SelectStatement(
            [.init(Self.renumbered(.column("d", "Z_ENT"), pairs))], from: .init(table(of: links.farEntities), as: "d"))
        select.condition = .comparison(.equal, .column("d", "Z_PK"), key)
        return .scalar(select)
    }

    /// Returns `(SELECT MIN(l.far) FROM links l WHERE l.near = s.Z_PK)`.
    private func scalar(
        _ links: MigrationLinks, _ value: SQLExpression, _ kept: [MigrationFlow.Member]
    ) -> SQLExpression {
        var select = SelectStatement(
            [.init(.aggregate(.minimum, value, distinct: false))], from: .init(current(links.table), as: "l"))
        var terms: [SQLExpression] = [.comparison(.equal, .column("l", links.near), Self.column("Z_PK"))]
        if kept.count < links.farEntities.count {
            terms.append(isOneOf(.column("l", links.far), links.farEntities, kept))
        }
        select.condition = terms.count == 1 ? terms[0] : .and(terms)
        return .scalar(select)
    }

    // MARK: Remaining objects

    /// Returns the old entities whose objects belong, in the newer model, to an entity or its subentities.
    func heirs(of old: [Int], below destination: Int) -> [MigrationFlow.Member] {
        let allowed = Set(newModel.entities[destination].subtree)
        return old.compactMap { ordinal in
            guard let new = mapping.destination(of: ordinal), allowed.contains(new), target.numbers[new] != nil else {
                return nil
            }
            return .init(old: ordinal, new: new)
        }
    }

    /// Returns whether a key is that of a row of one of the entities.
    func isOneOf(_ key: SQLExpression, _ all: [Int], _ kept: [MigrationFlow.Member]) -> SQLExpression {
        var select = SelectStatement([.init(.column("d", "Z_PK"))], from: .init(table(of: all), as: "d"))
        select.condition = .inList(
            .column("d", "Z_ENT"), kept.compactMap { source.schema.numbers[$0.old] }.map(SQLExpression.integer))
        return .inSelect(key, select)
    }

    private func table(of ordinals: [Int]) -> String {
        current(ordinals.first.flatMap { source.schema.layout.entities[$0]?.table } ?? "")
    }

    /// Returns positions in the order of keys, with gaps.
    static func madeOrder(_ key: SQLExpression) -> SQLExpression {
        .arithmetic(.add, .arithmetic(.multiply, key, .integer(1024)), .integer(1024))
    }
}
