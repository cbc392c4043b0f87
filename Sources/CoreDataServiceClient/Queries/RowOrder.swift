import CoreData
import Foundation

/// The order of dictionaries by their own keys: a key such as `unit.name` is a column, not a path.
struct RowOrder {
    private let sorts: [NSSortDescriptor]

    init(_ sorts: [NSSortDescriptor]) { self.sorts = sorts }

    func sorted(_ rows: [NSDictionary]) -> [NSDictionary] {
        if sorts.isEmpty { return rows }
        return rows.enumerated().sorted { a, b in
            for sort in sorts {
                let order = Self.compare(a.element[sort.key ?? ""], b.element[sort.key ?? ""])
                if order != .orderedSame { return (order == .orderedAscending) == sort.ascending }
            }
            return a.offset < b.offset
        }.map(\.element)
    }

    /// Nil is less than every value, as in a store.
    private static func compare(_ a: Any?, _ b: Any?) -> ComparisonResult {
        switch (a, b) {
        case (nil, nil): .orderedSame
        case (nil, _): .orderedAscending
        case (_, nil): .orderedDescending
        case (let a as NSNumber, let b as NSNumber): a.compare(b)
        case (let a as Date, let b as Date): a.compare(b)
        case (let a as UUID, let b as UUID): compare(a.uuidString, b.uuidString)
        case (let a as String, let b as String): compare(a, b)
        default: .orderedSame
        }
    }

    /// By code points, as the service sorts.
    private static func compare(_ a: String, _ b: String) -> ComparisonResult {
        if a.utf8.elementsEqual(b.utf8) { return .orderedSame }
        return a.utf8.lexicographicallyPrecedes(b.utf8) ? .orderedAscending : .orderedDescending
    }
}
