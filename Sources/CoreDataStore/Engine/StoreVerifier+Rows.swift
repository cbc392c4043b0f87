import CoreDataModel
import CoreDataSQL

extension StoreVerifier {
    /// Entity numbers, versions and the counter of each table.
    mutating func checkRows() throws {
        for table in schema.tables {
            guard let name = schema.layout.entities[table.root]?.table else { continue }
            let members = schema.entities.filter { model.entities[$0].root == table.root }
            let concrete = members.filter { !model.entities[$0].isAbstract }
            let list = numberList(members)
            try reportRows(
                "SELECT Z_PK, Z_ENT FROM \(identifier: name) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(list)) ORDER BY Z_PK",
                .error, table.root, nil, hint: "no entity of this table has that number; the row cannot be fetched"
            ) { "its entity number is \($0[1].shown)" }
            if concrete.count < members.count {
                let abstract = numberList(members.filter { model.entities[$0].isAbstract })
                try reportRows(
                    "SELECT Z_PK FROM \(identifier: name) WHERE Z_ENT IN (\(abstract)) ORDER BY Z_PK", .warning,
                    table.root, nil
                ) { _ in "is of an abstract entity" }
            }
            try reportRows(
                "SELECT Z_PK FROM \(identifier: name) WHERE Z_OPT IS NULL ORDER BY Z_PK", .warning, table.root, nil,
                hint: "a save of this row would find a conflict"
            ) { _ in "has no version number (Z_OPT)" }
            try checkCounter(of: table, named: name)
        }
    }

    private mutating func checkCounter(of table: SchemaTable, named name: String) throws {
        guard let number = schema.numbers[table.root],
            let row = numbers.first(where: { $0.number == number }),
            case .integer(let highest)? = try connection.rows("SELECT MAX(Z_PK) FROM \(identifier: name)").first?.first,
            highest > row.maximum
        else { return }
        report(
            .warning, table.root, nil,
            "the highest primary key handed out is said to be \(row.maximum), but there is a row \(highest)",
            hint: "keys are then counted from the rows")
    }

    /// `1, 2, 5`
    func numberList(_ entities: [Int]) -> SQLText {
        var text = SQLText()
        for (index, number) in entities.compactMap({ schema.numbers[$0] }).enumerated() {
            if index > 0 { text.append(", ") }
            text.append(integer: number)
        }
        return text
    }

    // MARK: - To-one relationships

    /// Every foreign key leads to a row of the right kind, companions agree, one-to-ones point back.
    mutating func checkRelationships() throws {
        for ordinal in schema.entities {
            let entity = model.entities[ordinal]
            guard let bound = schema.layout.entities[ordinal] else { continue }
            for (index, column) in entity.rowLayout.columns.enumerated() {
                guard let name = bound.columnNames[index] else { continue }
                switch column.role {
                case .destinationKey(let slot) where entity.properties[slot].declaringEntity == ordinal:
                    let property = entity.properties[slot]
                    guard let relationship = property.relationship else { continue }
                    try checkKey(name, of: ordinal, to: relationship.destination, named: property.name, in: bound.table)
                    try checkPresence(of: property, key: name, entity, bound.table)
                    try checkCompanion(slot, key: name, of: entity, bound, relationship)
                    try checkOneToOne(property, key: name, of: entity, bound.table, relationship)
                    try checkOrder(slot, key: name, of: entity, bound)
                case .ownerKey(let source, let slot)
                where model.entities[source].properties[slot].relationship?.destination == ordinal:
                    let property = model.entities[source].name + "." + model.entities[source].properties[slot].name
                    try checkKey(name, of: ordinal, to: source, named: property, in: bound.table)
                default: break
                }
            }
        }
    }

