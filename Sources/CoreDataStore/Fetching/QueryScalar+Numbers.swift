import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The position of a constant relative to the numbers of another kind: equal to one of them, or just above or below
/// one.
///
///     2.5 among integers               // above 2
///     9007199254740993 among doubles        // above 9007199254740992
struct NumberPlace {
    enum Side {
        case at
        case above
        case below
    }

    /// One of the numbers.
    let number: QueryScalar
    /// The position of the constant relative to it.
    let side: Side

    /// Returns the comparison with ``number`` that is equivalent to the comparison with the constant; only for order
    /// comparisons.
    func comparison(_ comparison: SQLExpression.Comparison) -> SQLExpression.Comparison {
        switch (comparison, side) {
        case (.less, .above), (.lessOrEqual, .above): .lessOrEqual
        case (.greater, .above), (.greaterOrEqual, .above): .greater
        case (.less, .below), (.lessOrEqual, .below): .less
        case (.greater, .below), (.greaterOrEqual, .below): .greaterOrEqual
        default: comparison
        }
    }
}

extension QueryScalar {
    /// Returns a constant's position among the numbers of the kind, so that a database compares them as memory does;
    /// `nil` for other expressions, and if the database compares the kinds exactly.
    func place(among kind: Kind) -> NumberPlace? {
        switch (kind, constantNumber) {
        case (.integer, .double(let value)?): Self.place(amongIntegers: value)
        case (.decimal, .double(let value)?):
            Numbers.decimal(value).map {
                let sql = SQLExpression.cast(.bind(.text($0.description)), to: .decimal)
                return NumberPlace(number: QueryScalar(sql, .decimal, isOptional: false), side: .at)
            }
        case (.real, .integer(let value)?): Self.place(amongDoubles: .integer(value), Double(value))
        case (.real, .decimal(let value)?): Self.place(amongDoubles: .decimal(value), Numbers.double(value))
        default: nil
        }
    }

    /// Returns whether a database may compare the two kinds as doubles.
    func isMixed(with other: QueryScalar) -> Bool {
        kind.isNumber && other.kind.isNumber && kind != other.kind && (kind == .real || other.kind == .real)
    }

    private static func place(amongIntegers value: Double) -> NumberPlace? {
        func place(_ number: Int64, _ side: NumberPlace.Side) -> NumberPlace {
            NumberPlace(number: QueryScalar(.bind(.integer(number)), .integer, isOptional: false), side: side)
        }
        if value.isNaN { return nil }
        if value >= 0x1p63 { return place(.max, .above) }
        if value < -0x1p63 { return place(.min, .below) }
        let whole = value.rounded(.down)
        return place(Int64(whole), value == whole ? .at : .above)
    }

    private static func place(amongDoubles value: Value, _ nearest: Double) -> NumberPlace? {
        guard let order = Numbers.order(value, .double(nearest)) else { return nil }
        let number = QueryScalar(.bind(.real(nearest)), .real, isOptional: false)
        return NumberPlace(number: number, side: order == 0 ? .at : order > 0 ? .above : .below)
    }

    private var constantNumber: Value? {
        switch sql {
        case .bind(.integer(let value)) where kind == .integer: .integer(value)
        case .bind(.real(let value)) where kind == .real: .double(value)
        case .cast(.bind(.text(let text)), to: .decimal): Decimal(storedText: text).map { .decimal($0) }
        default: nil
        }
    }
}

extension SQLExpression.Comparison {
    /// The comparison with swapped operands.
    var mirrored: Self {
        switch self {
        case .equal, .notEqual, .identical, .notIdentical: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}
