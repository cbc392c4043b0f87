import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// A condition that the dialect can compute, and that is true of every row of which the predicate is true. It may be true of other
    /// rows, since memory decides on the rows that come.
    ///
    ///     name CONTAINS[c] "ok"               // t0."name" ~ '[Oo][Kk\u{212A}]'
    ///     name LIKE[c] "a*" OR price > 3      // t0."name" ~ '^[Aa]' OR t0."price" > 3
    ///     NOT name CONTAINS[c] "a"            // always true: the negation of a superset would miss rows
    func superset(of predicate: PredicateNode) throws -> SQLExpression {
        switch predicate {
        case .and(let parts): return .all(try parts.map { try superset(of: $0) })
        case .or(let parts): return .any(try parts.map { try superset(of: $0) })
        case .constant, .comparison, .not, .block:
            narrows = true
            defer { narrows = false }
            let condition = try condition(predicate)
            return condition.gap(in: context.dialect) == nil ? condition : .alwaysTrue
        }
    }

    /// The texts of which a comparison with a constant under `[c]` or `[d]` may be true; `nil` where nobody can tell.
    func superset(
        _ text: QueryScalar, _ comparator: PredicateNode.Comparator, _ part: QueryScalar, _ folding: UInt
    ) -> SQLExpression? {
        guard folding != 0, context.dialect.findsPatterns, case .bind(.text(let constant)) = part.sql else {
            return nil
        }
        let comparison: FoldedPattern.Comparison
        switch comparator {
        case .equalTo: comparison = .equal
        case .beginsWith: comparison = .beginsWith
        case .endsWith: comparison = .endsWith
        case .contains, .in: comparison = .contains
        case .like: comparison = .like
        case .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .matches, .between,
            .customSelector:
            return nil
        }
        let isPart = comparison != .equal && comparison != .like
        // The empty text is no part of any.
        if isPart, TextComparison.fold(constant, options: folding).isEmpty { return .alwaysFalse }
        guard let pattern = FoldedPattern(comparison, constant, options: folding) else { return nil }
        let ranges = comparison == .equal || comparison == .beginsWith ? candidates(text, part, folding) : nil
        return .all([ranges].compactMap { $0 } + [.fits(text.sql, pattern)])
    }
}
