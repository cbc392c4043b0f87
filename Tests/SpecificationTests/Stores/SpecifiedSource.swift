import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import Testing

/// An empty source of one test, in the words of its model.
///
///     try library.save { $0.insertions = [library.insertion("Book", 1, ["title": .string("One")])] }
///     try library.keys("Book", "title == 'One'")     // [1]
final class SpecifiedSource {
    let model: CompiledModel
    private(set) var opened: OpenedStore
    var source: any RowSource { opened.source }

    init(_ opened: OpenedStore, model: CompiledModel) {
        self.opened = opened
        self.model = model
    }

    /// Closes the source and opens it again.
    func reopen(isReadOnly: Bool = false) throws {
        let reopen = try #require(opened.reopen, "the store ends when it is closed")
        opened = try reopen(isReadOnly)
    }

    // MARK: Names

    func entity(_ name: String) -> CompiledEntity {
        guard let entity = model.entity(named: name) else { preconditionFailure("no entity \(name)") }
        return entity
    }

    func root(_ name: String) -> Int { entity(name).root }

    func slot(_ entity: String, _ property: String) -> Int {
        guard let slot = self.entity(entity).slotByName[property] else { preconditionFailure("no \(property)") }
        return slot
    }

    func key(_ entity: String, _ primaryKey: Int64) -> RowKey {
        RowKey(entity: self.entity(entity).ordinal, primaryKey: primaryKey)
    }

    /// A row, as a value of a to-one relationship and of a column.
    func reference(_ entity: String, _ primaryKey: Int64) -> Value { Self.reference(key(entity, primaryKey)) }

    static func reference(_ key: RowKey) -> Value { .opaque(OpaqueValue(key) { $0.object as? RowKey == key }) }

    // MARK: Rows

    /// A row with values by name: of attributes; of to-ones, see ``reference(_:_:)``; `"order of book"` for the place in the
    /// ordered relationship that is the inverse; `"Shelf.picks"` and `"order of Shelf.picks"` for the owner in a to-many without
    /// inverse.
    func row(_ name: String, _ key: Int64, version: Int32 = 1, _ values: [String: Value] = [:]) -> RowSnapshot {
        let entity = entity(name)
        let builder = RowBuilder(columnCount: entity.rowLayout.columns.count)
        for (name, value) in values { set(name, value, of: entity, builder) }
        return builder.finish(primaryKey: key, version: version, entity: entity.ordinal)
    }

    private func set(_ name: String, _ value: Value, of entity: CompiledEntity, _ builder: RowBuilder) {
        let layout = entity.rowLayout
        let isOrder = name.hasPrefix("order of ")
        let parts = (isOrder ? String(name.dropFirst("order of ".count)) : name).split(separator: ".").map(String.init)
        if parts.count == 2 {
            let (owner, slot) = (self.entity(parts[0]).ordinal, self.slot(parts[0], parts[1]))
            let role: RowLayout.Role =
                isOrder ? .ownerOrder(entity: owner, slot: slot) : .ownerKey(entity: owner, slot: slot)
            guard let column = layout.column(of: role) else { preconditionFailure("no column for \(name)") }
            return set(value, .integer, at: column, builder)
        }
        guard let slot = entity.slotByName[parts[0]] else { preconditionFailure("no property \(name)") }
        let column = isOrder ? layout.orderColumnOfSlot[slot] : layout.columnOfSlot[slot]
        precondition(column >= 0, "no column for \(name)")
        if case .opaque(let box) = value, let key = box.object as? RowKey {
            builder.setInteger(key.primaryKey, at: column)
            let entityColumn = layout.entityColumnOfSlot[slot]
            if entityColumn >= 0 { builder.setInteger(source.number(ofEntity: key.entity), at: entityColumn) }
        } else {
            set(value, layout.kinds[column], at: column, builder)
        }
    }

    private func set(_ value: Value, _ kind: ColumnKind, at column: Int, _ builder: RowBuilder) {
        switch value {
        case .null: builder.setNull(at: column)
        case .integer(let value): builder.setInteger(value, at: column)
        case .double(let value), .date(let value): builder.setReal(value, at: column)
        case .decimal(let value): builder.setText(value.description, at: column)
        case .string(let value), .uri(let value): builder.setText(value, at: column)
        case .data(let value): value.withUnsafeBytes { builder.setBytes($0, at: column) }
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { builder.setBytes($0, at: column) }
        case .opaque: preconditionFailure("no such value in a row")
        }
    }

