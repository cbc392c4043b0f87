import Foundation

/// Archives predicates and expressions as Foundation's objects. It supports the common forms of models and mappings:
/// comparisons of key paths, variables and constants, joined by AND or OR, and calls of the migration manager.
///
/// Other expressions are archived as text, which ``PredicateArchive`` reads and Apple's decoder does not.
struct PredicateArchiveWriter {
    private var tokens: ArraySlice<Token>

    private enum Token: Equatable {
        case word(String)
        case text(String)
        case number(PropertyListValue)
        case symbol(String)
    }

    static func predicate(_ text: String?, in writer: inout KeyedArchiveWriter) -> PropertyListValue {
        guard let text else { return KeyedArchiveWriter.null }
        guard let tokens = tokens(of: text) else { return writer.text(text) }
        // Parsing adds objects; if it fails, the archive must not contain them.
        var attempt = writer
        var parser = PredicateArchiveWriter(tokens: tokens[...])
        guard let result = parser.disjunction(&attempt), parser.tokens.isEmpty else { return writer.text(text) }
        writer = attempt
        return result
    }

    static func expression(_ text: String?, in writer: inout KeyedArchiveWriter) -> PropertyListValue {
        guard let text else { return KeyedArchiveWriter.null }
        guard let tokens = tokens(of: text) else { return writer.text(text) }
        var attempt = writer
        var parser = PredicateArchiveWriter(tokens: tokens[...])
        guard let result = parser.expression(&attempt), parser.tokens.isEmpty else { return writer.text(text) }
        writer = attempt
        return result
    }

    // MARK: Predicates

    private mutating func disjunction(_ writer: inout KeyedArchiveWriter) -> PropertyListValue? {
        compound(["OR", "||"], type: 2, &writer) { $0.conjunction(&$1) }
    }

    private mutating func conjunction(_ writer: inout KeyedArchiveWriter) -> PropertyListValue? {
        compound(["AND", "&&"], type: 1, &writer) { $0.comparison(&$1) }
    }

