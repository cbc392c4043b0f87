import Foundation

/// Converts an archived predicate or expression to the predicate language.
///
///     NSComparisonPredicate(length, 3, >=)     // length >= 3
///
/// The result is `nil` if it contains an object or block that the language cannot spell.
package enum PredicateArchive {
    /// Returns the text of a predicate; an archive of this library may contain the text itself.
    package static func predicate(_ value: ArchivedValue) -> String? {
        if let text = value.text { return text }
        var printer = PredicateArchivePrinter()
        return value.object.flatMap { printer.predicate($0) }
    }

    package static func expression(_ value: ArchivedValue) -> String? {
        if let text = value.text { return text }
        var printer = PredicateArchivePrinter()
        return value.object.flatMap { printer.expression($0) }
    }
}

private struct PredicateArchivePrinter {
    /// The maximum number of objects to visit, and the maximum depth: archives may have cycles and shared parts.
    private var budget = 20_000
    private var depth = 0
    private static let depthLimit = 64

    private mutating func enter() -> Bool {
        budget -= 1
        depth += 1
        return budget > 0 && depth < Self.depthLimit
    }

    // MARK: Predicates

    mutating func predicate(_ object: ArchivedObject) -> String? {
        defer { depth -= 1 }
        guard enter() else { return nil }
        switch object.className {
        case "NSTruePredicate": return "TRUEPREDICATE"
        case "NSFalsePredicate": return "FALSEPREDICATE"
        case "NSCompoundPredicate": return compound(object)
        case "NSComparisonPredicate": return comparison(object)
        default: return nil
        }
    }

    private mutating func compound(_ object: ArchivedObject) -> String? {
        guard let children = object["NSSubpredicates"].object?.elements,
            let type = object["NSCompoundPredicateType"].integer
        else { return nil }
        var texts: [String] = []
        for child in children {
            guard let child = child.object, var text = predicate(child) else { return nil }
            if child.className == "NSCompoundPredicate", child["NSCompoundPredicateType"].integer != type || type == 0 {
                text = "(\(text))"
            }
            texts.append(text)
        }
        switch type {
        case 0: return texts.count == 1 ? "NOT " + texts[0] : nil
        case 1: return texts.isEmpty ? "TRUEPREDICATE" : texts.joined(separator: " AND ")
        case 2: return texts.isEmpty ? "FALSEPREDICATE" : texts.joined(separator: " OR ")
        default: return nil
        }
    }

    private static let operators = [
        0: "<", 1: "<=", 2: ">", 3: ">=", 4: "==", 5: "!=", 6: "MATCHES", 7: "LIKE", 8: "BEGINSWITH", 9: "ENDSWITH",
        10: "IN", 99: "CONTAINS", 100: "BETWEEN",
    ]

    private mutating func comparison(_ object: ArchivedObject) -> String? {
        guard let left = object["NSLeftExpression"].object, let right = object["NSRightExpression"].object,
            let leftText = expression(left), let rightText = expression(right),
            let operation = object["NSPredicateOperator"].object, let type = operation["NSOperatorType"].integer,
            let symbol = Self.operators[type]
        else { return nil }
        let modifier: String
        switch operation["NSModifier"].integer ?? 0 {
        case 1: modifier = "ALL "
        case 2: modifier = "ANY "
        default: modifier = ""
        }
        let bits = (operation["NSOptions"].integer ?? 0) | (operation["NSFlags"].integer ?? 0)
        let letters = [(1, "c"), (2, "d"), (4, "n"), (8, "l")].filter { bits & $0.0 != 0 }.map(\.1).joined()
        return "\(modifier)\(leftText) \(symbol)\(letters.isEmpty ? "" : "[\(letters)]") \(rightText)"
    }

    // MARK: Expressions

    private mutating func expression(in object: ArchivedObject, _ key: String) -> String? {
        object[key].object.flatMap { expression($0) }
    }

    mutating func expression(_ object: ArchivedObject) -> String? {
        defer { depth -= 1 }
        guard enter() else { return nil }
        switch object.className {
        case "NSSelfExpression": return "SELF"
        case "NSVariableExpression": return object["NSVariable"].text.map { "$" + $0 }
        case "NSConstantValueExpression": return constant(object["NSConstantValue"])
        case "NSKeyPathSpecifierExpression": return object["NSKeyPath"].text.map(Self.keyPath)
        case "NSAnyKeyExpression": return "ANYKEY"
        case "NSKeyPathExpression", "NSFunctionExpression": return function(object)
        case "NSAggregateExpression":
            return aggregate(object["NSCollection"].object?.elements)
        case "NSSetExpression":
            let symbols = [5: "UNION", 6: "INTERSECT", 7: "MINUS"]
            guard let type = object["NSExpressionType"].integer, let symbol = symbols[type],
                let left = expression(in: object, "NSLeftExpression"),
                let right = expression(in: object, "NSRightExpression")
            else { return nil }
            return "\(left) \(symbol) \(right)"
        case "NSTernaryExpression":
            guard let test = object["NSPredicate"].object.flatMap({ predicate($0) }),
                let yes = expression(in: object, "NSTrueExpression"),
                let no = expression(in: object, "NSFalseExpression")
            else { return nil }
            return "TERNARY(\(test), \(yes), \(no))"
        case "NSSubqueryExpression":
            guard let collection = expression(in: object, "NSCollection"),
                let variable = object["NSVariable"].text
                    ?? expression(in: object, "NSVariableExpression")?.dropFirst().description,
                let test = object["NSPredicate"].object.flatMap({ predicate($0) })
            else { return nil }
            return "SUBQUERY(\(collection), $\(variable), \(test))"
        case "NSFetchRequestExpression":
            guard let request = expression(in: object, "NSFRExpression"),
                let context = expression(in: object, "NSMOCExpression")
            else { return nil }
            return "FETCH(\(request), \(context), \(object["NSCountOnlyFlag"].bool ? "YES" : "NO"))"
        default: return nil
        }
    }

