import CoreDataSQL

/// The column ranges to which a condition restricts the rows of one table, with both a lower and an upper bound, for a
/// search in an R-tree.
///
///     x BETWEEN {0, 2} AND y >= 1 AND y < 3
///     // t0.Z_PK IN (SELECT Z_PK FROM Z_RT_Shop_byPlace WHERE ZX_MAX >= ? AND ZX_MIN <= ? AND ZY_MAX >= ? AND ZY_MIN <= ?)
///     // AND t0.ZX BETWEEN ? AND ? AND …
///
/// The condition itself remains, since an R-tree stores 32-bit numbers, and 0 for NULL. A range with only one bound
/// would find too many rows to be useful.
struct ColumnRanges {
    private struct Bounds {
        var lower: [SQLExpression] = []
        var upper: [SQLExpression] = []

        var isClosed: Bool { !lower.isEmpty && !upper.isEmpty }
    }

    private let alias: String
    private var bounds: [String: Bounds] = [:]

    /// - Parameter alias: the table's alias.
    init(_ condition: SQLExpression, of alias: String) {
        self.alias = alias
        read(condition)
    }

    /// Returns the rows that the R-tree with the most of these columns finds; `nil` if no tree has any of them.
    func candidates(in trees: [CreateRTree]) -> SQLExpression? {
        var best: (tree: CreateRTree, columns: [String])?
        for tree in trees {
            let columns = tree.columns.filter { bounds[$0]?.isClosed == true }
            if columns.count > best?.columns.count ?? 0 { best = (tree, columns) }
        }
        guard let best else { return nil }
        var keys = SelectStatement([.init(.column(nil, "Z_PK"))], from: .init(best.tree.name))
        keys.condition = .all(
            best.columns.flatMap { column -> [SQLExpression] in
                guard let bounds = bounds[column] else { return [] }
                let (minimum, maximum) = (CreateRTree.minimum(of: column), CreateRTree.maximum(of: column))
                return bounds.lower.map { .comparison(.greaterOrEqual, .column(nil, maximum), $0) }
                    + bounds.upper.map { .comparison(.lessOrEqual, .column(nil, minimum), $0) }
            })
        return .inSelect(.column(alias, "Z_PK"), keys)
    }

    private mutating func read(_ condition: SQLExpression) {
        switch condition {
        case .and(let parts):
            for part in parts { read(part) }
        case .between(.column(let owner, let column), let lower, let upper) where owner == alias:
            add(column, .greaterOrEqual, lower)
            add(column, .lessOrEqual, upper)
        case .comparison(let comparison, .column(let owner, let column), let bound) where owner == alias:
            add(column, comparison, bound)
        case .comparison(let comparison, let bound, .column(let owner, let column)) where owner == alias:
            add(column, comparison.mirrored, bound)
        default: break
        }
    }

    private mutating func add(_ column: String, _ comparison: SQLExpression.Comparison, _ bound: SQLExpression) {
        guard Self.isNumber(bound) else { return }
        switch comparison {
        case .less, .lessOrEqual: bounds[column, default: Bounds()].upper.append(bound)
        case .greater, .greaterOrEqual: bounds[column, default: Bounds()].lower.append(bound)
        case .equal:
            bounds[column, default: Bounds()].lower.append(bound)
            bounds[column, default: Bounds()].upper.append(bound)
        case .notEqual, .identical, .notIdentical: break
        }
    }

    /// Numbers beyond 32 bits have infinite box sides in the R-tree, which a bound would miss.
    private static func isNumber(_ bound: SQLExpression) -> Bool {
        switch bound {
        case .bind(.integer): true
        case .bind(.real(let value)): value.magnitude < 3e38
        default: false
        }
    }
}
