/// The functions of the predicate language, by Apple's selector names.
package enum PredicateFunction: String, CaseIterable, Sendable {
    // Functions of a collection, or of the arguments if there are several.
    case sum = "sum:"
    case count = "count:"
    case min = "min:"
    case max = "max:"
    case average = "average:"
    case median = "median:"
    case mode = "mode:"
    case standardDeviation = "stddev:"
    case distinct = "distinct:"

    case add = "add:to:"
    case subtract = "from:subtract:"
    case multiply = "multiply:by:"
    case divide = "divide:by:"
    case modulus = "modulus:by:"
    case power = "raise:toPower:"
    case absolute = "abs:"
    case squareRoot = "sqrt:"
    case logarithm = "log:"
    case naturalLogarithm = "ln:"
    case exponential = "exp:"
    case ceiling = "ceiling:"
    case floor = "floor:"
    case truncate = "trunc:"
    case random = "random"
    case randomBelow = "randomn:"

    case bitwiseAnd = "bitwiseAnd:with:"
    case bitwiseOr = "bitwiseOr:with:"
    case bitwiseXor = "bitwiseXor:with:"
    case leftShift = "leftshift:by:"
    case rightShift = "rightshift:by:"
    case onesComplement = "onesComplement:"

    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    case canonical = "canonical:"
    case length = "length:"
    /// The number of user-perceived characters, like `count` of a Swift string. Apple has no such function.
    case characters = "characters:"

    case now = "now"
    case noIndex = "noindex:"
    case element = "objectFrom:withIndex:"
    case cast = "castObject:toType:"
    case distance = "distanceToLocation:fromLocation:"

    package var argumentCount: ClosedRange<Int> {
        switch self {
        case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .distinct: 1...1_000_000
        case .random, .now: 0...0
        case .add, .subtract, .multiply, .divide, .modulus, .power, .absolute, .squareRoot, .logarithm,
            .naturalLogarithm, .exponential, .ceiling, .floor, .truncate, .randomBelow, .bitwiseAnd, .bitwiseOr,
            .bitwiseXor, .leftShift, .rightShift, .onesComplement, .uppercase, .lowercase, .canonical, .length,
            .characters,
            .noIndex, .element, .cast, .distance:
            fixedCount...fixedCount
        }
    }

    private var fixedCount: Int { rawValue.utf8.count { $0 == UInt8(ascii: ":") } }

    /// The function with the name in a format: `sum(x)` and `sum:(x)` are the same.
    package init?(spelled name: String) {
        if let function = Self(rawValue: name) ?? Self(rawValue: name + ":") {
            self = function
        } else {
            let lowercased = name.lowercased()
            guard let function = Self.allCases.first(where: { $0.rawValue.lowercased() == lowercased }) else {
                return nil
            }
            self = function
        }
    }

    /// The infix operator and its precedence; `nil` if the function is written as a call.
    package var infix: (symbol: String, precedence: Int)? {
        switch self {
        case .bitwiseOr: ("|", 2)
        case .bitwiseXor: ("^", 3)
        case .bitwiseAnd: ("&", 4)
        case .leftShift: ("<<", 5)
        case .rightShift: (">>", 5)
        case .add: ("+", 6)
        case .subtract: ("-", 6)
        case .multiply: ("*", 7)
        case .divide: ("/", 7)
        case .power: ("**", 8)
        case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .distinct, .modulus, .absolute,
            .squareRoot, .logarithm, .naturalLogarithm, .exponential, .ceiling, .floor, .truncate, .random,
            .randomBelow, .onesComplement, .uppercase, .lowercase, .canonical, .length, .characters, .now, .noIndex,
            .element,
            .cast, .distance:
            nil
        }
    }
}
