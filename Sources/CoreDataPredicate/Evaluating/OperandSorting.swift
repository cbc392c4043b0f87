import CoreDataPrimitives
import Foundation

/// The total order of operands for sorting: nil first, then numbers, dates, text, data and the rest, in SQLite's order
/// of storage classes.
package enum OperandSorting {
    /// Returns a negative number if `a` comes first, zero if they are equal, a positive one if `b` comes first. `order`
    /// applies to text.
    package static func order(_ a: Operand, _ b: Operand, by order: TextComparison.SortOrder = .literal) -> Int {
        if case .value(let first) = a, case .value(let second) = b {
            if case .string(let first) = first, case .string(let second) = second {
                return TextComparison.compare(first, second, by: order)
            }
            if let first = a.text, let second = b.text { return TextComparison.compare(first, second, by: order) }
        }
        if case .object(let first) = a, case .object(let second) = b {
            return first.predicateOrder(relativeTo: second)
        }
        let ranks = (rank(a), rank(b))
        if ranks.0 != ranks.1 { return ranks.0 - ranks.1 }
        return (try? OperandComparison.order(a, b)) ?? 0
    }

    private static func rank(_ operand: Operand) -> Int {
        guard case .value(let value) = operand else { return 8 }
        return switch value {
        case .null: 0
        case .integer, .double, .decimal: 1
        case .date: 2
        case .string, .uri: 3
        case .data: 4
        case .uuid: 5
        case .opaque: 6
        }
    }
}
