import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataSQL

/// Regular expressions that find the texts of which a comparison under `[c]` or `[d]` may be true.
@Suite struct FoldedPatternTests {
    @Test(
        arguments: [
            (.contains, "ox", "[Oo][Xx]"), (.beginsWith, "ox", "^[Oo][Xx]"), (.endsWith, "OX", "[Oo][Xx]$"),
            (.equal, "ok", "^[Oo][Kk\u{212A}]$"), (.equal, "", "^$"), (.contains, "2 4", "2\\ 4"),
            (.contains, "a_%", "[Aaẚ]\\_\\%"),
            (.contains, "\\.[", "\\\\\\.\\["), (.contains, ";", "[\\;\\u037e]"), (.contains, "😀", "\\U0001f600"),
            (.contains, "\t", "\\u0009"),
            // A scalar may be several letters.
            (.contains, "ss", "[Ssßſẞﬅﬆ][Ssßſẞﬅﬆ]?"), (.equal, "ß", "^[Ssßſẞﬅﬆ][Ssßſẞﬅﬆ]?$"),
            // Wildcards
            (.like, "o*x", "^[Oo].*[Xx]$"), (.like, "o?", "^[Oo]"), (.like, "*o", "[Oo]$"),
            (.like, "\\*o\\", "^\\*[Oo]\\\\$"),
            (.like, "s*s", "^[Ssßſẞﬅﬆ].*[Ssßſẞﬅﬆ]?$"), (.like, "", "^$"),
        ] as [(FoldedPattern.Comparison, String, String)])
    func withoutCase(_ comparison: FoldedPattern.Comparison, _ constant: String, _ expected: String) throws {
        let expression = try #require(FoldedPattern(comparison, constant, options: 1)).regularExpression
        #expect(expression == expected)
    }

    @Test func diacriticsAllowMarks() throws {
        let expression = try #require(FoldedPattern(.beginsWith, "2é", options: 3)).regularExpression
        let gap = "[\\u0300-\\u036f\\u0483-\\u0489\\u0530-\\u1dff"
        #expect(expression.hasPrefix("^\(gap)"))
        #expect(
            expression.contains("]*2\(gap)") && expression.contains("[EeÈÉ") && expression.hasSuffix("\\U000e0fff]*"))
        // Another script keeps its marks, but for those of Latin.
        #expect(
            try #require(FoldedPattern(.contains, "中", options: 3)).regularExpression.hasPrefix(
                "中[\\u0300-\\u036f\\u0483-\\u0489\\u1ab0"))
        // A mark that is looked for is left to memory, with the letter before it.
        #expect(try #require(FoldedPattern(.contains, "e\u{301}", options: 1)).regularExpression.hasPrefix("[EeÈÉ"))
    }

    @Test func patternsThatNarrowNothing() {
        for (comparison, constant) in [
            (.contains, ""), (.beginsWith, ""), (.like, "*"), (.like, "?*"), (.contains, "\u{301}"), (.contains, "a\0"),
        ] as [(FoldedPattern.Comparison, String)] {
            #expect(FoldedPattern(comparison, constant, options: 3) == nil, "\(constant.debugDescription)")
        }
        // Text that is compared as it is needs none.
        #expect(FoldedPattern(.contains, "a", options: 0) == nil && FoldedPattern(.contains, "a", options: 5) == nil)
    }

    @Test func aLongConstantIsLookedForInPart() throws {
        let long = String(repeating: "o", count: 60) + "x"
        let first = String(repeating: "[Oo]", count: 48)
        #expect(try #require(FoldedPattern(.equal, long, options: 1)).regularExpression == "^" + first)
        let last = String(repeating: "[Oo]", count: 47) + "[Xx]$"
        #expect(try #require(FoldedPattern(.endsWith, long, options: 1)).regularExpression == last)
    }

    @Test func aDialectMayLackExpressions() throws {
        let pattern = try #require(FoldedPattern(.contains, "ox", options: 1))
        let expression = SQLExpression.not(.fits(.column("t0", "ZTITLE"), pattern))
        #expect(expression.text(in: .postgreSQL).sql == #"NOT ("t0"."ZTITLE" ~ $1::TEXT)"#)
        #expect(expression.unsupportedFeature(in: .postgreSQL) == nil && expression.bindingCount == 1)
        #expect(expression.unsupportedFeature(in: .postgreSQL.withoutPatterns()) == .pattern)
    }

    /// Each text that a comparison is true of is found; ICU reads such expressions as PostgreSQL does.
    @Test("No text is missed", arguments: Trials.seeds(4))
    func noTextIsMissed(_ seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let texts = HostileTexts.texts(60, &numbers)
        var matches = 0
        for text in texts {
            let constant = HostileTexts.constant(from: text, &numbers)
            for options: UInt in 1...3 {
                for comparison in [.equal, .beginsWith, .endsWith, .contains, .like] as [FoldedPattern.Comparison] {
                    let wanted =
                        comparison == .equal && numbers.chance(2)
                        ? TextComparison.fold(text, options: options) : constant
                    guard comparison.isTrue(of: text, wanted, options) else { continue }
                    matches += 1
                    guard let pattern = FoldedPattern(comparison, wanted, options: options) else { continue }
                    let expression = try NSRegularExpression(
                        pattern: pattern.regularExpression, options: .dotMatchesLineSeparators)
                    let range = NSRange(location: 0, length: text.utf16.count)
                    let isFound = expression.firstMatch(in: text, options: [], range: range) != nil
                    #expect(
                        isFound, "\(text.debugDescription) \(comparison) \(wanted.debugDescription), options \(options)"
                    )
                }
            }
        }
        #expect(matches > 500)
    }
}

extension FoldedPattern.Comparison {
    fileprivate func isTrue(of text: String, _ constant: String, _ options: UInt) -> Bool {
        switch self {
        case .equal: TextComparison.equal(text, constant, options: options)
        case .beginsWith: TextComparison.beginsWith(text, constant, options: options)
        case .endsWith: TextComparison.endsWith(text, constant, options: options)
        case .contains: TextComparison.contains(text, constant, options: options)
        case .like: TextComparison.like(text, constant, options: options)
        }
    }
}
