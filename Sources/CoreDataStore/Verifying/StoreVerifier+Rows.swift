import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

extension StoreVerifier {
    /// Checks entity numbers, versions and the counter of each table.
    mutating func checkRows() throws {
        for table in schema.tables {
            guard let name = schema.layout.entities[table.root]?.table else { continue }
            let members = schema.entities.filter { model.entities[$0].root == table.root }
            let concrete = members.filter { !model.entities[$0].isAbstract }
            let number = SQLExpression.column(nil, "Z_ENT")
            try reportRows(
                .report(
                    [.key(), number], from: name, where: .or([.isNull(number), .not(isOne(of: members, number))])),
                .error, table.root, nil, hint: "no entity of this table has that number; the row cannot be fetched"
            ) { "its entity number is \($0[1].shown)" }
            if concrete.count < members.count {
                let abstract = members.filter { model.entities[$0].isAbstract }
                try reportRows(
                    .report([.key()], from: name, where: isOne(of: abstract, number)), .warning, table.root, nil
                ) { _ in "is of an abstract entity" }
            }
            let version = connection.dialect.stored("Z_OPT")
            try reportRows(
                .report([.key()], from: name, where: .isNull(.column(nil, "Z_OPT"))), .warning, table.root, nil,
                hint: "a save of this row would find a conflict"
            ) { _ in "has no version number (\(version))" }
            try checkCounter(of: table, named: name)
        }
    }

    /// Checks that values have their attributes' storage class: SQLite converts others when reading, for example a text
    /// to 0.
    mutating func checkKinds() throws {
        // Typed columns contain no other values.
        guard !connection.dialect.typesValues else { return }
        for stored in storedAttributes {
            let kinds = Self.storageClasses(of: stored.kind, stored.property.attribute?.type)
            let found = SQLExpression.function(.storageClass, [.column(nil, stored.column)])
            try reportRows(
                .report(
                    [.key(), found], from: stored.table,
                    where: .not(.inList(found, (kinds + ["null"]).map { .bind(.text($0)) }))),
                .warning, stored.property.declaringEntity, stored.property.name,
                hint: "set it anew: what is read, and written by an export, may be another value"
            ) { "has a value of another kind than its attribute: \($0[1].shown)" }
        }
    }

    /// An attribute that has a column, of its declaring entity.
    struct StoredAttribute {
        let property: CompiledProperty
        let kind: ColumnKind
        let table: String
        let column: String
    }

    var storedAttributes: [StoredAttribute] {
        schema.entities.flatMap { ordinal -> [StoredAttribute] in
            let entity = model.entities[ordinal]
            guard let bound = schema.layout.entities[ordinal] else { return [] }
            return entity.rowLayout.columns.enumerated().compactMap { index, column in
                guard case .attribute(let slot) = column.role, let name = bound.columnNames[index],
                    entity.properties[slot].declaringEntity == ordinal
                else { return nil }
                return StoredAttribute(
                    property: entity.properties[slot], kind: column.kind, table: bound.table, column: name)
            }
        }
    }

    private static func storageClasses(of kind: ColumnKind, _ type: AttributeType?) -> [String] {
        switch kind {
        case .integer: ["integer"]
        case .real: ["real", "integer"]
        case .text: type == .decimal ? ["integer", "real", "text"] : ["text"]
        case .blob: ["blob"]
        }
    }

    private mutating func checkCounter(of table: SchemaTable, named name: String) throws {
        guard let number = schema.numbers[table.root],
            let row = numbers.first(where: { $0.number == number }),
            case .integer(let highest)? = try connection.rows(
                SelectStatement([.init(.aggregate(.maximum, .key(), distinct: false))], from: .init(name))
            ).first?.first,
            highest > row.maximum
        else { return }
        report(
            .warning, table.root, nil,
            "the highest primary key handed out is said to be \(row.maximum), but there is a row \(highest)",
            hint: "keys are then counted from the rows")
    }

    /// Returns `Z_ENT IN (1, 2, 5)`.
    func isOne(of entities: [Int], _ number: SQLExpression) -> SQLExpression {
        .inList(number, entities.compactMap { schema.numbers[$0] }.map(SQLExpression.integer))
    }

    // MARK: - To-one relationships

