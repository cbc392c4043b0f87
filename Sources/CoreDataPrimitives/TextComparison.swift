import Foundation

/// How two texts compare, in memory and in SQL alike: the predicate evaluator and the SQL functions of every
/// driver call these and nothing else, so that a predicate selects the same rows everywhere.
///
/// `options` are the predicate language's, with Apple's raw values: 1 `[c]` ignores case, 2 `[d]` ignores
/// diacritics, 4 `[n]` says that the texts were prepared by the caller and turns the others off, 8 `[l]` orders
/// by collation. Without options texts compare by their UTF-8 bytes, as SQLite's `BINARY` does, so canonically
/// equivalent texts differ; with `[c]` or `[d]` both sides are folded first (see ``fold(_:options:)``).
///
///     equal("Ähre", "ahre", options: 3)         // true
///     contains("Große", "SS", options: 1)       // true
///     like("Anna", "A*n?", options: 0)          // true
///
/// Each operation exists for `String` and for UTF-8 bytes; the latter allocate nothing unless a text leaves the
/// Latin, Greek and Cyrillic alphabets.
package enum TextComparison {
    package typealias Bytes = UnsafeBufferPointer<UInt8>

    static let caseInsensitive: UInt = 1
    static let diacriticInsensitive: UInt = 2
    static let normalized: UInt = 4
    static let localeSensitive: UInt = 8

    // MARK: Equality and order

    package static func equal(_ a: String, _ b: String, options: UInt = 0) -> Bool {
        withBytes(a, b) { equal($0, $1, options: options) }
    }

    package static func equal(_ a: Bytes, _ b: Bytes, options: UInt = 0) -> Bool {
        let folding = folding(of: options)
        if folding == 0 { return sameBytes(a, b) }
        return withFolded(a, folding) { a in withFolded(b, folding) { b in sameBytes(a, b) } }
    }

    /// Negative when `a` comes first, zero when neither does, positive when `b` does.
    package static func compare(_ a: String, _ b: String, options: UInt = 0) -> Int {
        withBytes(a, b) { compare($0, $1, options: options) }
    }

    package static func compare(_ a: Bytes, _ b: Bytes, options: UInt = 0) -> Int {
        let folding = folding(of: options)
        if options & localeSensitive != 0, options & normalized == 0 {
            return withFolded(a, folding) { a in withFolded(b, folding) { b in compare(a, b, by: .localized) } }
        }
        if folding == 0 { return byteOrder(a, b) }
        return withFolded(a, folding) { a in withFolded(b, folding) { b in byteOrder(a, b) } }
    }

    // MARK: Parts

    // As with Apple's, the empty text is no part of any text, not even of itself.

    /// Whether `text` starts with `prefix`; none starts with the empty one.
    package static func beginsWith(_ text: String, _ prefix: String, options: UInt = 0) -> Bool {
        withBytes(text, prefix) { beginsWith($0, $1, options: options) }
    }

    package static func beginsWith(_ text: Bytes, _ prefix: Bytes, options: UInt = 0) -> Bool {
        let folding = folding(of: options)
        return withFolded(text, folding) { text in
            withFolded(prefix, folding) { prefix in
                !prefix.isEmpty && prefix.count <= text.count
                    && sameBytes(Bytes(rebasing: text.prefix(prefix.count)), prefix)
            }
        }
    }

    /// Whether `text` ends with `suffix`; none ends with the empty one.
    package static func endsWith(_ text: String, _ suffix: String, options: UInt = 0) -> Bool {
        withBytes(text, suffix) { endsWith($0, $1, options: options) }
    }

    package static func endsWith(_ text: Bytes, _ suffix: Bytes, options: UInt = 0) -> Bool {
        let folding = folding(of: options)
        return withFolded(text, folding) { text in
            withFolded(suffix, folding) { suffix in
                !suffix.isEmpty && suffix.count <= text.count
                    && sameBytes(Bytes(rebasing: text.suffix(suffix.count)), suffix)
            }
        }
    }

    /// Whether `part` is somewhere in `text`; the empty text is in none.
    package static func contains(_ text: String, _ part: String, options: UInt = 0) -> Bool {
        withBytes(text, part) { contains($0, $1, options: options) }
    }

    package static func contains(_ text: Bytes, _ part: Bytes, options: UInt = 0) -> Bool {
        let folding = folding(of: options)
        return withFolded(text, folding) { text in
            withFolded(part, folding) { part in includes(text, part) }
        }
    }

    // MARK: Bytes

    /// `[n]` turns folding off.
    static func folding(of options: UInt) -> UInt {
        options & normalized != 0 ? 0 : options & (caseInsensitive | diacriticInsensitive)
    }

    static func withBytes<Result>(_ a: String, _ b: String, _ body: (Bytes, Bytes) throws -> Result) rethrows -> Result
    {
        var a = a
        var b = b
        return try a.withUTF8 { a in try b.withUTF8 { b in try body(a, b) } }
    }

    static func sameBytes(_ a: Bytes, _ b: Bytes) -> Bool {
        guard a.count == b.count else { return false }
        guard let first = a.baseAddress, let second = b.baseAddress else { return a.isEmpty }
        return memcmp(first, second, a.count) == 0
    }

    static func byteOrder(_ a: Bytes, _ b: Bytes) -> Int {
        let shared = min(a.count, b.count)
        if shared > 0, let first = a.baseAddress, let second = b.baseAddress {
            let order = memcmp(first, second, shared)
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }

    private static func includes(_ text: Bytes, _ part: Bytes) -> Bool {
        guard let wanted = part.baseAddress, !part.isEmpty else { return false }
        guard var start = text.baseAddress, part.count <= text.count else { return false }
        var candidates = text.count - part.count + 1
        while candidates > 0, let found = memchr(start, Int32(wanted[0]), candidates) {
            let place = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
            if memcmp(place, wanted, part.count) == 0 { return true }
            candidates -= place - start + 1
            start = place + 1
        }
        return false
    }
}