    private mutating func checkKey(
        _ column: String, of entity: Int, to destination: Int, named property: String, in table: String
    ) throws {
        guard let other = self.table(destination) else { return }
        let name = model.entities[destination].name
        try reportRows(
            """
            SELECT s.Z_PK, s.\(identifier: column) FROM \(identifier: table) AS s WHERE s.\(identifier: column) IS NOT NULL \
            AND NOT EXISTS (SELECT 1 FROM \(identifier: other) AS d WHERE d.Z_PK = s.\(identifier: column)) ORDER BY s.Z_PK
            """, .error, entity, property, hint: "set it to nil, or to a row that exists"
        ) { "points to row \($0[1].shown) of \(name), which does not exist" }
        let members = model.entities[destination].subtree.filter { schema.numbers[$0] != nil }
        guard
            members.count
                < schema.entities.filter({ model.entities[$0].root == model.entities[destination].root }).count
        else { return }
        try reportRows(
            """
            SELECT s.Z_PK, s.\(identifier: column), d.Z_ENT FROM \(identifier: table) AS s JOIN \(identifier: other) AS d \
            ON d.Z_PK = s.\(identifier: column) WHERE d.Z_ENT NOT IN (\(numberList(members))) ORDER BY s.Z_PK
            """, .error, entity, property
        ) { "points to row \($0[1].shown), which is of entity number \($0[2].shown), not of \(name)" }
    }

    /// A required relationship has a destination. Apple's own programs leave some without, and fetch them: to save such
    /// an object is what fails.
    private mutating func checkPresence(
        of property: CompiledProperty, key: String, _ entity: CompiledEntity, _ table: String
    ) throws {
        guard !property.isOptional else { return }
        try reportRows(
            """
            SELECT Z_PK FROM \(identifier: table) WHERE \(identifier: key) IS NULL AND Z_ENT IN \
            (\(numberList(entity.subtree))) ORDER BY Z_PK
            """, .warning, entity.ordinal, property.name, hint: "the object cannot be saved before it is set"
        ) { _ in "is required, and nil" }
    }

    /// The companion holds the entity number of the destination row.
    private mutating func checkCompanion(
        _ slot: Int, key: String, of entity: CompiledEntity, _ bound: StoreLayout.Entity,
        _ relationship: CompiledRelationship
    ) throws {
        let index = entity.rowLayout.entityColumnOfSlot[slot]
        guard index >= 0, let companion = bound.columnNames[index], let other = table(relationship.destination) else {
            return
        }
        try reportRows(
            """
            SELECT s.Z_PK, s.\(identifier: companion), d.Z_ENT FROM \(identifier: bound.table) AS s JOIN \
            \(identifier: other) AS d ON d.Z_PK = s.\(identifier: key) WHERE s.\(identifier: companion) IS NOT d.Z_ENT \
            ORDER BY s.Z_PK
            """, .warning, entity.ordinal, entity.properties[slot].name,
            hint: "the entity of the destination row counts"
        ) { "\(companion) is \($0[1].shown), but the row that it points to is of entity number \($0[2].shown)" }
    }

    /// Both sides of a one-to-one have a key; they must agree.
    private mutating func checkOneToOne(
        _ property: CompiledProperty, key: String, of entity: CompiledEntity, _ table: String,
        _ relationship: CompiledRelationship
    ) throws {
        guard let inverse = model.inverse(of: relationship), let back = inverse.relationship, !back.isToMany,
            !inverse.isTransient, let other = schema.layout.entities[relationship.destination]
        else { return }
        let index = model.entities[relationship.destination].rowLayout.columnOfSlot[inverse.slot]
        guard index >= 0, let backKey = other.columnNames[index] else { return }
        try reportRows(
            """
            SELECT s.Z_PK, d.Z_PK, d.\(identifier: backKey) FROM \(identifier: table) AS s JOIN \
            \(identifier: other.table) AS d ON d.Z_PK = s.\(identifier: key) WHERE d.\(identifier: backKey) IS NOT s.Z_PK \
            ORDER BY s.Z_PK
            """, .error, entity.ordinal, property.name, hint: "set one side anew; the other follows"
        ) { "points to row \($0[1].shown), whose '\(inverse.name)' points to \($0[2].shown)" }
    }

