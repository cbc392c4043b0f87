/// The reserved words of the predicate language. Case does not matter; a key with such a name needs a `#` prefix.
package enum PredicateWord: String, CaseIterable, Sendable {
    case and, or, not
    case any
    case someOf = "some"
    case all
    case noneOf = "none"
    case `in`, like, matches, contains
    case beginsWith = "beginswith"
    case endsWith = "endswith"
    case between
    case caseInsensitive = "caseinsensitive"
    case ci
    case null, `nil`, `self`, `true`, yes, `false`, no
    case first, last, size
    case anyKey = "anykey"
    case subquery, fetch, cast
    case truePredicate = "truepredicate"
    case falsePredicate = "falsepredicate"
    case conformsToType = "uti-conforms-to"
    case equalsType = "uti-equals"
    // Not reserved: calls only before a parenthesis, operators only between two expressions.
    case function, ternary
    case union, intersect, minus

    /// Whether a key with this name needs a `#`.
    package var isReserved: Bool {
        switch self {
        case .function, .ternary, .union, .intersect, .minus: false
        default: true
        }
    }

    /// Whether the word has a meaning only before a parenthesis.
    var isCall: Bool {
        switch self {
        case .function, .ternary, .subquery, .fetch, .cast: true
        default: false
        }
    }

    private static let table = [String: PredicateWord](
        uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    package init?(spelled text: String) {
        guard let word = Self.table[text.lowercased()] else { return nil }
        self = word
    }
}
