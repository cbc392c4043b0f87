import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

/// What one translation knows: the model, where it lies in tables, and the next free alias.
final class QueryContext {
    let model: CompiledModel
    let layout: StoreLayout
    /// What `now()` gives: one moment for a whole statement, in seconds since 2001-01-01 UTC.
    let now: Double
    let dialect: SQLDialect
    private var aliasCount = 0
    /// The most tables that one SELECT may join, and whether one of the statement's joins more.
    var maximumJoinedTables: Int { dialect.maximumJoinedTables }
    private(set) var joinsTooMany = false

    init(model: CompiledModel, layout: StoreLayout, now: Double = 0, dialect: SQLDialect) {
        self.model = model
        self.layout = layout
        self.now = now
        self.dialect = dialect
    }

    /// `t0`, `t1`, …: in the order of their making, so that equal plans give equal text.
    func makeAlias() -> String {
        defer { aliasCount += 1 }
        return "t\(aliasCount)"
    }

    /// Notes how many tables a SELECT has by now.
    func noteTables(_ count: Int) {
        if count > maximumJoinedTables { joinsTooMany = true }
    }

    // MARK: Where things lie

    func table(of entity: Int) throws -> String { try stored(entity).table }

    func number(of entity: Int) throws -> Int64 { try stored(entity).number }

    /// The table's column for that role, `nil` where the store has none and every row reads as NULL.
    func column(_ role: RowLayout.Role, of entity: Int) throws -> String? {
        guard let index = model.entities[entity].rowLayout.column(of: role) else { return nil }
        return try stored(entity).columnNames[index]
    }

    /// The column of an attribute's value or of a to-one's destination key.
    func column(ofSlot slot: Int, of entity: Int) throws -> String? {
        let index = model.entities[entity].rowLayout.columnOfSlot[slot]
        return index < 0 ? nil : try stored(entity).columnNames[index]
    }

    /// Whether an index begins with the property.
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

    /// The index that finds rows by what is in the column.
    func searchIndex(ofColumn column: String, of entity: Int) throws -> SearchIndex? {
        guard !layout.searchIndexes.isEmpty else { return nil }
        let wanted = SearchIndex(trigramsOf: column, in: try table(of: entity))
        return layout.searchIndexes.contains(wanted) ? wanted : nil
    }

    func joinTable(of property: CompiledProperty) -> StoreLayout.JoinTable? {
        layout.joinTables[.init(entity: property.declaringEntity, slot: property.slot)]
    }

    /// The ordinals of the entities whose rows a fetch of `entity` gives, ascending: those that have rows and
    /// lie in this store.
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

    /// What restricts a table's rows to those of an entity; `nil` where the table holds no others.
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

    /// The conjunction, flat where it can be; true terms vanish, one false term decides.
    static func all(_ terms: [SQLExpression]) -> SQLExpression {
        var flat: [SQLExpression] = []
        for term in terms {
            if term == alwaysFalse { return alwaysFalse }
            if case .and(let inner) = term { flat += inner } else { flat.append(term) }
        }
        return flat.count == 1 ? flat[0] : balanced(flat) { .and($0) }
    }

    /// The disjunction, flat where it can be; false terms vanish, one true term decides.
    static func any(_ terms: [SQLExpression]) -> SQLExpression {
        var flat: [SQLExpression] = []
        for term in terms {
            if term == alwaysTrue { return alwaysTrue }
            let parts = if case .or(let inner) = term { inner } else { [term] }
            // Both bounds of a range say what becomes of nil.
            for part in parts where flat.count > 8 || !flat.contains(part) { flat.append(part) }
        }
        return flat.count == 1 ? flat[0] : balanced(flat) { .or($0) }
    }

    /// Long chains become trees: `a OR b OR …` nests once a term, and databases limit the depth.
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