    private mutating func compound(
        _ words: [String], type: Int64, _ writer: inout KeyedArchiveWriter,
        part: (inout Self, inout KeyedArchiveWriter) -> PropertyListValue?
    ) -> PropertyListValue? {
        guard let first = part(&self, &writer) else { return nil }
        var parts = [first]
        while words.contains(where: { takes($0) }) {
            guard let next = part(&self, &writer) else { return nil }
            parts.append(next)
        }
        if parts.count == 1 { return first }
        let list = writer.array(parts)
        return writer.object(
            ["NSCompoundPredicate", "NSPredicate"],
            ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": list])
    }

    private static let comparisons: [String: Int64] = [
        "<": 0, "<=": 1, "=<": 1, ">": 2, ">=": 3, "=>": 3, "==": 4, "=": 4, "!=": 5, "<>": 5, "MATCHES": 6, "LIKE": 7,
        "BEGINSWITH": 8, "ENDSWITH": 9, "IN": 10, "CONTAINS": 99,
    ]

    private mutating func comparison(_ writer: inout KeyedArchiveWriter) -> PropertyListValue? {
        if takes("(") {
            let inner = disjunction(&writer)
            return takes(")") ? inner : nil
        }
        var modifier: Int64 = 0
        if takes("ANY") || takes("SOME") { modifier = 2 } else if takes("ALL") { modifier = 1 }
        guard let left = expression(&writer), let type = comparisonType() else { return nil }
        guard let options = comparisonOptions(), let right = expression(&writer) else { return nil }
        let operation = Self.operation(type, modifier: modifier, options: options, &writer)
        return writer.object(
            ["NSComparisonPredicate", "NSPredicate"],
            ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": operation])
    }

    private mutating func comparisonType() -> Int64? {
        let type: Int64?
        switch tokens.first {
        case .symbol(let symbol)?: type = Self.comparisons[symbol]
        case .word(let word)?: type = Self.comparisons[word.uppercased()]
        default: type = nil
        }
        if type != nil { tokens.removeFirst() }
        return type
    }

    /// Returns the bits of `[cd]`, 0 without options; `nil` for unknown letters.
    private mutating func comparisonOptions() -> Int64? {
        guard takes("[") else { return 0 }
        guard case .word(let letters)? = tokens.popFirst(), takes("]") else { return nil }
        var bits: Int64 = 0
        for letter in letters {
            guard let bit = ["c": 1, "d": 2, "n": 4, "l": 8][letter] as Int64? else { return nil }
            bits |= bit
        }
        return bits
    }

    private static func operation(
        _ type: Int64, modifier: Int64, options: Int64, _ writer: inout KeyedArchiveWriter
    ) -> PropertyListValue {
        var values: [String: PropertyListValue] = ["NSOperatorType": .integer(type), "NSModifier": .integer(modifier)]
        let name: String
        switch type {
        case 0...3:
            name = "NSComparisonPredicateOperator"
            values["NSOptions"] = .integer(options)
            values["NSVariant"] = .integer(type)
        case 4, 5:
            name = "NSEqualityPredicateOperator"
            values["NSOptions"] = .integer(options)
            values["NSNegate"] = .bool(type == 5)
        case 6:
            name = "NSMatchingPredicateOperator"
            values["NSFlags"] = .integer(options)
        case 7:
            name = "NSLikePredicateOperator"
            values["NSFlags"] = .integer(options)
        case 8, 9:
            name = "NSSubstringPredicateOperator"
            values["NSFlags"] = .integer(options)
            values["NSSubstringPosition"] = .integer(type == 8 ? 0 : 1)
        default:
            name = "NSInPredicateOperator"
            values["NSFlags"] = .integer(options)
        }
        return writer.object([name, "NSPredicateOperator"], values)
    }

    // MARK: Expressions

    private mutating func expression(_ writer: inout KeyedArchiveWriter) -> PropertyListValue? {
        switch tokens.popFirst() {
        case .text(let text)?: return Self.constant(writer.text(text), &writer)
        case .number(let number)?: return Self.constant(writer.scalar(number), &writer)
        case .word(let word)?: return expression(word, &writer)
        default: return nil
        }
    }

    private mutating func expression(_ word: String, _ writer: inout KeyedArchiveWriter) -> PropertyListValue? {
        if tokens.first == .symbol("(") {
            switch word.uppercased() {
            case "FUNCTION": return message(&writer)
            case "FETCH": return fetch(&writer)
            case "TERNARY": return conditional(&writer)
            default: return function(word, &writer)
            }
        }
        switch word.uppercased() {
        case "SELF": return Self.subject(&writer)
        case "NIL", "NULL": return Self.constant(KeyedArchiveWriter.null, &writer)
        case "TRUE", "YES": return Self.constant(writer.scalar(.bool(true)), &writer)
        case "FALSE", "NO": return Self.constant(writer.scalar(.bool(false)), &writer)
        case let upper where PredicateText.reservedWords.contains(upper): return nil
        default: break
        }
        let keys = word.split(separator: ".", omittingEmptySubsequences: false).map { key in
            key.hasPrefix("#") ? String(key.dropFirst()) : String(key)
        }
        if keys.contains("") { return nil }
        if let mark = keys.dropFirst().firstIndex(where: { $0.hasPrefix("@") }) {
            return Self.collectionOperator(keys, mark: mark, &writer)
        }
        if keys[0].hasPrefix("$") {
            let name = writer.text(String(keys[0].dropFirst()))
            let variable = writer.object(
                ["NSVariableExpression", "NSExpression"], ["NSExpressionType": .integer(2), "NSVariable": name])
            let path = keys.dropFirst().joined(separator: ".")
            return path.isEmpty ? variable : Self.keyPath(path, of: variable, isSelf: false, &writer)
        }
        let isSelf = keys[0].uppercased() == "SELF" && keys.count > 1
        return Self.keyPath(
            keys.dropFirst(isSelf ? 1 : 0).joined(separator: "."), of: Self.subject(&writer), isSelf: true, &writer)
    }

    private mutating func function(_ name: String, _ writer: inout KeyedArchiveWriter) -> PropertyListValue? {
        guard takes("("), !name.contains("."), !PredicateText.reservedWords.contains(name.uppercased()) else {
            return nil
        }
        var arguments: [PropertyListValue] = []
        if !takes(")") {
            repeat {
                guard let argument = expression(&writer) else { return nil }
                arguments.append(argument)
            } while takes(",")
            guard takes(")") else { return nil }
        }
        let selector = arguments.count == 1 && !name.hasSuffix(":") ? name + ":" : name
        return Self.call(selector, arguments, &writer)
    }

    /// `FUNCTION($manager, "selector:", …)`
    private mutating func message(_ writer: inout KeyedArchiveWriter) -> PropertyListValue? {
        guard takes("("), let target = expression(&writer), takes(","), case .text(let selector)? = tokens.popFirst()
        else { return nil }
        var arguments: [PropertyListValue] = []
        while takes(",") {
            guard let argument = expression(&writer) else { return nil }
            arguments.append(argument)
        }
        guard takes(")") else { return nil }
        let name = writer.text(selector)
        let list = writer.array(arguments)
        return writer.object(
            ["NSFunctionExpression", "NSExpression"],
            ["NSExpressionType": .integer(4), "NSOperand": target, "NSSelectorName": name, "NSArguments": list])
    }

    /// `FETCH(request, context, NO)`
    private mutating func fetch(_ writer: inout KeyedArchiveWriter) -> PropertyListValue? {
        guard takes("("), let request = expression(&writer), takes(","), let context = expression(&writer), takes(",")
        else { return nil }
        let countsOnly = takes("YES") || takes("TRUE")
        guard countsOnly || takes("NO") || takes("FALSE"), takes(")") else { return nil }
        return writer.object(
            ["NSFetchRequestExpression", "NSExpression"],
            [
                "NSExpressionType": .integer(50), "NSFRExpression": request, "NSMOCExpression": context,
                "NSCountOnlyFlag": .bool(countsOnly),
            ])
    }

    /// `TERNARY(condition, then, else)`
    private mutating func conditional(_ writer: inout KeyedArchiveWriter) -> PropertyListValue? {
        guard takes("("), let condition = disjunction(&writer), takes(","), let yes = expression(&writer), takes(","),
            let no = expression(&writer), takes(")")
        else { return nil }
        return writer.object(
            ["NSTernaryExpression", "NSExpression"],
            [
                "NSExpressionType": .integer(20), "NSPredicate": condition, "NSTrueExpression": yes,
                "NSFalseExpression": no,
            ])
    }

    /// Converts `pages.@count` to a function of the key path before it, `count:(pages)`.
    private static func collectionOperator(
        _ keys: [String], mark: Int, _ writer: inout KeyedArchiveWriter
    ) -> PropertyListValue? {
        let function = DerivationText.hashed(keys.joined(separator: "."))
        guard let colon = function.range(of: ":("), function.hasSuffix(")") else { return nil }
        let path = String(function[colon.upperBound...].dropLast())
        if path.contains("@") { return nil }
        let argument = keyPath(path, of: subject(&writer), isSelf: true, &writer)
        return call(String(function[..<colon.lowerBound]) + ":", [argument], &writer)
    }

    private static func call(
        _ selector: String, _ arguments: [PropertyListValue], _ writer: inout KeyedArchiveWriter
    ) -> PropertyListValue {
        let owner = writer.text("_NSPredicateUtilities")
        let target = writer.object(
            ["NSConstantValueExpression", "NSExpression"],
            ["NSExpressionType": .integer(0), "NSConstantValueClassName": owner])
        let name = writer.text(selector)
        let list = writer.array(arguments)
        return writer.object(
            ["NSFunctionExpression", "NSExpression"],
            ["NSExpressionType": .integer(4), "NSOperand": target, "NSSelectorName": name, "NSArguments": list])
    }

    private static func subject(_ writer: inout KeyedArchiveWriter) -> PropertyListValue {
        writer.object(["NSSelfExpression", "NSExpression"], ["NSExpressionType": .integer(1)])
    }

    private static func constant(
        _ value: PropertyListValue, _ writer: inout KeyedArchiveWriter
    ) -> PropertyListValue {
        writer.object(
            ["NSConstantValueExpression", "NSExpression"], ["NSExpressionType": .integer(0), "NSConstantValue": value])
    }

    private static func keyPath(
        _ path: String, of operand: PropertyListValue, isSelf: Bool, _ writer: inout KeyedArchiveWriter
    ) -> PropertyListValue {
        let text = writer.text(path)
        let specifier = writer.object(
            ["NSKeyPathSpecifierExpression", "NSExpression"], ["NSExpressionType": .integer(10), "NSKeyPath": text])
        let arguments = writer.array([specifier], isMutable: true)
        let selector = writer.text(isSelf && !path.contains(".") ? "valueForKey:" : "valueForKeyPath:")
        return writer.object(
            ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression"],
            [
                "NSExpressionType": .integer(isSelf ? 3 : 4), "NSOperand": operand, "NSSelectorName": selector,
                "NSArguments": arguments,
            ])
    }

    // MARK: Tokens

    private mutating func takes(_ token: String) -> Bool {
        switch tokens.first {
        case .symbol(token)?: break
        case .word(let word)? where word.uppercased() == token: break
        default: return false
        }
        tokens.removeFirst()
        return true
    }

    /// Returns the tokens of a text; `nil` if it contains an unknown token.
    private static func tokens(of text: String) -> [Token]? {
        var result: [Token] = []
        var rest = Substring(text)
        while let character = rest.first {
            if character.isWhitespace {
                rest.removeFirst()
            } else if character == "\"" || character == "'" {
                guard let literal = literal(&rest) else { return nil }
                result.append(.text(literal))
            } else if character.isNumber || character == "-" {
                let digits = rest.prefix { $0.isNumber || "+-.eExX".contains($0) }
                guard let number = number(String(digits)) else { return nil }
                result.append(.number(number))
                rest = rest.dropFirst(digits.count)
            } else if character.isLetter || "_$#".contains(character) {
                let word = rest.prefix { $0.isLetter || $0.isNumber || "_$#.@:".contains($0) }
                result.append(.word(String(word)))
                rest = rest.dropFirst(word.count)
            } else if let symbol = ["<=", ">=", "==", "!=", "<>", "=<", "=>", "&&", "||"].first(where: rest.hasPrefix) {
                result.append(.symbol(symbol))
                rest = rest.dropFirst(2)
            } else if "<>=()[],".contains(character) {
                result.append(.symbol(String(character)))
                rest.removeFirst()
            } else {
                return nil
            }
        }
        return result
    }

    private static func number(_ text: String) -> PropertyListValue? {
        if let integer = Int64(text) { return .integer(integer) }
        return Double(text).map { .real($0) }
    }

    private static func literal(_ rest: inout Substring) -> String? {
        let quote = rest.removeFirst()
        var result = ""
        while let character = rest.popFirst() {
            if character == quote { return result }
            if character != "\\" {
                result.append(character)
                continue
            }
            switch rest.popFirst() {
            case "n"?: result.append("\n")
            case "r"?: result.append("\r")
            case "t"?: result.append("\t")
            case let other? where "\\\"'".contains(other): result.append(other)
            default: return nil
            }
        }
        return nil
    }
}