    /// Checks that every foreign key refers to an existing row of the right entity, companions agree, and one-to-ones
    /// refer back.
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
        let key = SQLExpression.column("s", column)
        try reportRows(
            .report(
                [.key("s"), key], from: table,
                where: .and([
                    .isNotNull(key), .not(.exists(.rows(of: other, where: .comparison(.equal, .key("d"), key)))),
                ])),
            .error, entity, property, hint: "set it to nil, or to a row that exists"
        ) { "points to row \($0[1].shown) of \(name), which does not exist" }
        let members = model.entities[destination].subtree.filter { schema.numbers[$0] != nil }
        guard
            members.count
                < schema.entities.filter({ model.entities[$0].root == model.entities[destination].root }).count
        else { return }
        try reportRows(
            .report(
                [.key("s"), key, .column("d", "Z_ENT")], from: table, joining: other, on: key,
                where: .not(isOne(of: members, .column("d", "Z_ENT")))), .error, entity, property
        ) { "points to row \($0[1].shown), which is of entity number \($0[2].shown), not of \(name)" }
    }

    /// Checks that a required relationship has a destination. Apple's own programs omit some and still fetch the
    /// objects; only saving such an object fails.
    private mutating func checkPresence(
        of property: CompiledProperty, key: String, _ entity: CompiledEntity, _ table: String
    ) throws {
        guard !property.isOptional else { return }
        try reportRows(
            .report(
                [.key()], from: table,
                where: .and([.isNull(.column(nil, key)), isOne(of: entity.subtree, .column(nil, "Z_ENT"))])), .warning,
            entity.ordinal, property.name, hint: "the object cannot be saved before it is set"
        ) { _ in "is required, and nil" }
    }

    /// Checks that the companion contains the entity number of the destination row.
    private mutating func checkCompanion(
        _ slot: Int, key: String, of entity: CompiledEntity, _ bound: StoreLayout.Entity,
        _ relationship: CompiledRelationship
    ) throws {
        let index = entity.rowLayout.entityColumnOfSlot[slot]
        guard index >= 0, let companion = bound.columnNames[index], let other = table(relationship.destination) else {
            return
        }
        try reportRows(
            .report(
                [.key("s"), .column("s", companion), .column("d", "Z_ENT")], from: bound.table, joining: other,
                on: .column("s", key),
                where: .comparison(.notIdentical, .column("s", companion), .column("d", "Z_ENT"))), .warning,
            entity.ordinal, entity.properties[slot].name,
            hint: "the entity of the destination row counts"
        ) { "\(companion) is \($0[1].shown), but the row that it points to is of entity number \($0[2].shown)" }
    }

    /// Checks that both sides of a one-to-one agree. Apple's own apps (Notes) leave pairs of which one side is nil:
    /// each side is fetched as its row says, and no data is lost.
    private mutating func checkOneToOne(
        _ property: CompiledProperty, key: String, of entity: CompiledEntity, _ table: String,
        _ relationship: CompiledRelationship
    ) throws {
        guard let inverse = model.inverse(of: relationship), let back = inverse.relationship, !back.isToMany,
            !inverse.isTransient, let other = schema.layout.entities[relationship.destination]
        else { return }
        let index = model.entities[relationship.destination].rowLayout.columnOfSlot[inverse.slot]
        guard index >= 0, let backKey = other.columnNames[index] else { return }
        let isOther = SQLExpression.comparison(.notIdentical, .column("d", backKey), .key("s"))
        for (isKind, severity): (SQLExpression, Finding.Severity) in [
            (.isNotNull(.column("d", backKey)), .error), (.isNull(.column("d", backKey)), .warning),
        ] {
            try reportRows(
                .report(
                    [.key("s"), .key("d"), .column("d", backKey)], from: table, joining: other.table,
                    on: .column("s", key), where: .and([isOther, isKind])), severity, entity.ordinal, property.name,
                hint: "set one side anew; the other follows"
            ) { "points to row \($0[1].shown), whose '\(inverse.name)' points to \($0[2].shown)" }
        }
    }

    /// Checks that each member of an ordered to-many has a position.
    private mutating func checkOrder(
        _ slot: Int, key: String, of entity: CompiledEntity, _ bound: StoreLayout.Entity
    ) throws {
        let index = entity.rowLayout.orderColumnOfSlot[slot]
        guard index >= 0, let order = bound.columnNames[index] else { return }
        try reportRows(
            .report(
                [.key()], from: bound.table,
                where: .and([.isNotNull(.column(nil, key)), .isNull(.column(nil, order))])), .warning, entity.ordinal,
            entity.properties[slot].name, hint: "it comes first, in no certain order"
        ) { _ in "has no position in the ordered relationship that it is in" }
    }

    // MARK: - Uniqueness

    /// Finds rows with equal values of a constraint's properties, if no index prevents it.
    mutating func checkConstraints() throws {
        let statements = (try? schema.indexStatements()) ?? []
        for case .index(let index) in statements where index.isUnique && !isPresent(index) {
            guard let table = catalog.table(index.table) else { continue }
            let first = SQLExpression.aggregate(.minimum, .key(), distinct: false)
            var query = SelectStatement([.init(first), .init(.countAll)], from: .init(table.name))
            query.groups = index.columns.map { .column(nil, $0.name) }
            query.condition = .and(query.groups.map(SQLExpression.isNotNull))
            query.having = .comparison(.greater, .countAll, .integer(1))
            query.orders = [.init(first)]
            try reportRows(
                query, .error, nil, nil, hint: "the constraint cannot be enforced before they differ"
            ) { "\($0[1].shown) rows have the same values of \(index.name)" }
        }
    }

    // MARK: - Join tables

    /// Checks that both ends of every pair exist, and that a relationship that is its own inverse has each pair in both
    /// directions. Apple's own apps leave pairs with a deleted row (merge candidates in Photos): the members are
    /// fetched without it, so no data is lost.
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
                let key = SQLExpression.column("s", column)
                var query = SelectStatement([.init(key), .init(.countAll)], from: .init(join.name, as: "s"))
                query.condition = .not(.exists(.rows(of: other, where: .comparison(.equal, .key("d"), key))))
                query.groups = [key]
                query.orders = [.init(key)]
                try reportRows(
                    query, .warning, entity.ordinal, property.name, hint: "remove these rows of \(join.name)",
                    namesRow: false
                ) {
                    "\($0[1].shown) rows of table \(join.name) point to row \($0[0].shown) of \(name), which does not exist"
                }
            }
            guard joinTable.isSelfInverse else { continue }
            let (owner, destinationKey) = (join.ownerColumn, join.destinationColumn)
            let ends = [SQLExpression.column("s", owner), .column("s", destinationKey)]
            let mirrored = SQLExpression.and([
                .comparison(.equal, .column("d", owner), ends[1]),
                .comparison(.equal, .column("d", destinationKey), ends[0]),
            ])
            var query = SelectStatement(ends.map { .init($0) }, from: .init(join.name, as: "s"))
            query.condition = .not(.exists(.rows(of: join.name, where: mirrored)))
            query.orders = ends.map { .init($0) }
            try reportRows(
                query, .warning, entity.ordinal, property.name
            ) { "has row \($0[1].shown), but not the other way round" }
        }
    }
}

extension SQLExpression {
    /// Returns the key of a row.
    fileprivate static func key(_ alias: String? = nil) -> SQLExpression { .column(alias, "Z_PK") }
}

extension SelectStatement {
    /// Returns a query for rows `s` of a table by key, optionally each with the row `d` that one of their keys refers
    /// to.
    fileprivate static func report(
        _ columns: [SQLExpression], from table: String, joining other: String? = nil, on key: SQLExpression? = nil,
        where condition: SQLExpression
    ) -> SelectStatement {
        var select = SelectStatement(columns.map { .init($0) }, from: .init(table, as: "s"))
        if let other, let key {
            select.joins = [.init(.inner, .init(other, as: "d"), on: .comparison(.equal, .key("d"), key))]
        }
        select.condition = condition
        select.orders = [.init(.key("s"))]
        return select
    }

    /// Returns `SELECT 1 FROM table d WHERE …`.
    fileprivate static func rows(of table: String, where condition: SQLExpression) -> SelectStatement {
        var select = SelectStatement([.init(.integer(1))], from: .init(table, as: "d"))
        select.condition = condition
        return select
    }
}
