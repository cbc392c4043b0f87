import CoreDataSQL
import Synchronization

/// Caches the statements of fetches without a predicate, by the values that their text depends on. An app repeats a few
/// of them for most of its screens, and rendering one takes as long as reading several rows.
///
/// The cache is kept with the layout of the tables, so that the stores of a model share it.
package final class FetchTexts: Sendable {
    struct Statement {
        let sql: String
        let bindings: [SQLValue]
        let shape: RowShape
    }

    private struct Kept: Sendable {
        let sql: String
        /// The bound values before those of the limit and the offset, which are last.
        let bindings: ArraySlice<SQLValue>
        let shape: RowShape
        /// Retained, so that its address, which is part of the key, is not reused by another dialect.
        let dialect: SQLDialect
    }

    private struct Key: Hashable {
        let entity: Int
        let includesSubentities: Bool
        let isLimited: Bool
        let isOffset: Bool
        let sorts: [FetchPlan.Sort]
        let dialect: ObjectIdentifier
    }

    private let kept = Mutex<[Key: Kept]>([:])
    /// The maximum number of statements: most apps use a few; others are rendered again.
    private static let capacity = 64

    /// Returns the statement of the plan; `make` renders it if it is not cached, or if there is a predicate.
    func statement(
        of plan: FetchPlan, _ dialect: SQLDialect, make: () throws -> (text: SQLText, shape: RowShape)
    ) rethrows -> Statement {
        guard plan.predicate == nil, plan.narrowing.isEmpty, plan.keys == nil, plan.security == nil else {
            return Self.statement(try make())
        }
        let key = Key(
            entity: plan.entity, includesSubentities: plan.includesSubentities, isLimited: plan.limit > 0,
            isOffset: plan.offset > 0, sorts: plan.sorts, dialect: ObjectIdentifier(dialect))
        let page = [plan.limit, plan.offset].filter { $0 > 0 }.map { SQLValue.integer(Int64($0)) }
        if let kept = kept.withLock({ $0[key] }) {
            return Statement(sql: kept.sql, bindings: Array(kept.bindings) + page, shape: kept.shape)
        }
        let made = Self.statement(try make())
        guard made.bindings.suffix(page.count) == page[...] else { return made }
        kept.withLock { kept in
            if kept.count >= Self.capacity { kept.removeAll(keepingCapacity: true) }
            kept[key] = Kept(
                sql: made.sql, bindings: made.bindings.dropLast(page.count), shape: made.shape, dialect: dialect)
        }
        return made
    }

    private static func statement(_ made: (text: SQLText, shape: RowShape)) -> Statement {
        Statement(sql: made.text.sql, bindings: made.text.bindings, shape: made.shape)
    }
}

extension SchemaLayout {
    /// The statements for the layout, kept with it.
    package var fetchTexts: FetchTexts {
        if let kept = companions.value(of: FetchTexts.self) { return kept }
        let texts = FetchTexts()
        companions.keep(texts)
        return texts
    }
}
