import Foundation
import Synchronization

extension TextComparison {
    /// A regular expression that cannot be compiled.
    package struct InvalidPattern: EngineFailure, Hashable {
        package let pattern: String

        package var message: String { "\"\(pattern)\" is not a regular expression" }
    }

    // MARK: LIKE

    /// Returns whether the whole of `text` matches `pattern`. `*` stands for any run of characters, `?` for one Unicode
    /// scalar, and `\` makes the next character literal.
    package static func like(_ text: String, _ pattern: String, options: UInt = 0) -> Bool {
        withBytes(text, pattern) { like($0, $1, options: options) }
    }

    package static func like(_ text: Bytes, _ pattern: Bytes, options: UInt = 0) -> Bool {
        let folding = folding(of: options)
        return withFolded(text, folding) { text in
            withFolded(pattern, folding) { pattern in fits(text, pattern) }
        }
    }

    private static func fits(_ text: Bytes, _ pattern: Bytes) -> Bool {
        let star = UInt8(ascii: "*")
        let question = UInt8(ascii: "?")
        let escape = UInt8(ascii: "\\")
        var place = 0
        var wanted = 0
        // The position for backtracking: the last star matches one more character.
        var retry: (place: Int, wanted: Int)?
        while place < text.count {
            if wanted < pattern.count {
                let byte = pattern[wanted]
                if byte == star {
                    wanted += 1
                    retry = (place, wanted)
                    continue
                }
                if byte == question {
                    place += scalarLength(text[place])
                    wanted += 1
                    continue
                }
                let literal = byte == escape && wanted + 1 < pattern.count ? wanted + 1 : wanted
                if pattern[literal] == text[place] {
                    place += 1
                    wanted = literal + 1
                    continue
                }
            }
            guard let last = retry else { return false }
            place = last.place + scalarLength(text[last.place])
            wanted = last.wanted
            retry = (place, wanted)
        }
        while wanted < pattern.count, pattern[wanted] == star { wanted += 1 }
        return wanted == pattern.count
    }

    private static func scalarLength(_ first: UInt8) -> Int {
        first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    }

    // MARK: MATCHES

    /// Returns whether the whole of `text` matches the ICU regular expression `pattern`.
    ///
    /// `[d]` strips the diacritics of both; `[c]` uses the expression's case-insensitive mode.
    ///
    /// - Throws: ``InvalidPattern``. Compiled expressions are kept, so a pattern is compiled once for many texts.
    package static func matches(_ text: String, _ pattern: String, options: UInt = 0) throws(InvalidPattern) -> Bool {
        let folding = folding(of: options)
        let expression = try RegularExpressions.shared.expression(pattern, folding)
        let text = fold(text, options: folding & diacriticInsensitive)
        let range = NSRange(location: 0, length: text.utf16.count)
        return expression.firstMatch(in: text, options: [], range: range) != nil
    }
}

/// Compiled regular expressions, at most ``capacity`` of them.
private final class RegularExpressions: Sendable {
    static let shared = RegularExpressions()
    static let capacity = 128

    private struct Key: Hashable {
        var pattern: String
        var folding: UInt
    }

    /// Guards the table. An immutable `NSRegularExpression` may be used by many threads at once.
    private let compiled = Mutex<[Key: Shared]>([:])

    private struct Shared: @unchecked Sendable {
        // Safe because NSRegularExpression is immutable and documented as thread safe.
        let expression: NSRegularExpression
    }

    func expression(
        _ pattern: String, _ folding: UInt
    ) throws(TextComparison.InvalidPattern) -> NSRegularExpression {
        let key = Key(pattern: pattern, folding: folding)
        if let found = compiled.withLock({ $0[key] }) { return found.expression }
        let made = Shared(expression: try Self.compile(pattern, folding))
        compiled.withLock { table in
            // A program's source contains few patterns, so the table stays small. A program that generates patterns
            // must not make it grow without limit.
            if table.count >= Self.capacity { table.removeAll(keepingCapacity: true) }
            table[key] = made
        }
        return made.expression
    }

    private static func compile(
        _ pattern: String, _ folding: UInt
    ) throws(TextComparison.InvalidPattern) -> NSRegularExpression {
        let folded = TextComparison.fold(pattern, options: folding & TextComparison.diacriticInsensitive)
        let options: NSRegularExpression.Options =
            folding & TextComparison.caseInsensitive != 0 ? .caseInsensitive : []
        // Compile the pattern alone first; otherwise "a)(b" would be valid inside the group.
        guard folded.isEmpty || (try? NSRegularExpression(pattern: folded, options: options)) != nil,
            let whole = try? NSRegularExpression(pattern: "\\A(?:\(folded))\\z", options: options)
        else { throw TextComparison.InvalidPattern(pattern: pattern) }
        return whole
    }
}
