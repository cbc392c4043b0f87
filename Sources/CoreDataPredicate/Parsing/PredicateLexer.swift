import CoreDataPrimitives
import Foundation

/// Splits a format into tokens.
struct PredicateLexer {
    private let source: PredicateSource
    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var tokens: [PredicateToken] = []
    /// Whether the last token can end an expression, so that an operator follows.
    private var afterOperand = false
    /// Whether the open bracket contains options, as in `LIKE[cd]`.
    private var isInOptions = false

    private init(_ source: PredicateSource) {
        self.source = source
        scalars = source.scalars
    }

    /// Returns the tokens of the source; the last is `.end`.
    static func tokens(of source: PredicateSource) throws(PredicateFailure) -> [PredicateToken] {
        var lexer = PredicateLexer(source)
        while try lexer.readToken() {}
        return lexer.tokens
    }

    private mutating func readToken() throws(PredicateFailure) -> Bool {
        while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
        let start = position
        guard let scalar = peek() else {
            tokens.append(PredicateToken(kind: .end, start: start, end: start))
            return false
        }
        let kind: PredicateToken.Kind
        switch scalar {
        case "\"", "'": kind = .literal(.string(try readString(quote: scalar)))
        case "0"..."9": kind = .literal(try readNumber())
        case "." where peek(1)?.isASCIIDigit == true && !afterOperand:
            kind = .literal(try readNumber())
        case "%": kind = .placeholder(try readPlaceholder())
        case "$": kind = .variable(try readName(after: "$", meaning: "a variable"))
        case "@": kind = .collectionOperator("@" + (try readName(after: "@", meaning: "a collection operator")))
        case "#": kind = .key(try readEscapedKey())
        case "<" where !afterOperand: kind = readData().map { .literal(.data($0)) } ?? readSymbol()
        case _ where scalar.startsName: kind = readWord()
        default:
            kind = readSymbol()
            if case .symbol("") = kind {
                throw source.failure("unexpected character '\(scalar)'", at: start)
            }
        }
        let token = PredicateToken(kind: kind, start: start, end: position)
        tokens.append(token)
        if token.isSymbol("["), !afterOperand { isInOptions = true }
        afterOperand = token.endsOperand
        if token.isSymbol("]"), isInOptions {
            isInOptions = false
            afterOperand = false
        }
        return true
    }

