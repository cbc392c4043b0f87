import Foundation

extension TextComparison {
    /// The orders that a sort descriptor may ask for; raw values are the names of Apple's selectors.
    ///
    /// Each order is a total preorder that depends only on the two texts. The localized orders use the root collation
    /// of Unicode's CLDR, not the process's locale. So a store sorts the same way on every machine.
    package enum SortOrder: String, CaseIterable, Sendable {
        /// Compares UTF-8 bytes.
        case literal = "compare:"
        /// Compares folded bytes: "a" and "A" are equal, so the next sort descriptor decides.
        case caseInsensitive = "caseInsensitiveCompare:"
        /// Compares by collation, lower case before upper case.
        case localized = "localizedCompare:"
        case localizedCaseInsensitive = "localizedCaseInsensitiveCompare:"
        /// Compares like a file browser: by collation, and digits by their number ("item 9" before "item 10").
        case localizedStandard = "localizedStandardCompare:"
    }

    /// Returns a negative number if `a` comes first, zero if they are equal, and a positive number if `b` comes first.
    package static func compare(_ a: String, _ b: String, by order: SortOrder) -> Int {
        withBytes(a, b) { compare($0, $1, by: order) }
    }

    package static func compare(_ a: Bytes, _ b: Bytes, by order: SortOrder) -> Int {
        switch order {
        case .literal: byteOrder(a, b)
        case .caseInsensitive: compare(a, b, options: caseInsensitive)
        case .localized, .localizedCaseInsensitive, .localizedStandard: collate(a, b, order)
        }
    }

    private static func collate(_ a: Bytes, _ b: Bytes, _ order: SortOrder) -> Int {
        if let result = Collation.shared.compareASCII(a, b, order) { return result }
        let first = String(decoding: a, as: UTF8.self) as NSString
        let second = String(decoding: b, as: UTF8.self)
        let options: NSString.CompareOptions =
            switch order {
            case .localizedStandard: [.numeric, .widthInsensitive, .forcedOrdering]
            case .localizedCaseInsensitive: [.caseInsensitive]
            default: []
            }
        let range = NSRange(location: 0, length: first.length)
        let result = first.compare(second, options: options, range: range, locale: Collation.root)
        return result.rawValue
    }
}

/// The root collation of printable ASCII, without the library: one weight per character, case last.
private struct Collation: Sendable {
    static let shared = Collation()
    static let root = Locale(identifier: "")

    /// The weight of each character in the collation; 0 for characters that only the library can compare.
    private let weights: [UInt8]

    private init() {
        var weights = [UInt8](repeating: 0, count: 256)
        let characters = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789".utf8
        var weight: UInt8 = 1
        for character in characters {
            weights[Int(character)] = weight
            weight += 1
        }
        for letter in UInt8(ascii: "a")...UInt8(ascii: "z") {
            weights[Int(letter)] = weight
            weights[Int(letter & ~0x20)] = weight
            weight += 1
        }
        self.weights = weights
    }

    /// Returns the order of two texts of printable ASCII characters; `nil` for other texts.
    func compareASCII(
        _ a: TextComparison.Bytes, _ b: TextComparison.Bytes, _ order: TextComparison.SortOrder
    ) -> Int? {
        weights.withUnsafeBufferPointer { weights in
            let isNumeric = order == .localizedStandard
            var byCase = 0
            var byZeros = 0
            var result = 0
            var i = 0
            var j = 0
            while i < a.count, j < b.count {
                let first = a[i]
                let second = b[j]
                if isNumeric, isDigit(first), isDigit(second) {
                    let start = (i, j)
                    let numbers = compareNumbers(a, &i, b, &j)
                    if result == 0 { result = numbers }
                    if byZeros == 0 { byZeros = (i - start.0) - (j - start.1) }
                    continue
                }
                let weight = weights[Int(first)]
                let other = weights[Int(second)]
                guard weight != 0, other != 0 else { return nil }
                if result == 0 {
                    result = Int(weight) - Int(other)
                    // Lower case has the bit 0x20 and comes first.
                    if byCase == 0, weight == other { byCase = Int(second & 0x20) - Int(first & 0x20) }
                }
                i += 1
                j += 1
            }
            // Check the rest of the text too: a mark in it may change the character before it.
            for index in i..<a.count where weights[Int(a[index])] == 0 { return nil }
            for index in j..<b.count where weights[Int(b[index])] == 0 { return nil }
            if result == 0 { result = (a.count - i) - (b.count - j) }
            if result != 0 || order == .localizedCaseInsensitive { return result }
            return byCase != 0 ? byCase : byZeros
        }
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Compares the numbers that start at `i` and `j`, and moves both indexes to the end of the numbers.
    private func compareNumbers(
        _ a: TextComparison.Bytes, _ i: inout Int, _ b: TextComparison.Bytes, _ j: inout Int
    ) -> Int {
        let first = number(a, &i)
        let second = number(b, &j)
        if first.count != second.count { return first.count - second.count }
        return TextComparison.byteOrder(first, second)
    }

    /// The digits at `place` without leading zeros.
    private func number(_ text: TextComparison.Bytes, _ place: inout Int) -> TextComparison.Bytes {
        while place < text.count, text[place] == 0x30 { place += 1 }
        let start = place
        while place < text.count, isDigit(text[place]) { place += 1 }
        return TextComparison.Bytes(rebasing: text[start..<place])
    }
}
