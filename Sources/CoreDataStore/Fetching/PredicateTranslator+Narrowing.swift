import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// Returns a condition that the dialect supports and that is true for every row that satisfies the predicate. It
    /// may also be true for other rows, since memory checks the rows.
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
            return condition.unsupportedFeature(in: context.dialect) == nil ? condition : .alwaysTrue
        }
    }

    /// Returns the condition for texts for which a comparison with a constant under `[c]` or `[d]` may be true; `nil`
    /// if it is unknown.
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
        // The empty text is not part of any text.
        if isPart, TextComparison.fold(constant, options: folding).isEmpty { return .alwaysFalse }
        guard let pattern = FoldedPattern(comparison, constant, options: folding) else { return nil }
        let ranges = comparison == .equal || comparison == .beginsWith ? candidates(text, part, folding) : nil
        return .all([ranges].compactMap { $0 } + [.fits(text.sql, pattern)])
    }
}