    func insertion(_ name: String, _ key: Int64, _ values: [String: Value] = [:]) -> ChangeSet.Insertion {
        .init(row: row(name, key, values))
    }

    func update(
        _ name: String, _ key: Int64, version: Int32 = 1, _ old: [String: Value], _ new: [String: Value]
    ) -> ChangeSet.Update {
        .init(old: row(name, key, version: version, old), new: row(name, key, version: version + 1, new))
    }

    func deletion(_ name: String, _ key: Int64, version: Int32 = 1) -> ChangeSet.Deletion {
        .init(key: self.key(name, key), version: version)
    }

    func link(
        _ kind: ChangeSet.Link.Kind, _ entity: String, _ property: String, _ owner: Int64, _ destination: Int64,
        order: Int64? = nil, inverseOrder: Int64? = nil
    ) -> ChangeSet.Link {
        .init(
            kind, entity: self.entity(entity).ordinal, slot: slot(entity, property), owner: owner,
            destination: destination, order: order, inverseOrder: inverseOrder)
    }

    // MARK: Saving

    @discardableResult
    func save(keys: [Int: Int] = [:], _ change: (inout ChangeSet) throws -> Void) throws -> SaveOutcome {
        try source.save(keys: keys) { _ in
            var changes = ChangeSet()
            try change(&changes)
            return changes
        }
    }

    func insert(_ insertions: ChangeSet.Insertion...) throws { try save { $0.insertions = insertions } }

    func failure(_ change: (inout ChangeSet) throws -> Void) -> (any Error)? {
        do {
            try save(change)
            return nil
        } catch {
            return error
        }
    }

    func conflicts(_ change: (inout ChangeSet) throws -> Void) -> [SaveFailure.Conflict] {
        guard case .conflicts(let conflicts)? = failure(change) as? SaveFailure else { return [] }
        return conflicts
    }

    func violations(_ change: (inout ChangeSet) throws -> Void) -> [SaveFailure.ConstraintViolation] {
        guard case .constraints(let violations)? = failure(change) as? SaveFailure else { return [] }
        return violations
    }

    // MARK: Asking

    func plan(_ entity: String, _ format: String? = nil, _ arguments: [FormatArgument] = []) throws -> FetchPlan {
        var plan = FetchPlan(entity: self.entity(entity).ordinal)
        if let format { plan.predicate = try PredicateParser.parse(format: format, arguments: arguments) }
        return plan
    }

    /// The keys that a predicate selects, ascending.
    func keys(_ entity: String, _ format: String? = nil, _ arguments: [FormatArgument] = []) throws -> [Int64] {
        try source.keys(plan(entity, format, arguments)).map(\.primaryKey).sorted()
    }

    /// Keys in the order that `"-name"`, `"author.name"`, `"name localizedCompare:"` ask for.
    func keys(_ entity: String, by sorts: String..., offset: Int = 0, limit: Int = 0) throws -> [Int64] {
        try source.keys(sorted(plan(entity), by: sorts, offset: offset, limit: limit)).map(\.primaryKey)
    }

    func sorted(_ plan: FetchPlan, by sorts: [String], offset: Int = 0, limit: Int = 0) -> FetchPlan {
        var plan = plan
        plan.sorts = sorts.map { text in
            let words = text.split(separator: " ").map(String.init)
            let path = words[0].drop { $0 == "-" }.split(separator: ".").map(String.init)
            let order = words.count > 1 ? FetchPlan.Sort.Comparison(rawValue: words[1]) : .literal
            return FetchPlan.Sort(
                keyPath: path, isAscending: !text.hasPrefix("-"), comparison: order ?? .literal)
        }
        plan.offset = offset
        plan.limit = limit
        return plan
    }

    func rows(_ plan: FetchPlan) throws -> [RowSnapshot] {
        var rows: [RowSnapshot] = []
        try source.fetchRows(plan) { rows += $0 }
        return rows
    }

