import Foundation

/// One Swift file as code alone: comments and the contents of string literals are blanked, lines keep their numbers.
struct SourceText {
    let lines: [Substring]
    /// What string literals say, with the line on which each begins.
    let literals: [(text: String, line: Int)]
    let code: String

    init(_ text: String) {
        (code, literals) = Self.separated(text)
        lines = code.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The lines in which one of the words stands somewhere: most files have none, and need not be looked at more closely.
    func lines(containing words: [String]) -> [Int] {
        func contains(_ text: String) -> Bool {
            text.withCString { text in words.contains { strstr(text, $0) != nil } }
        }
        return contains(code) ? lines.indices.filter { contains(String(lines[$0])) } : []
    }

    /// The modules that the file imports, with the line of each.
    ///
    ///     @testable import struct Foundation.Data     // Foundation
    var imports: [(module: String, line: Int)] {
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
        return lines(containing: ["import"]).flatMap { index in
            lines[index].split(separator: ";").compactMap { statement -> (module: String, line: Int)? in
                let words = statement.split(whereSeparator: \.isWhitespace)
                guard let position = words.firstIndex(of: "import"),
                    words[..<position].allSatisfy({ $0.hasPrefix("@") || Self.accessLevels.contains($0) }),
                    let name = words[(position + 1)...].first(where: { !kinds.contains($0) })
                else { return nil }
                return (name.prefix { $0 != "." }.description, index + 1)
            }
        }
    }

    /// The lines that declare something `public` or `open`.
    var publicDeclarations: [Int] {
        lines(containing: ["public", "open"]).filter { index in
            let words = lines[index].split { !($0.isLetter || $0.isNumber || "_@(".contains($0)) }
            return zip(words, words.dropFirst()).contains { word, next in
                ["public", "open", "public(set", "open(set"].contains(word)
                    && (Self.declarationWords.contains(next.prefix { $0 != "(" }) || next.hasPrefix("@"))
            }
        }.map { $0 + 1 }
    }

    /// The lines with an identifier that starts so.
    func lines(mentioning prefixes: [String]) -> [Int] {
        lines(containing: prefixes).filter { index in
            lines[index].split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { word in
                prefixes.contains { word.hasPrefix($0) }
            }
        }.map { $0 + 1 }
    }

    private static let accessLevels: Set<Substring> = [
        "public", "package", "internal", "fileprivate", "private",
    ]

    private static let declarationWords: Set<Substring> = [
        "class", "struct", "enum", "protocol", "actor", "extension", "func", "var", "let", "init", "subscript",
        "typealias", "associatedtype", "import", "static", "final", "override", "convenience", "required", "lazy",
        "weak", "unowned", "mutating", "nonmutating", "consuming", "borrowing", "nonisolated", "indirect", "dynamic",
        "private", "internal", "package", "fileprivate", "prefix", "postfix", "infix", "operator", "macro",
    ]

    private static func separated(_ text: String) -> (code: String, literals: [(text: String, line: Int)]) {
        var result: [UInt8] = []
        var literals: [(text: String, line: Int)] = []
        var line = 1
        // A zero ends the text for functions of C.
        let bytes = Array(text.utf8) + [0]
        let end = bytes.count - 1
        var index = 0
        var commentDepth = 0
        func starts(_ mark: String, at index: Int) -> Bool { bytes[index...].starts(with: mark.utf8) }
        while index < end {
            let byte = bytes[index]
            // Nothing begins or ends with most bytes.
            let run = length(of: bytes, from: index, before: "/*\"#\n")
            if run > 0 {
                if commentDepth == 0 { result += bytes[index..<(index + run)] }
                index += run
            } else if commentDepth > 0 {
                if starts("*/", at: index) {
                    commentDepth -= 1
                    index += 2
                } else if starts("/*", at: index) {
                    commentDepth += 1
                    index += 2
                } else {
                    if byte == newline {
                        result.append(byte)
                        line += 1
                    }
                    index += 1
                }
            } else if starts("/*", at: index) {
                commentDepth = 1
                index += 2
            } else if starts("//", at: index) {
                while index < end, bytes[index] != newline {
                    index += max(1, length(of: bytes, from: index, before: "\n"))
                }
            } else if let literalEnd = endOfLiteral(in: bytes, from: index) {
                let newlines = bytes[index..<literalEnd].filter { $0 == newline }
                literals.append((String(decoding: bytes[index..<literalEnd], as: UTF8.self), line))
                result += [quote, quote] + newlines
                line += newlines.count
                index = literalEnd
            } else {
                if byte == newline { line += 1 }
                result.append(byte)
                index += 1
            }
        }
        return (String(decoding: result, as: UTF8.self), literals)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let pound = UInt8(ascii: "#")
    private static let newline = UInt8(ascii: "\n")

    /// The number of bytes from an index to the next mark or zero.
    private static func length(of bytes: [UInt8], from index: Int, before marks: String) -> Int {
        bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return strcspn((start + index).assumingMemoryBound(to: CChar.self), marks)
        }
    }

    /// Where the string literal that starts at `start` ends; `nil` where none starts. A zero follows the last byte.
    private static func endOfLiteral(in bytes: [UInt8], from start: Int) -> Int? {
        let pounds = bytes[start...].prefix { $0 == pound }.count
        let opening = bytes[(start + pounds)...]
        guard opening.first == quote else { return nil }
        let quotes = opening.prefix(3).elementsEqual([quote, quote, quote]) ? 3 : 1
        let end = Array(repeating: quote, count: quotes) + Array(repeating: pound, count: pounds)
        let escape = [UInt8(ascii: "\\")] + Array(repeating: pound, count: pounds)
        var index = start + pounds + quotes
        while index < bytes.count - 1 {
            let run = length(of: bytes, from: index, before: "\"\\\n")
            if run > 0 {
                index += run
                continue
            }
            if bytes[index...].starts(with: end) { return index + end.count }
            if quotes == 1, bytes[index] == newline { return index }
            index += bytes[index...].starts(with: escape) ? escape.count + 1 : 1
        }
        return bytes.count - 1
    }
}
