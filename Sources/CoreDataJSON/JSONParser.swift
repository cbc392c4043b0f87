/// Parses JSON (RFC 8259) of untrusted senders: bounded in depth and number of values, strict in everything else.
///
/// Invalid UTF-8, members that appear twice, unpaired surrogates and text after the value are errors with their byte.
public struct JSONParser {
    /// A text that is not JSON, or exceeds a limit.
    public struct Failure: Error, CustomStringConvertible {
        /// What is wrong, in words.
        public let message: String
        /// The position of the mistake, in bytes from 0.
        public let offset: Int

        /// The message with the position.
        public var description: String { "\(message) (byte \(offset))" }
    }

    /// Bounds of a text.
    public struct Limits: Sendable {
        /// The number of arrays and objects that may lie in each other.
        public var depth = 32
        /// The number of values, those in arrays and objects included.
        public var values = 50_000
        /// The number of digits, signs and points of a number.
        public var digits = 100

        /// Makes the default limits.
        public init() {}
    }

    private let bytes: [UInt8]
    private let limits: Limits
    private var index = 0
    private var count = 0

    /// Returns the value that the bytes represent.
    public static func parse(_ bytes: [UInt8], limits: Limits = Limits()) throws(Failure) -> JSONValue {
        var parser = JSONParser(bytes: bytes, limits: limits)
        let value = try parser.value(depth: 0)
        parser.skipBlanks()
        guard parser.index == bytes.count else { throw parser.failure("unexpected text after the value") }
        return value
    }

    private init(bytes: [UInt8], limits: Limits) {
        self.bytes = bytes
        self.limits = limits
    }

    private func failure(_ message: String) -> Failure { Failure(message: message, offset: index) }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func expect(_ byte: UInt8) throws(Failure) {
        guard next == byte else { throw failure("expected '\(Character(UnicodeScalar(byte)))'") }
        index += 1
    }

    private mutating func value(depth: Int) throws(Failure) -> JSONValue {
        guard depth < limits.depth else { throw failure("more than \(limits.depth) levels") }
        count += 1
        guard count <= limits.values else { throw failure("more than \(limits.values) values") }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw failure("the text ends where a value is expected")
        default: return try number()
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
        let start = index
        for offset in 0..<word.utf8CodeUnitCount {
            guard next == word.utf8Start[offset] else {
                index = start
                throw failure("expected a value")
            }
            index += 1
        }
        return value
    }

    private mutating func array(_ depth: Int) throws(Failure) -> JSONValue {
        index += 1
        var elements: [JSONValue] = []
        skipBlanks()
        if next == UInt8(ascii: "]") {
            index += 1
            return .array([])
        }
        while true {
            elements.append(try value(depth: depth + 1))
            skipBlanks()
            if next == UInt8(ascii: ",") {
                index += 1
                continue
            }
            try expect(UInt8(ascii: "]"))
            return .array(elements)
        }
    }

    private mutating func object(_ depth: Int) throws(Failure) -> JSONValue {
        index += 1
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        skipBlanks()
        if next == UInt8(ascii: "}") {
            index += 1
            return .object([])
        }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw failure("expected the name of a member") }
            let start = index
            let name = try string()
            guard names.insert(name).inserted else {
                index = start
                throw failure("the member '\(name.prefix(80))' appears twice")
            }
            skipBlanks()
            try expect(UInt8(ascii: ":"))
            members.append(.init(name, try value(depth: depth + 1)))
            skipBlanks()
            if next == UInt8(ascii: ",") {
                index += 1
                continue
            }
            try expect(UInt8(ascii: "}"))
            return .object(members)
        }
    }

    // MARK: Numbers

    private static func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 >= 0x30 && $0 <= 0x39 } ?? false }

    private mutating func number() throws(Failure) -> JSONValue {
        let start = index
        func digits(_ parser: inout JSONParser) throws(Failure) {
            guard Self.isDigit(parser.next) else { throw parser.failure("expected a digit") }
            while Self.isDigit(parser.next) { parser.index += 1 }
        }
        if next == UInt8(ascii: "-") { index += 1 }
        guard Self.isDigit(next) else { throw failure(index == start ? "expected a value" : "expected a digit") }
        if next == UInt8(ascii: "0") {
            index += 1
            if Self.isDigit(next) { throw failure("a number does not begin with 0") }
        } else {
            try digits(&self)
        }
        if next == UInt8(ascii: ".") {
            index += 1
            try digits(&self)
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            index += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            try digits(&self)
        }
        guard index - start <= limits.digits else {
            index = start
            throw failure("a number has more than \(limits.digits) characters")
        }
        return .number(String(decoding: bytes[start..<index], as: UTF8.self))
    }

    // MARK: Strings

    private mutating func string() throws(Failure) -> String {
        index += 1
        var text = ""
        var start = index
        func take(_ parser: JSONParser, _ text: inout String) throws(Failure) {
            guard start < parser.index else { return }
            guard let part = String(validating: parser.bytes[start..<parser.index], as: UTF8.self) else {
                throw Failure(message: "a string is not valid UTF-8", offset: start)
            }
            text += part
        }
        while true {
            guard let byte = next else { throw failure("a string does not end") }
            switch byte {
            case UInt8(ascii: "\""):
                try take(self, &text)
                index += 1
                return text
            case UInt8(ascii: "\\"):
                try take(self, &text)
                text.unicodeScalars.append(try escape())
                start = index
            case 0..<0x20: throw failure("a string contains a control character: write it as an escape")
            default: index += 1
            }
        }
    }

    private mutating func escape() throws(Failure) -> Unicode.Scalar {
        index += 1
        guard let byte = next else { throw failure("a string does not end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default:
            index -= 1
            throw failure("unknown escape")
        }
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, next == UInt8(ascii: "\\") else { throw failure("an unpaired surrogate") }
        index += 1
        try expect(UInt8(ascii: "u"))
        let second = try hexadecimal()
        guard second >= 0xDC00, second < 0xE000,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw failure("an unpaired surrogate") }
        return scalar
    }

    private mutating func hexadecimal() throws(Failure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
                throw failure("expected four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}
