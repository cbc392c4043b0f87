import CoreDataModel
import CoreDataSQL

/// A derived attribute and the triggers that maintain it.
///
/// The triggers of a count and of a to-one key path are identical to Apple's. Those of other derivations are ours, in
/// the same style, because Apple's were not available.
///
///     pages.@count       // in Book: 4 triggers on ZPAGE, 1 on ZBOOK
///     unit.name          // in Item: 2 triggers on ZITEM, 2 on ZUNIT
///     canonical:(name)   // in Item: 2 triggers on ZITEM
struct DerivedAttribute {
    /// The source of the value.
    enum Source {
        /// The time of the save.
        case now
        /// A column of the row itself.
        case own(column: String)
        /// A column of the row that a to-one points to.
        case destination(table: String, column: String, key: String)
        /// The number of rows whose key refers to this row.
        case count(table: String, key: String)
        /// The number of rows of a join table.
        case linkCount(table: String, owner: String)
        /// An aggregate of a column of the rows whose key refers to this row.
        case aggregate(SQLAggregate, table: String, column: String, key: String)
    }

    let entity: CompiledEntity
    let property: CompiledProperty
    let table: String
    let column: String
    let source: Source
    /// The SQL function applied to the value, if any.
    let function: SQLFunction?
    /// The ordinal of the entity that the value is read from.
    let sourceEntity: Int
    /// Whether the source is a boolean, and whether the attribute is: numbers in files, but not in typed columns.
    private let readsTruth: Bool
    private let isTruth: Bool
    /// Whether a count of rows of the attribute's own table is recomputed each time.
    private let countsAnew: Bool

    init(
        schema: SchemaLayout, entity: CompiledEntity, property: CompiledProperty, expression: String
    ) throws {
        let parser = DerivationParser(schema: schema, entity: entity, property: property, text: expression)
        guard property.attribute?.derivationFilter == nil else {
            throw parser.failure("a derivation with a filter predicate is not supported")
        }
        guard let table = schema.table(ofRoot: entity.root)?.name,
            let column = schema.columnName(entity: entity.ordinal, role: .attribute(slot: property.slot))
        else { throw parser.failure("it has no column") }
        self.entity = entity
        self.property = property
        self.table = table
        self.column = column
        let parsed = try parser.parse()
        (source, function, sourceEntity) = (parsed.source, parsed.function, parsed.entity)
        readsTruth = parsed.attribute?.attribute?.type.kind == .boolean
        isTruth = property.attribute?.type.kind == .boolean
        countsAnew = schema.naming != .apples
    }

    func triggers() -> [CreateTrigger] {
        switch source {
        case .now: ownTriggers(value: .function(.now, []), updatedBy: "Z_OPT")
        case .own(let column): ownTriggers(value: wrapped(.column("NEW", column)), updatedBy: column)
        case .destination(let table, let column, let key): keyPathTriggers(table, column, key)
        case .count(let table, let key): countTriggers(table, key)
        case .linkCount(let table, let owner): linkCountTriggers(table, owner)
        case .aggregate(let name, let table, let column, let key): aggregateTriggers(name, table, column, key)
        }
    }

    // MARK: - Apple's triggers

    private func countTriggers(_ other: String, _ key: String) -> [CreateTrigger] {
        if countsAnew, other == table { return recountTriggers(other, key) }
        let target = SQLExpression.column(nil, column)
        let counted = SQLExpression.function(.ifNull, [target, .integer(0)])
        func trigger(
            _ kind: String, _ event: CreateTrigger.Event, _ row: String, _ value: SQLExpression
        ) -> CreateTrigger {
            parameter(kind, event, on: other, requiring: .column(row, key), value, matching: "Z_PK", .column(row, key))
        }
        return [
            trigger("INSERT", .insert, "NEW", .arithmetic(.add, counted, .integer(1))),
            trigger("UPDATE_INCREMENT", .update(of: [key]), "NEW", .arithmetic(.add, target, .integer(1))),
            trigger("UPDATE_DECREMENT", .update(of: [key]), "OLD", .arithmetic(.subtract, target, .integer(1))),
            trigger("DELETE", .delete, "OLD", .arithmetic(.subtract, target, .integer(1))),
            sourceInsert(
                select(
                    .function(.ifNull, [.aggregate(.count, .column(nil, key), distinct: false), .integer(0)]),
                    from: other, where: key, .column("NEW", "Z_PK"))),
        ]
    }

    /// If triggers run at the end of a statement, the same statement may insert an owner with its members. The owner
    /// has then counted all members already when each one would be added.
    private func recountTriggers(_ other: String, _ key: String) -> [CreateTrigger] {
        func count(_ row: String, _ rowColumn: String) -> SQLExpression {
            select(.countAll, from: other, where: key, .column(row, rowColumn))
        }
        func trigger(_ kind: String, _ event: CreateTrigger.Event, _ row: String) -> CreateTrigger {
            parameter(
                kind, event, on: other, requiring: .column(row, key), count(row, key), matching: "Z_PK",
                .column(row, key))
        }
        return [
            trigger("INSERT", .insert, "NEW"), trigger("UPDATE_INCREMENT", .update(of: [key]), "NEW"),
            trigger("UPDATE_DECREMENT", .update(of: [key]), "OLD"), trigger("DELETE", .delete, "OLD"),
            sourceInsert(count("NEW", "Z_PK")),
        ]
    }

