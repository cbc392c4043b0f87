import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension StoreEngine {
    /// Returns the members of a to-many relationship for each of the owners, in the owners' order.
    ///
    /// Members of an ordered relationship are in its order, others by primary key. It runs one statement for up to 500
    /// owners; an owner without members has an empty list.
    ///
    ///     // SELECT t0.ZUNIT, t0.Z_PK, t0.Z_ENT FROM ZITEM t0 WHERE t0.ZUNIT IN (?, …) ORDER BY t0.ZUNIT, t0.Z_PK
    ///
    /// - Throws: ``PredicateFailure`` if the property is not a to-many relationship of the entity.
    package func destinationKeys(
        entity: Int, slot: Int, owners: [Int64]
    ) throws -> [(owner: Int64, keys: [RowKey])] {
        let planner = try DestinationPlanner(entity: entity, slot: slot, model: model, layout: layout, dialect: dialect)
        var members = Members<RowKey>(owners)
        for part in owners.parts(in: dialect) {
            try run(planner.keys(part.sizeClass), part) { statement, owner in
                members.append(key(statement, at: 1, of: planner.destination), to: owner)
            }
        }
        return members.lists.map { (owner: $0.owner, keys: $0.members) }
    }

    /// Returns the members' whole rows, otherwise like ``destinationKeys(entity:slot:owners:)``: for prefetching.
    ///
    /// A row that several owners share is one instance. Rows that contexts hold at this version are the same instances.
    package func destinationRows(
        entity: Int, slot: Int, owners: [Int64]
    ) throws -> [(owner: Int64, rows: [RowSnapshot])] {
        let planner = try DestinationPlanner(entity: entity, slot: slot, model: model, layout: layout, dialect: dialect)
        let decoder = RowDecoder(planner.shape, first: 1, externalData: externalData)
        let moment = rowCache.moment
        var members = Members<RowSnapshot>(owners)
        var known: [Int64: RowSnapshot] = [:]
        for part in owners.parts(in: dialect) {
            try run(planner.rows(part.sizeClass), part) { statement, owner in
                guard planner.sharesMembers else {
                    members.append(try decoder.row(statement), to: owner)
                    return
                }
                let key = statement.integer(1)
                let row = try known[key] ?? decoder.row(statement)
                known[key] = row
                members.append(row, to: owner)
            }
        }
        return members.lists.map { list in
            var rows = list.members
            rowCache.adopt(&rows, readSince: moment, at: clock.now)
            return (owner: list.owner, rows: rows)
        }
    }

    /// Runs the statement with the owners bound; the first column of each result is the owner.
    private func run(
        _ select: SelectStatement, _ part: OwnersPart, _ row: (any SQLStatement, Int64) throws -> Void
    ) throws {
        try reading {
            try database.read { connection in
                let statement = try connection.statement(select)
                defer { statement.reset() }
                try part.sizeClass.bind(part.owners, to: statement)
                while try statement.step() { try row(statement, statement.integer(0)) }
            }
        }
    }
}

/// Makes the statements that read the members of a to-many relationship.
struct DestinationPlanner {
    let destination: Int
    let shape: RowShape
    /// Whether a row may belong to several owners.
    let sharesMembers: Bool
    private let entity: Int
    private let model: CompiledModel
    private let layout: StoreLayout
    private let dialect: SQLDialect
    private let property: CompiledProperty
    private let relationship: CompiledRelationship

    init(entity: Int, slot: Int, model: CompiledModel, layout: StoreLayout, dialect: SQLDialect) throws {
        let compiled = model.entities[entity]
        guard compiled.properties.indices.contains(slot),
            let relationship = compiled.properties[slot].relationship, relationship.isToMany
        else {
            let name = compiled.properties.indices.contains(slot) ? compiled.properties[slot].name : "\(slot)"
            throw PredicateFailure(
                .unsupported, Diagnostic(.error, "'\(name)' of entity '\(compiled.name)' is no to-many relationship"))
        }
        self.entity = entity
        self.model = model
        self.layout = layout
        self.dialect = dialect
        self.relationship = relationship
        property = compiled.properties[slot]
        destination = relationship.destination
        let context = QueryContext(model: model, layout: layout, dialect: dialect)
        shape = try RowShape(of: destination, true, context)
        sharesMembers = context.joinTable(of: property) != nil
    }

    /// Returns the statement for the owner, `Z_PK` and `Z_ENT` of each member.
    func keys(_ sizeClass: SizeClass) throws -> SelectStatement {
        try members(sizeClass) { alias in
            ["Z_PK", "Z_ENT"].map { .column(alias, $0) }
        }
    }

    /// Returns the statement for the owner and whole row of each member.
    func rows(_ sizeClass: SizeClass) throws -> SelectStatement {
        try members(sizeClass) { shape.selection(from: $0) }
    }

    private func members(
        _ sizeClass: SizeClass, _ columns: (String) -> [SQLExpression]
    ) throws -> SelectStatement {
        let context = QueryContext(model: model, layout: layout, dialect: dialect)
        let source = try ToManyStep(property, relationship, of: entity, context).source()
        var alias = source.scope.alias
        if source.row.alias == nil {
            let table = try context.table(of: destination)
            alias = source.scope.join(.inner, table) { .comparison(.equal, .column($0, "Z_PK"), source.row.key) }
        }
        source.scope.require(sizeClass.condition(on: source.owner))
        var statement = source.scope.select([source.owner] + columns(alias))
        let order = [source.owner, source.order, .column(alias, "Z_PK")]
        statement.orders = order.compactMap { $0.map { SelectStatement.Order($0) } }
        return statement
    }
}

/// The owners of one statement.
struct OwnersPart {
    var owners: ArraySlice<Int64>
    var sizeClass: SizeClass
}

extension [Int64] {
    /// Divides the owners into groups of as many as one statement supports.
    func parts(in dialect: SQLDialect) -> [OwnersPart] {
        var parts: [OwnersPart] = []
        var rest = self[...]
        while !rest.isEmpty {
            let sizeClass = SizeClass(for: rest.count, in: dialect)
            parts.append(OwnersPart(owners: rest.prefix(sizeClass.size), sizeClass: sizeClass))
            rest = rest.dropFirst(sizeClass.size)
        }
        return parts
    }
}

/// Collects members by owner.
private struct Members<Member> {
    private(set) var lists: [(owner: Int64, members: [Member])]
    private let places: [Int64: Int]
    private var last: (owner: Int64, place: Int)?

    init(_ owners: [Int64]) {
        var lists: [(owner: Int64, members: [Member])] = []
        var places: [Int64: Int] = [:]
        for owner in owners where places[owner] == nil {
            places[owner] = lists.count
            lists.append((owner, []))
        }
        self.lists = lists
        self.places = places
    }

    /// Appends a member; the members of one owner are adjacent.
    mutating func append(_ member: Member, to owner: Int64) {
        if last?.owner != owner {
            guard let place = places[owner] else { return }
            last = (owner, place)
        }
        if let last { lists[last.place].members.append(member) }
    }
}
