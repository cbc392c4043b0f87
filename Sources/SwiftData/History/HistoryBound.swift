import CoreData
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Which transactions of a history need not be read, since a predicate excludes them.
///
///     $0.token > token && $0.author == "sync"      // those up to the token
///     $0.timestamp > date                          // those up to the date
///     $0.token > token || $0.author == "sync"      // none
enum HistoryBound {
    case none
    /// Only transactions after that position count. It is an error if some of these were deleted.
    case token([String: Int64])
    /// Only transactions after that date count.
    case date(Date)

    init(_ predicate: Predicate<DefaultHistoryTransaction>?) {
        self = .none
        guard let predicate, let node = Self.node(predicate) else { return }
        var date: Date?
        for comparison in Self.conjuncts(of: node) {
            switch Self.lowerBound(comparison) {
            case .token(let token):
                // One bound is enough; the predicate finds the transactions after the others.
                self = .token(token)
                return
            case .date(let found): date = max(found, date ?? found)
            case .none: continue
            }
        }
        if let date { self = .date(date) }
    }

    // MARK: Reading predicates

    private static let token = "token"
    private static let timestamp = "timestamp"

    /// Returns the predicate as a tree; `nil` if it has no such form.
    private static func node(_ predicate: Predicate<DefaultHistoryTransaction>) -> PredicateNode? {
        let conversion = SwiftPredicateConversion(
            name: { name(of: $0) }, constant: { constant($0) }, entities: { _, _ in nil })
        return try? conversion.node(predicate)
    }

    private static func name(of keyPath: AnyKeyPath) -> String {
        switch keyPath {
        case \DefaultHistoryTransaction.token: token
        case \DefaultHistoryTransaction.timestamp: timestamp
        // Whatever it is, it bounds nothing.
        default: "other"
        }
    }

    private static func constant(_ value: Any?) -> Constant {
        switch value {
        case let token as DefaultHistoryToken: .object(token.coreDataToken)
        case let date as Date: .value(.date(date.timeIntervalSinceReferenceDate))
        default: .value(.null)
        }
    }

    /// The comparisons that all have to hold.
    private static func conjuncts(of node: PredicateNode) -> [PredicateNode.Comparison] {
        switch node {
        case .comparison(let comparison): [comparison]
        case .and(let nodes): nodes.flatMap(conjuncts)
        case .or, .not, .constant, .block: []
        }
    }

    private static func lowerBound(_ comparison: PredicateNode.Comparison) -> HistoryBound {
        if let bound = lowerBound(comparison.left, comparison.comparator, comparison.right) { return bound }
        return lowerBound(comparison.right, comparison.comparator.mirrored, comparison.left) ?? .none
    }

    private static func lowerBound(
        _ path: ExpressionNode, _ comparator: PredicateNode.Comparator, _ value: ExpressionNode
    ) -> HistoryBound? {
        guard case .keyPath(.evaluatedObject, let keys) = path, case .constant(let constant) = value else { return nil }
        switch (keys, comparator, constant) {
        case ([token], .greaterThan, .object(let object)):
            return (object as? NSPersistentHistoryToken).map { .token($0.positions) }
        case ([token], .greaterThanOrEqualTo, .object(let object)):
            return (object as? NSPersistentHistoryToken).map { .token($0.positions.mapValues { max($0 - 1, 0) }) }
        // Slightly earlier: the transaction at that moment may count, and stores keep fractions of seconds.
        case ([timestamp], .greaterThan, .value(.date(let time))),
            ([timestamp], .greaterThanOrEqualTo, .value(.date(let time))):
            return .date(Date(timeIntervalSinceReferenceDate: time - 1))
        default:
            return nil
        }
    }
}

extension PredicateNode.Comparator {
    /// The comparator with exchanged sides.
    fileprivate var mirrored: PredicateNode.Comparator {
        switch self {
        case .lessThan: .greaterThan
        case .lessThanOrEqualTo: .greaterThanOrEqualTo
        case .greaterThan: .lessThan
        case .greaterThanOrEqualTo: .lessThanOrEqualTo
        default: self
        }
    }
}