    /// Converts a key path or a function; both are archived as a selector with operand and arguments.
    private mutating func function(_ object: ArchivedObject) -> String? {
        guard let selector = object["NSSelectorName"].text else { return nil }
        let arguments = object["NSArguments"].object?.elements ?? []
        let operand = object["NSOperand"].object
        if selector == "valueForKey:" || selector == "valueForKeyPath:", arguments.count == 1,
            let path = arguments[0].object, path.className == "NSKeyPathSpecifierExpression"
        {
            guard let text = expression(path) else { return nil }
            if operand?.className == "NSSelfExpression" { return text }
            return operand.flatMap { expression($0) }.map { "\($0).\(text)" }
        }
        var texts: [String] = []
        for argument in arguments {
            guard let text = argument.object.flatMap({ expression($0) }) else { return nil }
            texts.append(text)
        }
        // The operand of Apple's built-in functions is a class: a constant without a value.
        if operand == nil || operand?["NSConstantValueClassName"].isNone == false {
            return Self.call(selector, texts)
        }
        guard let target = operand.flatMap({ expression($0) }) else { return nil }
        return "FUNCTION(\(([target, PredicateText.quoted(selector)] + texts).joined(separator: ", ")))"
    }

    private static let infixes = [
        "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
        "bitwiseAnd:with:": "&", "bitwiseOr:with:": "|", "bitwiseXor:with:": "^", "leftshift:by:": "<<",
        "rightshift:by:": ">>",
    ]

    private static func call(_ selector: String, _ arguments: [String]) -> String {
        if let symbol = infixes[selector], arguments.count == 2 {
            return "(\(arguments[0]) \(symbol) \(arguments[1]))"
        }
        if selector == "castObject:toType:", arguments.count == 2 {
            return "CAST(\(arguments[0]), \(arguments[1]))"
        }
        return "\(selector)(\(arguments.joined(separator: ", ")))"
    }

    private mutating func aggregate(_ elements: [ArchivedValue]?) -> String? {
        guard let elements else { return nil }
        var texts: [String] = []
        for element in elements {
            // An aggregate contains expressions, a constant collection contains values.
            let isExpression = element.object?.isKind(of: "NSExpression") ?? false
            let text = isExpression ? element.object.flatMap { expression($0) } : constant(element)
            guard let text else { return nil }
            texts.append(text)
        }
        return "{\(texts.joined(separator: ", "))}"
    }

    private mutating func constant(_ value: ArchivedValue) -> String? {
        defer { depth -= 1 }
        guard enter() else { return nil }
        if let text = value.text { return PredicateText.quoted(text) }
        switch value {
        case .none: return "nil"
        case .bool(let bool): return bool ? "1" : "0"
        case .integer(let integer): return String(integer)
        case .real(let real): return real.isFinite ? PredicateText.number(real) : nil
        case .date(let seconds): return PredicateText.date(seconds)
        case .data, .text: return nil
        case .object(let object):
            if object.isKind(of: "NSNull") { return "nil" }
            if object.isKind(of: "NSDate") { return object["NS.time"].real.map(PredicateText.date) }
            if let decimal = ArchivedDecimal.decimal(object) { return "\(decimal)" }
            if object.isKind(of: "NSArray") || object.isKind(of: "NSSet") {
                return aggregate(object.elements)
            }
            return nil
        }
    }

    /// Returns a key path in which keys that are keywords of the language are escaped.
    private static func keyPath(_ path: String) -> String {
        path.split(separator: ".", omittingEmptySubsequences: false).map { key in
            PredicateText.reservedWords.contains(key.uppercased()) ? "#" + key : String(key)
        }.joined(separator: ".")
    }
}

extension PredicateText {
    /// Returns a date in the predicate language.
    static func date(_ seconds: Double) -> String { "CAST(\(String(format: "%f", seconds)), \"NSDate\")" }

    static let reservedWords: Set<String> = [
        "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST",
        "SIZE",
        "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE", "FUNCTION", "TERNARY", "UNION",
        "INTERSECT", "MINUS", "ASSIGN",
    ]
}
