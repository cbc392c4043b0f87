import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension SortDescriptor where Compared: NSObject {
    /// Makes a sort descriptor of Swift's that sorts as the other one does, by its key; `nil` for one with code or with
    /// a method that is not known.
    ///
    ///     let byName = NSSortDescriptor(key: "author.name", ascending: true)
    ///     books.sorted(using: SortDescriptor(byName, comparing: Book.self))
    public init?(_ descriptor: NSSortDescriptor, comparing comparedType: Compared.Type) {
        guard let ordering = descriptor.ordering, case .order(let comparison) = ordering.comparison,
            let key = ordering.key
        else { return nil }
        let path = \Compared.[sortKey: SortKey(key: key, comparison: comparison.rawValue)]
        KeyPathNames.register(path, name: key)
        self.init(path, order: ordering.ascending ? .forward : .reverse)
    }
}

/// A key and how its values compare, as they travel inside a key path.
private struct SortKey: Hashable, Sendable {
    var key: String
    var comparison: String
}

/// A value that sorts as a store sorts it.
private struct SortValue: Comparable {
    let operand: Operand
    let comparison: TextComparison.SortOrder

    static func < (a: SortValue, b: SortValue) -> Bool {
        OperandSorting.order(a.operand, b.operand, by: a.comparison) < 0
    }

    static func == (a: SortValue, b: SortValue) -> Bool {
        OperandSorting.order(a.operand, b.operand, by: a.comparison) == 0
    }
}

extension NSObject {
    fileprivate subscript(sortKey sortKey: SortKey) -> SortValue {
        let comparison = TextComparison.SortOrder(rawValue: sortKey.comparison) ?? .literal
        do {
            let operand = try ExpressionEvaluator(ExpressionNode(keyPath: sortKey.key))
                .value(for: OperandBridging.operand(from: self))
            return SortValue(operand: operand, comparison: comparison)
        } catch {
            PredicateReporting.report(error)
            return SortValue(operand: .null, comparison: comparison)
        }
    }
}