    func row(_ entity: String, _ key: Int64) throws -> RowSnapshot? {
        try source.row(key, root: root(entity), staleness: -1)
    }

    /// What the row has for a property: an attribute's value, or a to-one's row.
    func value(_ name: String, of row: RowSnapshot) -> Value {
        let entity = model.entities[row.entity]
        guard let property = entity.property(named: name) else { preconditionFailure("no property \(name)") }
        let column = entity.rowLayout.columnOfSlot[property.slot]
        if let attribute = property.attribute { return row.value(column, attribute.type.kind) }
        guard column >= 0, !row.isNull(column), let relationship = property.relationship else { return .null }
        let entityColumn = entity.rowLayout.entityColumnOfSlot[property.slot]
        let destination = entityColumn < 0 ? nil : source.entity(numbered: row.integer(entityColumn))
        return Self.reference(
            RowKey(entity: destination ?? relationship.destination, primaryKey: row.integer(column)))
    }

    /// As above, as a fetch reads it now.
    func value(_ name: String, of entity: String, _ key: Int64) throws -> Value {
        let row = try #require(try rows(plan(entity)).first { $0.primaryKey == key }, "no row \(entity) \(key)")
        return value(name, of: row)
    }

    func members(_ entity: String, _ property: String, _ owners: Int64...) throws -> [[Int64]] {
        let found = try source.destinationRows(
            entity: self.entity(entity).ordinal, slot: slot(entity, property), owners: owners)
        #expect(found.map(\.owner) == owners)
        return found.map { $0.rows.map(\.primaryKey) }
    }

    func column(_ format: String, as name: String? = nil) throws -> FetchColumn {
        FetchColumn(name: name ?? format, expression: try PredicateParser.parseExpression(format: format))
    }

    func tuples(
        _ plan: FetchPlan, _ formats: [String], distinct: Bool = false, groupBy: [String] = [], having: String? = nil
    ) throws -> [[Value]] {
        let columns = try formats.map { format in
            // `total: sum:(pages)`
            let parts = format.components(separatedBy: ": ")
            return try column(parts.last ?? format, as: parts.first)
        }
        var tuples: [[Value]] = []
        try source.forEachTuple(
            plan, columns: columns, distinct: distinct,
            groupBy: try groupBy.map { try PredicateParser.parseExpression(format: $0) },
            having: try having.map { try PredicateParser.parse(format: $0) }
        ) { tuple in tuples.append(columns.indices.map { tuple[$0] }) }
        return tuples
    }

    /// Everything in the store, in one text: rows with versions and values, members, metadata.
    func dump() throws -> [String] {
        var lines: [String] = []
        for root in model.entities where root.parent == nil {
            for row in try rows(FetchPlan(entity: root.ordinal)).sorted(by: { $0.primaryKey < $1.primaryKey }) {
                let entity = model.entities[row.entity]
                let words = row.columnCount == 0 ? [] : (0..<row.columnCount).map { describe(row, $0, entity) }
                lines.append("\(entity.name) \(row.primaryKey) v\(row.version): \(words.joined(separator: ", "))")
                for property in entity.properties where property.relationship?.isToMany == true {
                    let found = try source.destinationRows(
                        entity: entity.ordinal, slot: property.slot, owners: [row.primaryKey])
                    lines.append("  \(property.name): \(found.flatMap(\.rows).map(\.primaryKey))")
                }
            }
        }
        let metadata = try source.metadata()
        // Dictionaries have no order: by their descriptions, sorted.
        let entries = metadata.metadata.dictionary.map { "\($0): \($1)" }.sorted()
        return lines + [metadata.identifier] + entries.map(Self.inOrder)
    }

    private static func inOrder(_ text: String) -> String { String(text.sorted()) }

    private func describe(_ row: RowSnapshot, _ column: Int, _ entity: CompiledEntity) -> String {
        if row.isNull(column) { return "-" }
        switch entity.rowLayout.kinds[column] {
        case .integer: return "\(row.integer(column))"
        case .real: return "\(row.real(column))"
        case .text: return "'\(row.text(column))'"
        case .blob: return row.withBytes(column) { "\(Array($0))" }
        }
    }
}
