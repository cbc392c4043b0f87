import Foundation
import Testing

@testable import CoreDataPrimitives

@Suite struct TextComparisonTests {
    @Test(
        arguments: [
            ("a", "a", 0, true), ("a", "A", 0, false), ("a", "A", 1, true), ("é", "e", 0, false), ("é", "e", 2, true),
            ("É", "e", 2, false), ("É", "e", 3, true), ("é", "e\u{301}", 0, false), ("é", "e\u{301}", 1, true),
            ("Straße", "STRASSE", 1, true), ("ẞ", "ß", 1, true), ("ΣΑΣ", "σας", 1, true), ("ı", "i", 1, false),
            ("I", "ı", 1, false), ("\u{212A}", "k", 1, true), ("ﬁ", "FI", 1, true), ("Ǆ", "ǆ", 1, true),
            ("ЁЖ", "еж", 3, true), ("ø", "o", 2, false), ("が", "か", 2, false), ("각", "가", 2, false),
            ("", "", 3, true), ("", "a", 3, false), ("a", "A", 5, false), ("É", "e", 7, false), ("ấ", "a", 2, true),
            ("Ⱥ", "ⱥ", 1, true), ("😀É", "😀é", 1, true), ("İ", "i\u{307}", 1, true),
        ] as [(String, String, UInt, Bool)])
    func textsAreEqualUnderOptions(a: String, b: String, options: UInt, expected: Bool) {  // predicates E5
        #expect(TextComparison.equal(a, b, options: options) == expected)
        #expect(TextComparison.equal(b, a, options: options) == expected)
        #expect((TextComparison.compare(a, b, options: options) == 0) == expected)
        let folded = TextComparison.fold(a, options: options).utf8
            .elementsEqual(TextComparison.fold(b, options: options).utf8)
        #expect(folded == expected)
    }

    @Test(
        arguments: [
            ("a", "b", 0, -1), ("B", "a", 0, -1), ("B", "a", 1, 1), ("é", "f", 0, 1), ("é", "f", 2, -1),
            ("a", "ab", 0, -1),
            ("\u{FFFD}", "😀", 0, -1), ("", "a", 0, -1), ("é", "f", 8, -1), ("a", "A", 8, -1), ("a", "A", 9, 0),
        ] as [(String, String, UInt, Int)])
    func textsAreOrderedUnderOptions(a: String, b: String, options: UInt, expected: Int) {
        #expect(TextComparison.compare(a, b, options: options).signum() == expected)
        #expect(TextComparison.compare(b, a, options: options).signum() == -expected)
    }

    @Test(
        arguments: [
            ("Hello", "He", 0, true, false, true), ("Hello", "he", 0, false, false, false),
            ("Hello", "HE", 1, true, false, true), ("Hello", "lo", 0, false, true, true),
            ("Hello", "ll", 0, false, false, true),
            ("", "a", 0, false, false, false), ("Élan", "ela", 3, true, false, true),
            ("Élan", "ela", 1, false, false, false),
            ("Große", "SSE", 1, false, true, true), ("aaab", "aab", 0, false, true, true),
            ("naïve", "IVE", 3, false, true, true), ("abc", "abcd", 1, false, false, false),
            ("e\u{301}a", "e", 1, false, false, false), ("e\u{301}a", "e", 2, true, false, true),
        ] as [(String, String, UInt, Bool, Bool, Bool)])
    func partsAreFound(  // predicates E4, E5, E7
        text: String, part: String, options: UInt, begins: Bool, ends: Bool, contains: Bool
    ) {
        #expect(TextComparison.beginsWith(text, part, options: options) == begins)
        #expect(TextComparison.endsWith(text, part, options: options) == ends)
        #expect(TextComparison.contains(text, part, options: options) == contains)
    }

    @Test(
        arguments: [
            ("Hello", ""), ("", ""), ("Hello", "\u{301}"),
        ] as [(String, String)])
    func theEmptyTextIsPartOfNone(text: String, part: String) {
        for options: UInt in part.isEmpty ? [0, 1, 2, 3, 4] : [2, 3] {
            #expect(!TextComparison.beginsWith(text, part, options: options))
            #expect(!TextComparison.endsWith(text, part, options: options))
            #expect(!TextComparison.contains(text, part, options: options))
        }
    }

    @Test func onlyTheEmptyTextFitsAnEmptyPattern() throws {
        #expect(TextComparison.like("", "") && !TextComparison.like("a", ""))
        #expect(try TextComparison.matches("", "") && !TextComparison.matches("a", ""))
    }