    private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        position + offset < scalars.count ? scalars[position + offset] : nil
    }

    private func text(_ range: Range<Int>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[range])
        return String(text)
    }

    // MARK: Names

    private mutating func readName(after sign: Character, meaning: String) throws(PredicateFailure) -> String {
        let start = position
        position += 1
        guard peek()?.startsName == true else {
            throw source.failure("'\(sign)' must be followed by the name of \(meaning)", at: start)
        }
        return readIdentifier()
    }

    private mutating func readIdentifier() -> String {
        let start = position
        while let scalar = peek(), scalar.continuesName { position += 1 }
        return text(start..<position)
    }

    private mutating func readEscapedKey() throws(PredicateFailure) -> String {
        let start = position
        position += 1
        if let quote = peek(), quote == "\"" || quote == "'" { return try readString(quote: quote) }
        guard peek()?.startsName == true else {
            throw source.failure("'#' must be followed by a key", at: start, hint: "for example #size")
        }
        return readIdentifier()
    }

    private mutating func readWord() -> PredicateToken.Kind {
        let start = position
        var name = readIdentifier()
        if name.lowercased() == "uti" {
            for suffix in ["-conforms-to", "-equals"] {
                let end = position + suffix.unicodeScalars.count
                if end <= scalars.count, text(position..<end).lowercased() == suffix {
                    position = end
                    name += suffix
                }
            }
        }
        let isCall = nextIsParenthesis(from: position)
        if let word = PredicateWord(spelled: name) {
            // The few unreserved words are keywords only where the grammar expects them.
            let isMeant = word.isReserved || (word.isCall ? isCall : afterOperand)
            if isMeant { return .reserved(word, name) }
        }
        // `modulus:by:(…)`
        var end = position
        while end < scalars.count, scalars[end] == ":", end + 1 == scalars.count || scalars[end + 1] != "=" {
            end += 1
            if end < scalars.count, scalars[end].startsName {
                while end < scalars.count, scalars[end].continuesName { end += 1 }
            }
        }
        if nextIsParenthesis(from: end) {
            position = end
            return .functionName(text(start..<end))
        }
        return .word(name)
    }

    private func nextIsParenthesis(from place: Int) -> Bool {
        var place = place
        while place < scalars.count, scalars[place].properties.isWhitespace { place += 1 }
        return place < scalars.count && scalars[place] == "("
    }

    // MARK: Literals

    private mutating func readString(quote: Unicode.Scalar) throws(PredicateFailure) -> String {
        let start = position
        position += 1
        var content = String.UnicodeScalarView()
        while let scalar = peek() {
            position += 1
            if scalar == quote { return String(content) }
            content.append(scalar == "\\" ? try readEscape(inStringAt: start) : scalar)
        }
        throw source.failure(
            "the string that starts here has no end", at: start,
            hint: "close it with \(quote), or pass the text as an argument for %@")
    }

    private mutating func readEscape(inStringAt start: Int) throws(PredicateFailure) -> Unicode.Scalar {
        guard let scalar = peek() else { throw source.failure("the string that starts here has no end", at: start) }
        position += 1
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try readCode(digits: 4, radix: 16)
        case "x": return try readCode(digits: 2, radix: 16)
        case "0"..."7":
            position -= 1
            return try readCode(digits: 3, radix: 8)
        default: return scalar
        }
    }

    private mutating func readCode(digits: Int, radix: Int) throws(PredicateFailure) -> Unicode.Scalar {
        let start = position
        while position < start + digits, let scalar = peek(), Character(scalar).isASCII,
            Int(String(scalar), radix: radix) != nil
        {
            position += 1
        }
        guard let code = UInt32(text(start..<position), radix: radix), let scalar = Unicode.Scalar(code) else {
            throw source.failure("this is not the number of a character", at: start)
        }
        return scalar
    }

    private mutating func readNumber() throws(PredicateFailure) -> Value {
        let start = position
        if peek() == "0", let letter = peek(1), let radix = ["x": 16, "X": 16, "o": 8, "O": 8, "b": 2, "B": 2][letter] {
            position += 2
            let digits = readIdentifier()
            guard let number = UInt64(digits, radix: radix) else {
                throw source.failure("'\(text(start..<position))' is not a number", at: start)
            }
            return Int64(exactly: number).map { .integer($0) } ?? .decimal(Decimal(number))
        }
        var isInteger = true
        while peek()?.isASCIIDigit == true { position += 1 }
        if peek() == ".", peek(1)?.isASCIIDigit == true {
            isInteger = false
            position += 1
            while peek()?.isASCIIDigit == true { position += 1 }
        }
        if peek() == "e" || peek() == "E" {
            let sign = peek(1) == "+" || peek(1) == "-" ? 1 : 0
            if peek(1 + sign)?.isASCIIDigit == true {
                isInteger = false
                position += 1 + sign
                while peek()?.isASCIIDigit == true { position += 1 }
            }
        }
        if peek()?.continuesName == true {
            _ = readIdentifier()
            throw source.failure(
                "'\(text(start..<position))' is neither a number nor a key", at: start,
                hint: "a key that starts with a digit is passed as an argument for %K")
        }
        return Self.number(text(start..<position), isInteger: isInteger)
    }

    private static func number(_ text: String, isInteger: Bool) -> Value {
        if isInteger, let number = Int64(text) { return .integer(number) }
        let mantissa = text.prefix { $0 != "e" && $0 != "E" }
        let digits = mantissa.filter(\.isNumber).drop { $0 == "0" }.count
        // A literal with more digits than a double stores becomes a decimal.
        if isInteger || digits > 17, digits <= 38, let decimal = Decimal(string: text), decimal.isFinite {
            return .decimal(decimal)
        }
        return .double(Double(text) ?? .infinity)
    }

    /// Reads `<0a 1b>`; `nil` if the sign is an operator.
    private mutating func readData() -> Data? {
        var place = position + 1
        var data = Data()
        var high: UInt8?
        while place < scalars.count {
            let scalar = scalars[place]
            place += 1
            if scalar == ">" {
                guard high == nil else { return nil }
                position = place
                return data
            }
            if scalar == " " { continue }
            guard scalar.isASCII, let digit = UInt8(String(scalar), radix: 16) else { return nil }
            if let first = high {
                data.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return nil
    }

    // MARK: Placeholders and symbols

    private mutating func readPlaceholder() throws(PredicateFailure) -> PredicateToken.Placeholder {
        let start = position
        position += 1
        if let scalar = peek() {
            position += 1
            switch scalar {
            case "@": return .object
            case "K": return .keyPath
            default: position -= 1
            }
        }
        while let scalar = peek(), "lhqzjtL".unicodeScalars.contains(scalar) { position += 1 }
        if let scalar = peek() {
            position += 1
            switch scalar {
            case "d", "i", "u", "D", "U", "x", "X", "o", "O", "c", "C": return .integer
            case "f", "F", "g", "G", "e", "E", "a", "A": return .double
            case "s", "S": return .text
            default: break
            }
        }
        throw source.failure(
            "'\(text(start..<position))' is not a placeholder", at: start,
            hint: "use %@ for a value, %K for a key path, %d or %f for a number")
    }

    private static let pairs: Set<String> = [
        "==", "!=", "<>", "<=", "=<", ">=", "=>", "<<", ">>", "&&", "||", ":=", "**",
    ]
    private static let singles = "=<>!&|^~+-*/(){}[],."

    /// Reads the operator or bracket that starts here; empty if there is none.
    private mutating func readSymbol() -> PredicateToken.Kind {
        if position + 1 < scalars.count {
            let pair = text(position..<position + 2)
            if Self.pairs.contains(pair) {
                position += 2
                return .symbol(pair)
            }
        }
        guard let scalar = peek(), Self.singles.unicodeScalars.contains(scalar) else { return .symbol("") }
        position += 1
        return .symbol(String(scalar))
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIIDigit: Bool { "0"..."9" ~= self }

    fileprivate var startsName: Bool {
        if isASCII { return "a"..."z" ~= self || "A"..."Z" ~= self || self == "_" }
        return properties.isXIDStart
    }

    fileprivate var continuesName: Bool {
        if isASCII { return startsName || isASCIIDigit }
        return properties.isXIDContinue
    }
}

extension String {
    /// Whether the text is a valid key without quotes in a format.
    var isPredicateName: Bool {
        guard let first = unicodeScalars.first, first.startsName else { return false }
        return unicodeScalars.allSatisfy(\.continuesName)
    }
}
