import CoreDataModel
import CoreDataSQL

extension MigrationPlanner {
    /// Returns the sources of a many-to-many relationship's pairs, from its master's side, with the old entities whose
    /// objects have them.
    private func sources(of join: SchemaJoinTable) -> [(links: MigrationLinks, entities: [Int])] {
        var found = links(to: join.master.slot, declaredIn: join.master.entity)
        if found.isEmpty {
            for (links, _) in links(to: join.inverse.slot, declaredIn: join.inverse.entity) {
                found[links.reversed] = links.farEntities
            }
        }
        return found.map { ($0.key, $0.value) }.sorted { ($0.0.table, $0.0.far) < ($1.0.table, $1.0.far) }
    }

    /// Returns whether the pairs can remain in their table.
    func isKept(_ table: SchemaJoinTable) throws -> Bool {
        let found = sources(of: table)
        guard found.count == 1, let (links, entities) = found.first, try isSame(target.createTable(table)) else {
            return false
        }
        let join = table.join
        return links.table == join.name && links.near == join.ownerColumn && links.far == join.destinationColumn
            && links.farOrder == join.orderColumn && links.nearOrder == join.inverseOrderColumn
            && ends(of: table, links, entities).allSatisfy { $0 == nil }
    }

    func copy(_ table: SchemaJoinTable) -> [MigrationStep] {
        let master = newModel.entities[table.master.entity]
        let name = "\(master.name).\(master.properties[table.master.slot].name)"
        return sources(of: table).flatMap { links, entities -> [MigrationStep] in
            var steps = [insertion(into: table, links, entities)]
            // A relationship that was not its own inverse before has each pair in only one direction.
            if table.isSelfInverse, links.nearEntity != nil || links.farEntity != nil {
                steps.append(insertion(into: table, links, entities, isMirrored: true))
            }
            return steps.map { MigrationStep(.insert($0), "copy the pairs of \(name)", subject: name) }
        }
    }

    private func insertion(
        into table: SchemaJoinTable, _ links: MigrationLinks, _ entities: [Int], isMirrored: Bool = false
    ) -> InsertStatement {
        let near = SQLExpression.column("l", links.near)
        let far = SQLExpression.column("l", links.far)
        func order(_ column: String?, _ key: SQLExpression) -> SQLExpression {
            let made = Self.madeOrder(key)
            return column.map { .function(.ifNull, [.column("l", $0), made]) } ?? made
        }
        let join = table.join
        var columns = [join.ownerColumn, join.destinationColumn]
        var values = isMirrored ? [far, near] : [near, far]
        if let column = join.inverseOrderColumn {
            columns.append(column)
            values.append(isMirrored ? order(links.farOrder, far) : order(links.nearOrder, near))
        }
        if let column = join.orderColumn {
            columns.append(column)
            values.append(isMirrored ? order(links.nearOrder, near) : order(links.farOrder, far))
        }
        var select = SelectStatement(values.map { .init($0) }, from: .init(current(links.table), as: "l"))
        select.condition = .and(
            [.isNotNull(near), .isNotNull(far)] + ends(of: table, links, entities).compactMap { $0 })
        var insert = InsertStatement(into: join.name, columns: columns, from: select)
        insert.conflict = .ignore
        return insert
    }

    /// Returns conditions for the objects of either side that remain; `nil` if all do.
    private func ends(of table: SchemaJoinTable, _ links: MigrationLinks, _ entities: [Int]) -> [SQLExpression?] {
        let property = newModel.entities[table.master.entity].properties[table.master.slot]
        let nears = heirs(of: links.nearEntities.filter(entities.contains), below: table.master.entity)
        let fars = heirs(of: links.farEntities, below: property.relationship?.destination ?? 0)
        return [(links.near, links.nearEntities, nears), (links.far, links.farEntities, fars)].map {
            column, all, kept in
            kept.count < all.count ? isOneOf(.column("l", column), all, kept) : nil
        }
    }
}