    @Test(
        arguments: [
            ("Anna", "A*", 0, true), ("Anna", "a*", 0, false), ("Anna", "a*", 1, true), ("Anna", "A?n?", 0, true),
            ("Anna", "A?n", 0, false), ("", "*", 0, true), ("", "", 0, true), ("", "?", 0, false), ("é", "?", 0, true),
            ("😀", "?", 0, true), ("a*b", "a\\*b", 0, true), ("axb", "a\\*b", 0, false), ("a?b", "a\\?b", 0, true),
            ("abcabd", "*abd", 0, true), ("aXbXc", "a*b*c", 0, true), ("a.c", "a.c", 0, true), ("abc", "a.c", 0, false),
            ("line\nline", "line*", 0, true), ("Éa", "e?", 3, true), ("a\\", "a\\", 0, true),
            ("a\\b", "a\\\\b", 0, true),
            ("日本語", "日?語", 0, true), ("日本語", "*?本*", 0, true), ("ab", "a*?b", 0, false),
        ] as [(String, String, UInt, Bool)])
    func wildcardsMatchWholeTexts(text: String, pattern: String, options: UInt, expected: Bool) {  // predicates E6
        #expect(TextComparison.like(text, pattern, options: options) == expected)
    }

    @Test(
        arguments: [
            ("abc", "a.c", 0, true), ("xabc", "a.c", 0, false), ("ab", "a|ab", 0, true), ("ABC", "a.c", 0, false),
            ("ABC", "a.c", 1, true), ("Café", "cafe", 3, true), ("Café", "caf\\w", 1, true),
            ("a1", "[a-z]\\d", 0, true),
            ("a\n", "a", 0, false), ("", "", 0, true), ("ab", "^a", 0, false), ("日本", "\\p{Han}+", 0, true),
        ] as [(String, String, UInt, Bool)])
    func regularExpressionsMatchWholeTexts(text: String, pattern: String, options: UInt, expected: Bool) throws {
        #expect(try TextComparison.matches(text, pattern, options: options) == expected)
    }

    @Test(arguments: ["(", "a)(b", "[", "*"])
    func invalidRegularExpressionsAreNamed(pattern: String) {
        #expect(throws: TextComparison.InvalidPattern(pattern: pattern)) {
            try TextComparison.matches("a", pattern)
        }
    }

    @Test(
        arguments: [
            (.literal, ["", "A", "B", "a", "b", "é"]),
            (
                .localized,
                ["", "_x", "9", "a", "A", "ä", "æ", "af", "b", "B", "e", "é", "f", "o", "ø", "ss", "ß", "st", "z", "я"]
            ),
            (.localizedCaseInsensitive, ["item 10", "ITEM 9", "Item 9a", "item-9"]),
            (.localizedStandard, ["2", "9", "10", "010", "a", "A", "é", "item 9", "Item 9", "item 10", "item-9", "z"]),
        ] as [(TextComparison.SortOrder, [String])])
    func ordersSort(order: TextComparison.SortOrder, expected: [String]) {  // M15
        let sorted = expected.reversed().sorted { TextComparison.compare($0, $1, by: order) < 0 }
        #expect(sorted == expected)
    }

    @Test func caseInsensitiveOrderLeavesTiesToTheNextDescriptor() {
        #expect(TextComparison.compare("a", "A", by: .caseInsensitive) == 0)
        #expect(TextComparison.compare("a", "A", by: .localizedCaseInsensitive) == 0)
        #expect(TextComparison.compare("a", "A", by: .localizedStandard) < 0)
    }

    @Test(arguments: TextComparison.SortOrder.allCases)
    func ordersAreTotal(order: TextComparison.SortOrder) {
        var random = SplitMix(state: 42)
        let letters = Array("aAbB09 -_zé\u{301}ßøЯя中")
        let words = (0..<70).map { _ in
            String(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" })
        }
        let table = words.map { a in words.map { b in TextComparison.compare(a, b, by: order).signum() } }
        for i in words.indices {
            for j in words.indices {
                #expect(table[i][j] == -table[j][i], "\(words[i]) \(words[j])")
                for k in words.indices where table[i][j] <= 0 && table[j][k] <= 0 && table[i][k] > 0 {
                    Issue.record("\(words[i]) \(words[j]) \(words[k])")
                }
            }
        }
    }

    @Test(arguments: [.localized, .localizedCaseInsensitive, .localizedStandard] as [TextComparison.SortOrder])
    func fastOrderOfASCIIAgreesWithTheLibrary(order: TextComparison.SortOrder) {
        let options: NSString.CompareOptions =
            switch order {
            case .localizedStandard: [.numeric, .widthInsensitive, .forcedOrdering]
            case .localizedCaseInsensitive: [.caseInsensitive]
            default: []
            }
        var random = SplitMix(state: 7)
        for _ in 0..<4000 {
            let a = random.word(), b = random.word()
            let range = NSRange(location: 0, length: a.utf16.count)
            let expected = (a as NSString).compare(b, options: options, range: range, locale: Locale(identifier: ""))
            #expect(TextComparison.compare(a, b, by: order).signum() == expected.rawValue, "\(a) | \(b)")
        }
    }
}

/// A small generator with a fixed seed, so that a failure repeats.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func word() -> String {
        let length = Int.random(in: 0...5, using: &self)
        let few = Bool.random(using: &self)
        return String(
            decoding: (0..<length).map { _ in
                few ? "aAb10".utf8.randomElement(using: &self) ?? 97 : UInt8.random(in: 0x20...0x7E, using: &self)
            }, as: UTF8.self)
    }
}
