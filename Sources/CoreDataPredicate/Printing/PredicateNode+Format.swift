import CoreDataPrimitives

extension PredicateNode {
    /// The predicate in the predicate language, as Apple's `predicateFormat` writes it.
    ///
    ///     try PredicateParser.parse(format: "a=1 && !(b>2 || c=nil)").predicateFormat
    ///     // a == 1 AND NOT (b > 2 OR c == nil)
    ///
    /// Parsing the text gives an equal tree, unless it contains an object, a row or a block. A compound with one
    /// predicate prints as that predicate.
    package var predicateFormat: String {
        switch unwrapped {
        case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): return comparison.format
        case .and(let nodes): return nodes.isEmpty ? "TRUEPREDICATE" : Self.join(nodes, " AND ")
        case .or(let nodes): return nodes.isEmpty ? "FALSEPREDICATE" : Self.join(nodes, " OR ")
        case .not(let node): return "NOT " + node.unwrapped.parenthesized
        case .block(let block):
            return "BLOCKPREDICATE(0x\(String(UInt(bitPattern: block.identity), radix: 16)))"
        }
    }

    /// The predicate without enclosing compounds of a single predicate.
    private var unwrapped: PredicateNode {
        switch self {
        case .and(let nodes) where nodes.count == 1, .or(let nodes) where nodes.count == 1: nodes[0].unwrapped
        default: self
        }
    }

    private var parenthesized: String {
        switch self {
        case .and(let nodes) where !nodes.isEmpty, .or(let nodes) where !nodes.isEmpty: "(\(predicateFormat))"
        default: predicateFormat
        }
    }

    private static func join(_ nodes: [PredicateNode], _ separator: String) -> String {
        nodes.map { $0.unwrapped.parenthesized }.joined(separator: separator)
    }
}

extension PredicateNode.Comparison {
    fileprivate var format: String {
        let prefix =
            switch modifier {
            case .direct: ""
            case .all: "ALL "
            case .any: "ANY "
            }
        let middle = comparator.spelling + (options.isEmpty ? "" : "[\(options.letters)]")
        return "\(prefix)\(left.operandFormat) \(middle) \(right.operandFormat)"
    }
}

extension PredicateNode.Comparator {
    /// The operator in the printed form.
    package var spelling: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        case .customSelector: "CUSTOMSELECTOR"
        }
    }
}

extension TextOptions {
    /// The options as letters: `cd`.
    package var letters: String {
        var text = ""
        if contains(.caseInsensitive) { text += "c" }
        if contains(.diacriticInsensitive) { text += "d" }
        if contains(.normalized) { text += "n" }
        if contains(.localeSensitive) { text += "l" }
        return text
    }
}
