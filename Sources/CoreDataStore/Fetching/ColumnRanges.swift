import CoreDataSQL

/// The ranges that a condition confines columns of one table to, with a bound on either side: what an R-tree finds rows by.
///
///     x BETWEEN {0, 2} AND y >= 1 AND y < 3
///     // t0.Z_PK IN (SELECT Z_PK FROM Z_RT_Shop_byPlace WHERE ZX_MAX >= ? AND ZX_MIN <= ? AND ZY_MAX >= ? AND ZY_MIN <= ?)
///     // AND t0.ZX BETWEEN ? AND ? AND …
///
/// The condition stays, since an R-tree has numbers of 32 bits and 0 for NULL. A range that is open on one side would find too many
/// rows to be of use.
struct ColumnRanges {
    private struct Bounds {
        var lower: [SQLExpression] = []
        var upper: [SQLExpression] = []

        var isClosed: Bool { !lower.isEmpty && !upper.isEmpty }
    }

    private let alias: String
    private var bounds: [String: Bounds] = [:]

    /// - Parameter alias: the table's.
    init(_ condition: SQLExpression, of alias: String) {
        self.alias = alias
        read(condition)
    }

    /// The rows that the tree with the most of these columns finds; `nil` where none has one.
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

    /// Numbers beyond those of 32 bits have sides at infinity, which a bound there would miss.
    private static func isNumber(_ bound: SQLExpression) -> Bool {
        switch bound {
        case .bind(.integer): true
        case .bind(.real(let value)): value.magnitude < 3e38
        default: false
        }
    }
}
