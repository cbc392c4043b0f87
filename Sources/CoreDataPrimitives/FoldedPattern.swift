import Foundation

/// A pattern that matches every text for which a comparison under `[c]` or `[d]` is true, and some others.
///
/// A database with regular expressions uses it to narrow a search; ``TextComparison`` then checks the rows that the
/// database found. The pattern describes the stored text: each letter of the constant becomes the set of all scalars
/// whose folded form contains the letter.
///
///     FoldedPattern(.contains, "mü", options: 1)   // [Mm] [UuÙ…ü] and marks
///     FoldedPattern(.equal, "ss", options: 1)      // start, [Ssſß…], perhaps [Ssſß…], end
///
/// The pattern misses no text, because:
/// - A folded text consists of the folded forms of its scalars. ``FoldedForms`` contains the scalars of every form,
///   computed with ``TextComparison/fold(_:options:)``.
/// - Normalization composes a letter with the marks after it, and `[d]` removes marks. So the pattern ignores the
///   constant's marks, and allows any marks after a letter that can have some (``Gap``).
/// - A scalar with a form of several letters (`ß`, `ﬁ`) represents each of them. A letter that follows another in such
///   a form is optional, even if a wildcard is between them.
package struct FoldedPattern: Hashable, Sendable {
    /// The comparison between the text and the constant.
    package enum Comparison: Hashable, Sendable {
        case equal
        case beginsWith
        case endsWith
        case contains
        /// The constant is a LIKE pattern: `*`, `?`, and `\` before a literal.
        case like
    }

    /// The scalars that may be between a letter and the next one.
    package enum Gap: Hashable, Sendable {
        case none
        /// The combining marks of the Latin, Greek and Cyrillic scripts.
        case latinMarks
        /// All marks, as ranges that also contain some letters of scripts with many marks.
        case marks

        package static let latinMarkRanges: [ClosedRange<UInt32>] = [
            0x300...0x36F, 0x483...0x489, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F,
        ]
        package static let markRanges: [ClosedRange<UInt32>] = [
            0x300...0x36F, 0x483...0x489, 0x530...0x1DFF, 0x200B...0x200F, 0x20D0...0x20FF, 0x2CEF...0x2DFF,
            0x302A...0x302F, 0x3099...0x309A, 0xA66F...0xABFF, 0xFB1E...0xFB1E, 0xFE00...0xFE2F, 0xFF9E...0xFF9F,
            0x10000...0x1EFFF, 0x1F3FB...0x1F3FF, 0xE0000...0xE0FFF,
        ]
    }

    package enum Part: Hashable, Sendable {
        /// One of the scalars (in ascending order), then any number of scalars of the gap.
        case letter([Unicode.Scalar], isOptional: Bool, Gap)
        /// Any run of scalars.
        case anything
    }

    package private(set) var parts: [Part] = []
    package private(set) var isAtStart = false
    package private(set) var isAtEnd = false
    /// The scalars that may be before the first letter.
    package private(set) var firstGap = Gap.none

    /// The maximum number of letters; this number narrows a search enough.
    private static let longest = 48

    /// Makes a pattern; `nil` if it would match all texts, or if no database supports it.
    package init?(_ comparison: Comparison, _ constant: String, options: UInt) {
        let folding = TextComparison.folding(of: options)
        guard folding != 0 else { return nil }
        let folded = TextComparison.fold(constant, options: folding)
        guard !folded.utf8.contains(0) else { return nil }
        var letters = Letters()
        letters.add(folded, isPattern: comparison == .like)
        isAtStart = comparison == .equal || comparison == .beginsWith || comparison == .like
        isAtEnd = comparison == .equal || comparison == .endsWith || comparison == .like
        var found = letters.found
        if found.count > Self.longest {
            if comparison == .endsWith {
                found.removeFirst(found.count - Self.longest)
            } else {
                found.removeLast(found.count - Self.longest)
                isAtEnd = false
            }
        }
        if folding & TextComparison.diacriticInsensitive != 0 || letters.beginsWithMark { firstGap = .marks }
        parts = Self.parts(found, folding)
        if parts.first == .anything {
            parts.removeFirst()
            isAtStart = false
        }
        if parts.last == .anything {
            parts.removeLast()
            isAtEnd = false
        }
        // Without letters, the pattern limits only the length of the text.
        guard !parts.isEmpty || (isAtStart && isAtEnd) else { return nil }
    }

    private static func parts(_ letters: [Letters.Letter?], _ folding: UInt) -> [Part] {
        let forms = FoldedForms.shared
        var previous: Unicode.Scalar?
        return letters.map { letter in
            guard let letter else { return .anything }
            let scalar = letter.scalar
            let isOptional = previous.map { forms.follows(scalar, $0, folding) } ?? false
            previous = scalar
            let scalars = forms.sources(of: scalar, folding, withMarks: letter.hasMarks)
            // A mark that folds to a letter (U+0345) may precede marks that normalization puts before it.
            let mayHaveMarks = letter.hasMarks || scalar.isHangulSyllable || scalars.contains(where: \.isPartOfOthers)
            let gap: Gap =
                if mayHaveMarks { .marks } else if folding & TextComparison.diacriticInsensitive == 0 { .none } else {
                    scalar.value < FoldedForms.endOfStripped ? .marks : .latinMarks
                }
            return .letter(scalars, isOptional: isOptional, gap)
        }
    }

    /// The letters of a folded constant; each records whether marks follow it.
    private struct Letters {
        struct Letter {
            var scalar: Unicode.Scalar
            var hasMarks = false
        }

        /// The letters; `nil` is a run of any scalars.
        var found: [Letter?] = []
        var beginsWithMark = false

        mutating func add(_ folded: String, isPattern: Bool) {
            var isEscaped = false
            let scalars = Array(folded.unicodeScalars)
            for (index, scalar) in scalars.enumerated() {
                if isPattern, !isEscaped {
                    if scalar == "*" || scalar == "?" {
                        if found.isEmpty || found[found.count - 1] != nil { found.append(nil) }
                        continue
                    }
                    if scalar == "\\", index + 1 < scalars.count {
                        isEscaped = true
                        continue
                    }
                }
                isEscaped = false
                add(scalar)
            }
        }

        private mutating func add(_ scalar: Unicode.Scalar) {
            if scalar.isHangulSyllable { return found.append(Letter(scalar: scalar)) }
            for part in String(Character(scalar)).decomposedStringWithCanonicalMapping.unicodeScalars {
                if !part.isPartOfOthers {
                    found.append(Letter(scalar: part))
                } else if found.isEmpty {
                    beginsWithMark = true
                } else {
                    found[found.count - 1]?.hasMarks = true
                }
            }
        }
    }
}

extension Unicode.Scalar {
    var isHangulSyllable: Bool { (0xAC00...0xD7A3).contains(value) }
}
