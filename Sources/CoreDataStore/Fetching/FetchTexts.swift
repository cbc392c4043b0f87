import CoreDataSQL
import Synchronization

/// The statements of fetches without a predicate, by what their text depends on: an app fills most of its screens with the
/// same few, and to write one takes as long as to read several rows.
///
/// Kept with the layout that its tables have, so that the stores of a model share it.
package final class FetchTexts: Sendable {
    struct Statement {
        let sql: String
        let bindings: [SQLValue]
        let shape: RowShape
    }

    private struct Kept: Sendable {
        let sql: String
        /// What stands before the limit and the offset, which come last.
        let bindings: ArraySlice<SQLValue>
        let shape: RowShape
        /// Held, so that its address, a part of the key, is no other dialect's.
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
    /// Requests come in a few shapes; the statements of who makes them up are written anew.
    private static let capacity = 64

    /// The statement of the plan; `make` writes it where that has not been done, or where there is a predicate.
    func statement(
        of plan: FetchPlan, _ dialect: SQLDialect, make: () throws -> (text: SQLText, shape: RowShape)
    ) rethrows -> Statement {
        guard plan.predicate == nil, plan.narrowing.isEmpty else { return Self.statement(try make()) }
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
