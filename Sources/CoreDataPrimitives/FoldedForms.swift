import Foundation

/// Maps each letter to the scalars that fold to it: the inverse of ``TextComparison/fold(_:options:)``, computed on
/// first use.
///
///     sources(of: "k", 1, withMarks: false)   // K, k, U+212A (the Kelvin sign)
///     sources(of: "s", 1, withMarks: false)   // S, s, ß, ſ, ẞ, ﬅ, ﬆ
///     follows("t", "s", 1)                    // true: ﬅ and ﬆ fold to "st"
final class FoldedForms: Sendable {
    static let shared = FoldedForms()

    /// `[d]` removes every mark after a letter below this scalar. After other letters it removes only marks below this
    /// scalar.
    static let endOfStripped: UInt32 = 0x530

    /// Contains every scalar that folding or decomposition changes, except Hangul syllables.
    static let changing: [Range<UInt32>] = [
        0x41..<0x5B, 0x80..<0x3400, 0xA640..<0xAC00, 0xF900..<0x10000, 0x10400..<0x12000, 0x16D00..<0x16F00,
        0x1D100..<0x1D200, 0x1E900..<0x1EA00, 0x2F800..<0x2FA20,
    ]

    /// The folded forms of many scalars under one folding.
    private struct Table {
        /// For each letter, the scalars whose decomposed form contains it.
        var decomposed: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        /// For each letter, the scalars whose form contains it without decomposition.
        var composed: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        /// Pairs of adjacent letters in the form of one scalar.
        var pairs: Set<[Unicode.Scalar]> = []

        mutating func add(
            _ form: some Sequence<Unicode.Scalar>, _ decomposedForm: some Sequence<Unicode.Scalar>,
            of scalar: Unicode.Scalar
        ) {
            for letter in form { Self.add(scalar, to: &composed[letter, default: []]) }
            var letters: [Unicode.Scalar] = []
            for letter in decomposedForm where !letter.isPartOfOthers {
                Self.add(scalar, to: &decomposed[letter, default: []])
                for first in letters { pairs.insert([first, letter]) }
                letters.append(letter)
            }
        }

        private static func add(_ scalar: Unicode.Scalar, to scalars: inout [Unicode.Scalar]) {
            if scalars.last != scalar { scalars.append(scalar) }
        }
    }

    /// The tables of `[c]`, `[d]` and `[cd]`.
    private let tables: [Table]
    /// The number of scalars folded in one call; one call per scalar takes many times as long.
    private static let portion = 512

    private init() {
        let scalars = Self.changing.joined().compactMap(Unicode.Scalar.init)
        tables = (1...3).map { (folding: UInt) in
            var table = Table()
            for start in stride(from: 0, to: scalars.count, by: Self.portion) {
                let portion = scalars[start..<min(start + Self.portion, scalars.count)]
                let lines = portion.map { String(Character($0)) }.joined(separator: "\n")
                let folded = TextComparison.fold(lines, options: folding)
                let forms = Self.lines(folded)
                let decomposed = Self.lines(folded.decomposedStringWithCanonicalMapping)
                for (index, scalar) in portion.enumerated() where index < min(forms.count, decomposed.count) {
                    // Most scalars are their own form and need no entry.
                    if decomposed[index].elementsEqual([scalar]), forms[index].elementsEqual([scalar]) { continue }
                    table.add(forms[index], decomposed[index], of: scalar)
                }
            }
            // A mark without a letter before it may fold to a letter (U+0345).
            for scalar in scalars where scalar.isPartOfOthers && scalar.properties.changesWhenNFKCCaseFolded {
                let form = TextComparison.fold(String(Character(scalar)), options: folding)
                table.add(
                    form.unicodeScalars, form.decomposedStringWithCanonicalMapping.unicodeScalars, of: scalar)
            }
            return table
        }
    }

    private static func lines(_ text: String) -> [Substring.UnicodeScalarView] {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Returns the scalars whose folded form contains the letter, in ascending order, without duplicates.
    ///
    /// - Parameter withMarks: whether the form may contain the letter with marks. Without marks, fewer scalars suffice
    ///   if the folding keeps marks: under `[c]`, the form of `é` contains no `e`.
    func sources(of letter: Unicode.Scalar, _ folding: UInt, withMarks: Bool) -> [Unicode.Scalar] {
        if letter.isHangulSyllable { return Self.hangul(letter) }
        let table = tables[Int(folding) - 1]
        let isWhole = folding == TextComparison.caseInsensitive && !withMarks
        let found = isWhole ? table.composed[letter] : table.decomposed[letter]
        return Set((found ?? []) + [letter]).sorted()
    }

    /// Returns whether the form of one scalar contains both letters, `second` directly after `first`.
    func follows(_ second: Unicode.Scalar, _ first: Unicode.Scalar, _ folding: UInt) -> Bool {
        tables[Int(folding) - 1].pairs.contains([first, second])
    }

    /// Returns the scalars that can begin a syllable whose parts are written separately; the gap after it allows the
    /// other parts.
    private static func hangul(_ syllable: Unicode.Scalar) -> [Unicode.Scalar] {
        let number = syllable.value - 0xAC00
        let parts = [0x1100 + number / 588, syllable.value - number % 28, syllable.value]
        return Set(parts.compactMap(Unicode.Scalar.init)).sorted()
    }
}
