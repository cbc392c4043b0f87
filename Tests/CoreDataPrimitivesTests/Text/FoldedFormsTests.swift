import Foundation
import TestSupport
import Testing

@testable import CoreDataPrimitives

/// Patterns for databases rest on which scalars fold to which: none may be missing.
@Suite struct FoldedFormsTests {
    /// Scalars that are not scanned stay what they are.
    @Test func noScalarOutsideTheRangesChanges() {
        let all = Array(0x21..<0x20000) + Array(0x2F000..<0x30000) + Array(0xE0000..<0xE1000)
        let scalars = all.lazy.map(UInt32.init).filter { code in !FoldedForms.changing.contains { $0.contains(code) } }
            .compactMap(Unicode.Scalar.init).filter { !$0.isHangulSyllable && !$0.isPartOfOthers }
        let rest = Array(scalars)
        #expect(rest.count > 50_000)
        for start in stride(from: 0, to: rest.count, by: 4096) {
            let lines = rest[start..<min(start + 4096, rest.count)].map { String(Character($0)) }.joined(
                separator: "\n")
            let forms =
                (1...3).map { TextComparison.fold(lines, options: $0) } + [lines.decomposedStringWithCanonicalMapping]
            for form in forms where !form.unicodeScalars.elementsEqual(lines.unicodeScalars) {
                let changed = zip(form.unicodeScalars, lines.unicodeScalars).first { $0.0 != $0.1 }
                Issue.record("\(String(describing: changed?.1.value)) folds to another")
            }
        }
    }

    /// Whatever folding drops behind a letter is in the ranges that a pattern allows there.
    @Test func everyMarkIsInAGap() {
        var missing: [UInt32] = []
        for code in Array(0x80..<0x20000) + Array(0xE0000..<0xE1000) as [UInt32] {
            guard let scalar = Unicode.Scalar(code), scalar.isPartOfOthers else { continue }
            if !FoldedPattern.Gap.markRanges.contains(where: { $0.contains(code) }) { missing.append(code) }
        }
        #expect(missing == [])
    }

    /// Behind a letter of other scripts few marks are dropped.
    @Test func otherScriptsKeepTheirMarks() {
        var dropped: [UInt32] = []
        let marks = (0x300..<0x11000).compactMap { Unicode.Scalar(UInt32($0)) }.filter(\.isPartOfOthers)
        for mark in marks where !FoldedPattern.Gap.latinMarkRanges.contains(where: { $0.contains(mark.value) }) {
            // A letter of Hebrew, the mark, and the letter once more.
            let text = String(String.UnicodeScalarView(["\u{5E9}", mark, "\u{5E9}"]))
            if TextComparison.equal(text, "\u{5E9}\u{5E9}", options: 2) { dropped.append(mark.value) }
        }
        #expect(marks.count > 1_000)
        #expect(dropped == [])
    }

    @Test(
        arguments: [
            ("o", 1, "Oo"), ("k", 1, "Kk\u{212A}"), ("s", 1, "Ssßſẞﬅﬆ"), ("i", 1, "Iiİﬁﬃ"), ("n", 1, "Nnŉ"),
            (";", 1, ";\u{37E}"), ("σ", 1, "Σςσ"), ("2", 3, "2"), ("中", 3, "中"), ("😀", 3, "😀"),
            ("검", 1, "\u{1100}거검"),
        ] as [(Unicode.Scalar, UInt, String)])
    func scalarsThatFoldToALetter(_ letter: Unicode.Scalar, _ folding: UInt, _ expected: String) {
        let found = FoldedForms.shared.sources(of: letter, folding, withMarks: false)
        #expect(found.map(\.value) == expected.unicodeScalars.map(\.value))
    }

    @Test func marksWidenWhatFoldsToALetter() {
        let forms = FoldedForms.shared
        let withMarks = forms.sources(of: "e", 1, withMarks: true)
        #expect(withMarks.contains("é") && withMarks.contains("E") && withMarks.contains("\u{1EBF}"))
        #expect(forms.sources(of: "e", 1, withMarks: false) == ["E", "e"])
        #expect(Set(forms.sources(of: "e", 3, withMarks: false)).isSuperset(of: ["E", "e", "é", "É", "\u{1EBF}"]))
        let caseKept = forms.sources(of: "e", 2, withMarks: false)
        #expect(caseKept.contains("é") && !caseKept.contains("E") && !caseKept.contains("É"))
    }

    @Test func lettersOfOneScalarFollowEachOther() {
        let forms = FoldedForms.shared
        for (first, second) in [("s", "s"), ("s", "t"), ("f", "f"), ("f", "i"), ("f", "l")]
            as [(Unicode.Scalar, Unicode.Scalar)]
        {
            #expect(forms.follows(second, first, 1) && forms.follows(second, first, 3))
        }
        #expect(!forms.follows("b", "a", 3) && !forms.follows("f", "i", 3))
    }
}