    /// A member of an ordered to-many has a position in it.
    private mutating func checkOrder(
        _ slot: Int, key: String, of entity: CompiledEntity, _ bound: StoreLayout.Entity
    ) throws {
        let index = entity.rowLayout.orderColumnOfSlot[slot]
        guard index >= 0, let order = bound.columnNames[index] else { return }
        try reportRows(
            """
            SELECT Z_PK FROM \(identifier: bound.table) WHERE \(identifier: key) IS NOT NULL AND \(identifier: order) \
            IS NULL ORDER BY Z_PK
            """, .warning, entity.ordinal, entity.properties[slot].name, hint: "it comes first, in no certain order"
        ) { _ in "has no position in the ordered relationship that it is in" }
    }

    // MARK: - Uniqueness

    /// Rows that agree in a constraint's properties, where no index prevents it.
    mutating func checkConstraints() throws {
        let statements = (try? schema.indexStatements()) ?? []
        for case .index(let index) in statements where index.isUnique && !isPresent(index) {
            guard let table = catalog.table(index.table) else { continue }
            var columns = SQLText()
            columns.append(identifiers: index.columns.map(\.name))
            var condition = SQLText()
            for (position, column) in index.columns.enumerated() {
                if position > 0 { condition.append(" AND ") }
                condition.append(identifier: column.name)
                condition.append(" IS NOT NULL")
            }
            try reportRows(
                """
                SELECT MIN(Z_PK), COUNT(*) FROM \(identifier: table.name) WHERE \(condition) GROUP BY \(columns) \
                HAVING COUNT(*) > 1 ORDER BY 1
                """, .error, nil, nil, hint: "the constraint cannot be enforced before they differ"
            ) { "\($0[1].shown) rows have the same values of \(index.name)" }
        }
    }

    // MARK: - Join tables

    /// Both ends of every pair exist; a relationship that is its own inverse has each pair in both directions.
    mutating func checkJoinTables() throws {
        for joinTable in schema.joinTables {
            let join = joinTable.join
            let entity = model.entities[joinTable.master.entity]
            let property = entity.properties[joinTable.master.slot]
            let back = model.entities[joinTable.inverse.entity].properties[joinTable.inverse.slot]
            guard let destination = property.relationship?.destination,
                let ownerEntity = back.relationship?.destination
            else { continue }
            for (column, end) in [(join.ownerColumn, ownerEntity), (join.destinationColumn, destination)] {
                guard let other = table(end) else { continue }
                let name = model.entities[end].name
                try reportRows(
                    """
                    SELECT j.\(identifier: column), COUNT(*) FROM \(identifier: join.name) AS j WHERE NOT EXISTS (SELECT 1 \
                    FROM \(identifier: other) AS d WHERE d.Z_PK = j.\(identifier: column)) GROUP BY 1 ORDER BY 1
                    """, .error, entity.ordinal, property.name, hint: "remove these rows of \(join.name)",
                    namesRow: false
                ) {
                    "\($0[1].shown) rows of table \(join.name) point to row \($0[0].shown) of \(name), which does not exist"
                }
            }
            guard joinTable.isSelfInverse else { continue }
            try reportRows(
                """
                SELECT a.\(identifier: join.ownerColumn), a.\(identifier: join.destinationColumn) FROM \
                \(identifier: join.name) AS a WHERE NOT EXISTS (SELECT 1 FROM \(identifier: join.name) AS b WHERE \
                b.\(identifier: join.ownerColumn) = a.\(identifier: join.destinationColumn) AND \
                b.\(identifier: join.destinationColumn) = a.\(identifier: join.ownerColumn)) ORDER BY 1, 2
                """, .warning, entity.ordinal, property.name
            ) { "has row \($0[1].shown), but not the other way round" }
        }
    }
}
