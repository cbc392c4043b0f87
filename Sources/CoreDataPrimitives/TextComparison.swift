import Foundation

/// Compares two texts with the same result in memory and in SQL. The predicate evaluator and the SQL functions of every
/// driver use only these functions, so a predicate selects the same rows everywhere.
///
/// `options` are those of the predicate language, with Apple's raw values: 1 `[c]` ignores case, 2 `[d]` ignores
/// diacritics, 4 `[n]` says that the caller prepared the texts and disables the other options, 8 `[l]` orders by
/// collation. Without options, texts are compared by their UTF-8 bytes, as SQLite's `BINARY` does, so canonically
/// equivalent texts differ. With `[c]` or `[d]`, both texts are folded first (see ``fold(_:options:)``).
///
///     equal("Ähre", "ahre", options: 3)         // true
///     contains("Große", "SS", options: 1)       // true
///     like("Anna", "A*n?", options: 0)          // true
///
/// Each operation exists for `String` and for UTF-8 bytes. The latter allocate memory only if a text has letters
/// outside the Latin, Greek and Cyrillic alphabets.
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

    /// Returns a negative number if `a` comes first, zero if they are equal, and a positive number if `b` comes first.
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

    // As in Apple's framework, no text contains the empty text, not even the empty text itself.

    /// Returns whether `text` starts with `prefix`; false for an empty prefix.
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

    /// Returns whether `text` ends with `suffix`; false for an empty suffix.
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

    /// Returns whether `text` contains `part`; false for an empty part.
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

    /// Returns the folding of the options; `[n]` disables it.
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
