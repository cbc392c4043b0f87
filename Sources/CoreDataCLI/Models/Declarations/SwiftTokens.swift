import CoreDataModel
import CoreDataPrimitives

/// A word, literal or sign of Swift source and where it stands.
struct SwiftToken {
    enum Kind: Equatable {
        case identifier(String)
        case text(String)
        case number(String)
        case sign(Character)
        case end
    }

    var kind: Kind
    var place: SourceLocation
}

/// Splits Swift source into tokens: as much of Swift as a declared model needs.
struct SwiftScanner {
    private let file: String
    private let characters: [Character]
    private var index = 0
    private var line = 1
    private var column = 1

    static func tokens(of text: String, file: String) throws(ModelFailure) -> [SwiftToken] {
        var scanner = SwiftScanner(text, file: file)
        var tokens: [SwiftToken] = []
        while true {
            let token = try scanner.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    private init(_ text: String, file: String) {
        self.file = file
        characters = Array(text)
    }

    private var place: SourceLocation { SourceLocation(file: file, line: line, column: column) }

    private func peek(_ offset: Int = 0) -> Character? {
        index + offset < characters.count ? characters[index + offset] : nil
    }

    private mutating func advance() {
        if characters[index].isNewline {
            line += 1
            column = 1
        } else {
            column += 1
        }
        index += 1
    }

    private mutating func skipSpaceAndComments() throws(ModelFailure) {
        while let character = peek() {
            if character.isWhitespace {
                advance()
            } else if character == "/", peek(1) == "/" {
                while let next = peek(), !next.isNewline { advance() }
            } else if character == "/", peek(1) == "*" {
                let start = place
                while peek() != nil, !(peek() == "*" && peek(1) == "/") { advance() }
                if peek() == nil { throw failure("a comment that starts here has no end", at: start) }
                advance()
                advance()
            } else {
                return
            }
        }
    }

    private mutating func next() throws(ModelFailure) -> SwiftToken {
        try skipSpaceAndComments()
        let place = place
        guard let character = peek() else { return SwiftToken(kind: .end, place: place) }
        if character == "\"" { return SwiftToken(kind: .text(try text()), place: place) }
        if character.isNumber || (character == "-" && peek(1)?.isNumber == true) {
            return SwiftToken(kind: .number(number()), place: place)
        }
        if character == "`" || character == "_" || character.isLetter {
            return SwiftToken(kind: .identifier(identifier()), place: place)
        }
        advance()
        return SwiftToken(kind: .sign(character), place: place)
    }

    private mutating func identifier() -> String {
        var result = ""
        while let character = peek(), character.isLetter || character.isNumber || "_`".contains(character) {
            if character != "`" { result.append(character) }
            advance()
        }
        return result
    }

    private mutating func number() -> String {
        var result = ""
        while let character = peek() {
            let isExponentSign = "+-".contains(character) && (result.last == "e" || result.last == "E")
            let isDot = character == "." && peek(1)?.isNumber == true
            guard character.isNumber || "eE_".contains(character) || isExponentSign || isDot || result.isEmpty else {
                break
            }
            if character != "_" { result.append(character) }
            advance()
        }
        return result
    }

    private mutating func text() throws(ModelFailure) -> String {
        let start = place
        advance()
        if peek() == "\"", peek(1) == "\"" {
            throw failure("a text over several lines is not read here; write it in one, with \\n", at: start)
        }
        var result = ""
        while let character = peek(), !character.isNewline {
            if character == "\"" {
                advance()
                return result
            }
            if character == "\\" {
                advance()
                result.unicodeScalars.append(try escaped())
            } else {
                result.append(character)
                advance()
            }
        }
        throw failure("a text that starts here has no end", at: start)
    }

    private mutating func escaped() throws(ModelFailure) -> Unicode.Scalar {
        let place = place
        guard let character = peek() else { throw failure("the file ends inside a text", at: place) }
        advance()
        switch character {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "0": return "\0"
        case "\"", "\\", "'": return character.unicodeScalars.first ?? " "
        case "(": throw failure("a value in a text is no literal", at: place)
        case "u":
            var digits = ""
            guard peek() == "{" else { break }
            advance()
            while let digit = peek(), digit.isHexDigit {
                digits.append(digit)
                advance()
            }
            guard peek() == "}", let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
                break
            }
            advance()
            return scalar
        default: break
        }
        throw failure("no such escape in Swift: \\\(character)", at: place)
    }

    private func failure(_ message: String, at place: SourceLocation) -> ModelFailure {
        ModelFailure(diagnostics: [Diagnostic(.error, message, at: place)])
    }
}
