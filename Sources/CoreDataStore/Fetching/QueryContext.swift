import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

/// The state of one translation: the model, its layout in tables, and the next unused alias.
final class QueryContext {
    let model: CompiledModel
    let layout: StoreLayout
    /// The value of `now()`: one time for a whole statement, in seconds since 2001-01-01 UTC.
    let now: Double
    let dialect: SQLDialect
    /// The rows and values that the statement may read; `nil` for all, and while a condition of it is translated.
    var security: RowSecurity?
    private var aliasCount = 0
    /// The maximum number of joined tables in one SELECT, and whether a SELECT exceeds it.
    var maximumJoinedTables: Int { dialect.maximumJoinedTables }
    private(set) var joinsTooMany = false

    init(model: CompiledModel, layout: StoreLayout, now: Double = 0, dialect: SQLDialect) {
        self.model = model
        self.layout = layout
        self.now = now
        self.dialect = dialect
    }

    /// Returns `t0`, `t1`, … in the order of the calls, so that equal plans give equal text.
    func makeAlias() -> String {
        defer { aliasCount += 1 }
        return "t\(aliasCount)"
    }

    /// Records the number of tables in a SELECT.
    func noteTables(_ count: Int) {
        if count > maximumJoinedTables { joinsTooMany = true }
    }

    // MARK: Layout

    func table(of entity: Int) throws -> String { try stored(entity).table }

    func number(of entity: Int) throws -> Int64 { try stored(entity).number }

    /// Returns the table's column for the role; `nil` if the store has none and every row reads as NULL.
    func column(_ role: RowLayout.Role, of entity: Int) throws -> String? {
        guard let index = model.entities[entity].rowLayout.column(of: role) else { return nil }
        return try stored(entity).columnNames[index]
    }

    /// Returns the column of an attribute's value or of a to-one's destination key.
    func column(ofSlot slot: Int, of entity: Int) throws -> String? {
        let index = model.entities[entity].rowLayout.columnOfSlot[slot]
        return index < 0 ? nil : try stored(entity).columnNames[index]
    }

    /// Returns whether an index starts with the property.
    func isIndexed(slot: Int, of entity: Int) -> Bool {
        var current: Int? = entity
        while let ordinal = current {
            let entity = model.entities[ordinal]
            if entity.fetchIndexes.contains(where: { $0.elements.first?.slot == slot }) { return true }
            if entity.uniquenessConstraints.contains(where: { $0.first == slot }) { return true }
            current = entity.parent
        }
        return false
    }

    /// Returns the search index of the column.
    func searchIndex(ofColumn column: String, of entity: Int) throws -> SearchIndex? {
        guard !layout.searchIndexes.isEmpty else { return nil }
        let wanted = SearchIndex(trigramsOf: column, in: try table(of: entity))
        return layout.searchIndexes.contains(wanted) ? wanted : nil
    }

    func joinTable(of property: CompiledProperty) -> StoreLayout.JoinTable? {
        layout.joinTables[.init(entity: property.declaringEntity, slot: property.slot)]
    }

    /// Returns the ordinals of the entities whose rows a fetch of `entity` returns, ascending: those that have rows and
    /// are in this store.
    func rowEntities(of entity: Int, includesSubentities: Bool = true) -> [Int] {
        let candidates = includesSubentities ? model.entities[entity].subtree : [entity]
        return candidates.filter { layout.entities[$0] != nil && !model.entities[$0].isAbstract }
    }

    private func stored(_ entity: Int) throws -> StoreLayout.Entity {
        guard let stored = layout.entities[entity] else {
            throw PredicateFailure(
                .unsupported,
                Diagnostic(
                    .error, "entity '\(model.entities[entity].name)' is not in this store",
                    hint: "add the entity to the configuration that the store was opened with"))
        }
        return stored
    }

    // MARK: Entities

    /// Returns the condition that restricts a table's rows to those of an entity; `nil` if the table contains no
    /// others.
    ///
    ///     Book (no subentities, no siblings)     // nil
    ///     Employee of Person                     // t0.Z_ENT = ?
    ///     Person with Employee, beside Animal    // t0.Z_ENT IN (?, ?)
    func restriction(to entity: Int, includesSubentities: Bool, alias: String) throws -> SQLExpression? {
        let wanted = rowEntities(of: entity, includesSubentities: includesSubentities)
        let present = rowEntities(of: model.entities[entity].root)
        if wanted == present && !wanted.isEmpty { return nil }
        let column = SQLExpression.column(alias, "Z_ENT")
        let numbers = try wanted.map { SQLExpression.bind(.integer(try number(of: $0))) }
        if numbers.count == 1 { return .comparison(.equal, column, numbers[0]) }
        return .inList(column, numbers)
    }
}

extension SQLExpression {
    static let alwaysTrue = SQLExpression.and([])
    static let alwaysFalse = SQLExpression.or([])

    static func boolean(_ value: Bool) -> SQLExpression { value ? alwaysTrue : alwaysFalse }

    /// Returns the conjunction, flattened if possible; true terms are removed, one false term makes it false.
    static func all(_ terms: [SQLExpression]) -> SQLExpression {
        var flat: [SQLExpression] = []
        for term in terms {
            if term == alwaysFalse { return alwaysFalse }
            if case .and(let inner) = term { flat += inner } else { flat.append(term) }
        }
        return flat.count == 1 ? flat[0] : balanced(flat) { .and($0) }
    }

    /// Returns the disjunction, flattened if possible; false terms are removed, one true term makes it true.
    static func any(_ terms: [SQLExpression]) -> SQLExpression {
        var flat: [SQLExpression] = []
        for term in terms {
            if term == alwaysTrue { return alwaysTrue }
            let parts = if case .or(let inner) = term { inner } else { [term] }
            // Both bounds of a range contain the same test for nil.
            for part in parts where flat.count > 8 || !flat.contains(part) { flat.append(part) }
        }
        return flat.count == 1 ? flat[0] : balanced(flat) { .or($0) }
    }

    /// Converts long chains to trees: `a OR b OR …` adds a level per term, and databases limit the depth.
    private static func balanced(
        _ terms: [SQLExpression], _ combine: ([SQLExpression]) -> SQLExpression
    ) -> SQLExpression {
        let limit = 200
        guard terms.count > limit else { return combine(terms) }
        let parts = stride(from: 0, to: terms.count, by: limit).map { start in
            combine(Array(terms[start..<min(start + limit, terms.count)]))
        }
        return balanced(parts, combine)
    }
}