    private func keyPathTriggers(_ other: String, _ copied: String, _ key: String) -> [CreateTrigger] {
        let value = select(wrapped(.column(nil, copied)), from: other, where: "Z_PK", .column("NEW", key))
        let pushed = wrapped(.column("NEW", copied))
        return [
            sourceInsert(value),
            source("UPDATE", .update(of: [key]), value),
            parameter("INSERT", .insert, on: other, pushed, matching: key, .column("NEW", "Z_PK"), isInsert: true),
            parameter("UPDATE", .update(of: [copied]), on: other, pushed, matching: key, .column("NEW", "Z_PK")),
        ]
    }

    // MARK: - This library's triggers

    private func ownTriggers(value: SQLExpression, updatedBy cause: String) -> [CreateTrigger] {
        [sourceInsert(value), source("UPDATE", .update(of: [cause]), value)]
    }

    private func linkCountTriggers(_ join: String, _ owner: String) -> [CreateTrigger] {
        func count(_ row: String, _ ownerColumn: String) -> SQLExpression {
            select(.countAll, from: join, where: owner, .column(row, ownerColumn))
        }
        return [
            parameter("INSERT", .insert, on: join, count("NEW", owner), matching: "Z_PK", .column("NEW", owner)),
            parameter("DELETE", .delete, on: join, count("OLD", owner), matching: "Z_PK", .column("OLD", owner)),
            sourceInsert(count("NEW", "Z_PK")),
        ]
    }

    private func aggregateTriggers(
        _ name: SQLAggregate, _ other: String, _ read: String, _ key: String
    ) -> [CreateTrigger] {
        func value(_ row: String, _ rowColumn: String) -> SQLExpression {
            select(total(name, .column(nil, read)), from: other, where: key, .column(row, rowColumn))
        }
        func trigger(_ kind: String, _ event: CreateTrigger.Event, _ row: String) -> CreateTrigger {
            parameter(
                kind, event, on: other, requiring: .column(row, key), value(row, key), matching: "Z_PK",
                .column(row, key))
        }
        return [
            trigger("INSERT", .insert, "NEW"),
            trigger("UPDATE_NEW", .update(of: [key, read]), "NEW"),
            trigger("UPDATE_OLD", .update(of: [key]), "OLD"),
            trigger("DELETE", .delete, "OLD"),
            sourceInsert(value("NEW", "Z_PK")),
        ]
    }

    // MARK: - Parts

    private func sourceInsert(_ value: SQLExpression) -> CreateTrigger {
        source("INSERT", .insert, value, isInsert: true)
    }

    /// Returns a trigger on the attribute's own table.
    private func source(
        _ kind: String, _ event: CreateTrigger.Event, _ value: SQLExpression, isInsert: Bool = false
    ) -> CreateTrigger {
        CreateTrigger(
            name(on: table, "SOURCE_" + kind), after: event, on: table,
            steps(value, matching: "Z_PK", .column("NEW", "Z_PK"), isInsert: isInsert))
    }

    /// Returns a trigger on the table that the value is read from.
    private func parameter(
        _ kind: String, _ event: CreateTrigger.Event, on other: String, requiring required: SQLExpression? = nil,
        _ value: SQLExpression, matching key: String, _ match: SQLExpression, isInsert: Bool = false
    ) -> CreateTrigger {
        CreateTrigger(
            name(on: other, "PARAMETER_" + kind), after: event, on: other, requiring: required,
            steps(value, matching: key, match, isInsert: isInsert))
    }

    /// Returns the steps that set the column and report the changed rows.
    private func steps(
        _ value: SQLExpression, matching key: String, _ match: SQLExpression, isInsert: Bool
    ) -> [CreateTrigger.Step] {
        let condition = SQLExpression.comparison(.equal, .column(nil, key), match)
        let report = SQLExpression.function(
            isInsert ? .derivedAttributeInserted : .derivedAttributeUpdated,
            [
                .bind(.text(table)), .column(nil, "Z_ENT"), .column(nil, "Z_PK"), .bind(.text(property.name)),
                .column(nil, column),
            ])
        return [
            .update(table, set: column, to: value, where: condition),
            .select(report, from: table, where: condition),
        ]
    }

    private func select(
        _ value: SQLExpression, from other: String, where key: String, _ match: SQLExpression
    ) -> SQLExpression {
        var statement = SelectStatement([.init(value)], from: .init(other, as: other))
        statement.condition = .comparison(.equal, .column(nil, key), match)
        return .scalar(statement)
    }

    /// Converts a value that was read to the type of the attribute's column.
    func wrapped(_ value: SQLExpression) -> SQLExpression {
        if let function { return .function(function, [value]) }
        guard readsTruth != isTruth else { return value }
        return .function(readsTruth ? .number : .truth, [value])
    }

    /// Returns the aggregate: the sum of no values is 0, as in memory; the minimum of none is nil.
    func total(_ name: SQLAggregate, _ value: SQLExpression) -> SQLExpression {
        let aggregate = SQLExpression.aggregate(
            name, readsTruth ? .function(.number, [value]) : value, distinct: false)
        let total = name == .sum ? .function(.ifNull, [aggregate, .integer(0)]) : aggregate
        return isTruth ? .function(.truth, [total]) : total
    }

    private func name(on triggerTable: String, _ kind: String) -> String {
        "Z_DA_\(triggerTable)_\(entity.name)_\(property.name)_\(kind)"
    }
}
