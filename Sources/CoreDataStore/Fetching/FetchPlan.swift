import CoreDataPredicate
import CoreDataPrimitives

/// What to fetch from one store: a fetch request in the engine's words.
package struct FetchPlan {
    package struct Sort: Hashable, Sendable {
        /// How text compares; other values have one order only.
        package typealias Comparison = TextComparison.SortOrder

        /// Property names: `["name"]`, `["locationAtShop", "aisle"]`.
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
    /// Without object constants: they are rows of this store by now.
    package var predicate: PredicateNode?
    /// Predicates that memory decides on afterwards, and of which SQL only finds the rows that may meet them: see ``PlanSplit``.
    var narrowing: [PredicateNode] = []
    package var sorts: [Sort] = []
    /// 0 = no limit.
    package var limit = 0
    package var offset = 0

    package init(entity: Int) { self.entity = entity }
}

/// One column of a dictionary result.
package struct FetchColumn {
    package var name: String
    package var expression: ExpressionNode

    package init(name: String, expression: ExpressionNode) {
        self.name = name
        self.expression = expression
    }
}
