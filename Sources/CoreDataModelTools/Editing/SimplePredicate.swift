import CoreDataPredicate

/// A predicate of comparisons that all or any must hold, as rows of key, operator and value.
///
///     SimplePredicate("listed == 1 AND name BEGINSWITH[c] 'A'")?.rows.map(\.comparator)     // ["==", "BEGINSWITH[c]"]
package struct SimplePredicate: Hashable, Sendable {
    package struct Row: Hashable, Sendable {
        package var key: String
        package var comparator: String
        /// A constant or a variable in the predicate language: `"Milk"`, `5`, `$NAME`.
        package var value: String

        package init(key: String, comparator: String, value: String) {
            self.key = key
            self.comparator = comparator
            self.value = value
        }
    }

    package var rows: [Row]
    /// Whether one row is enough; otherwise all must hold.
    package var matchesAny: Bool

    package init(rows: [Row], matchesAny: Bool) {
        self.rows = rows
        self.matchesAny = matchesAny
    }

    /// The operators that a form offers.
    package static let comparators = [
        "==", "!=", "<", "<=", ">", ">=", "BEGINSWITH[cd]", "CONTAINS[cd]", "ENDSWITH[cd]", "LIKE[cd]", "MATCHES", "IN",
    ]

    /// Reads a predicate; `nil` for one that has other parts than comparisons of a key with a constant or a variable.
    package init?(_ text: String) {
        guard let predicate = try? PredicateParser.parse(format: text) else { return nil }
        let parts: [PredicateNode]
        switch predicate {
        case .and(let all): (parts, matchesAny) = (all, false)
        case .or(let all): (parts, matchesAny) = (all, true)
        case .comparison: (parts, matchesAny) = ([predicate], false)
        default: return nil
        }
        rows = []
        for part in parts {
            guard let row = Self.row(part) else { return nil }
            rows.append(row)
        }
    }

    private static func row(_ node: PredicateNode) -> Row? {
        guard case .comparison(let comparison) = node, comparison.modifier == .direct,
            case .keyPath(.evaluatedObject, _) = comparison.left
        else { return nil }
        switch comparison.right {
        case .constant, .variable: break
        default: return nil
        }
        let (key, value) = (comparison.left.predicateFormat, comparison.right.predicateFormat)
        let format = node.predicateFormat
        guard format.hasPrefix(key + " "), format.hasSuffix(" " + value) else { return nil }
        let comparator = format.dropFirst(key.count + 1).dropLast(value.count + 1)
        return Row(key: key, comparator: String(comparator), value: value)
    }

    /// The predicate in the predicate language.
    package var text: String {
        rows.map { "\($0.key) \($0.comparator) \($0.value)" }.joined(separator: matchesAny ? " OR " : " AND ")
    }

    /// Returns a text as a constant: a word without quotes gets some.
    ///
    ///     literal("Milk")     // "Milk" with quotes
    ///     literal("$NAME"), literal("5"), literal("nil")     // as they are
    package static func literal(_ text: String, isText: Bool) -> String {
        let isQuoted = text.count > 1 && (text.hasPrefix("\"") || text.hasPrefix("'"))
        let isWord = ["nil", "null"].contains(text.lowercased())
        if !isText || isQuoted || isWord || text.hasPrefix("$") || text.hasPrefix("{") { return text }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
