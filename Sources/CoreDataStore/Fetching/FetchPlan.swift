import CoreDataPredicate
import CoreDataPrimitives

/// The request to fetch from one store: a fetch request translated for the engine.
package struct FetchPlan {
    package struct Sort: Hashable, Sendable {
        /// The comparison of texts in a sort; other values have only one order.
        package typealias Comparison = TextComparison.SortOrder

        /// The names of properties: `["name"]`, `["locationAtShop", "aisle"]`.
        package var keyPath: [String]
        package var isAscending: Bool
        package var comparison: Comparison

        package init(keyPath: [String], isAscending: Bool, comparison: Comparison = .literal) {
            self.keyPath = keyPath
            self.isAscending = isAscending
            self.comparison = comparison
        }
    }

    package var entity: Int
    package var includesSubentities = true
    /// The bounds of the primary keys of the rows; `nil` for all rows.
    package var keys: ClosedRange<Int64>?
    /// The predicate without object constants, which are replaced by rows of this store.
    package var predicate: PredicateNode?
    /// Predicates that memory evaluates afterwards; SQL only finds the rows that may satisfy them: see ``PlanSplit``.
    var narrowing: [PredicateNode] = []
    package var sorts: [Sort] = []
    /// The maximum number of rows; 0 for no limit.
    package var limit = 0
    package var offset = 0
    /// The rows and values that the request may read; `nil` for all. A source that is no ``SecuredSource`` ignores it.
    package var security: RowSecurity?

    package init(entity: Int) { self.entity = entity }
}

extension PredicateNode {
    /// Returns the predicate of the rows with these keys.
    package static func rows(_ keys: [RowKey]) -> PredicateNode {
        .comparison(.init(.evaluatedObject, .in, .constant(.collection(keys.map { .key($0) }, isOrdered: true))))
    }
}

extension FetchPlan {
    /// The plan without order, limit and offset.
    var withoutOrderAndWindow: FetchPlan {
        var plan = self
        plan.sorts = []
        plan.limit = 0
        plan.offset = 0
        return plan
    }
}

/// A column of a dictionary result.
package struct FetchColumn {
    package var name: String
    package var expression: ExpressionNode

    package init(name: String, expression: ExpressionNode) {
        self.name = name
        self.expression = expression
    }
}
