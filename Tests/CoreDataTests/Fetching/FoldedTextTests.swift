import CoreData
import Foundation
import TestSupport
import Testing

/// Texts that are compared without case and diacritics, of a property with an index.
@Suite struct FoldedTextTests {
    private static let pieces = [
        "a", "A", "b", "B", "s", "S", "ß", "ss", "é", "e", "E", "e\u{301}", "ı", "İ", "i", "I", "ﬁ", "f", "K", "k", "1",
        "-", "Ω", "日", "😀",
    ]

    private func text(_ numbers: inout SeededNumbers, _ length: Int) -> String {
        (0..<length).map { _ in numbers.pick(Self.pieces) }.joined()
    }

    @Test("An index finds what begins so, or is equal, when case or diacritics are folded")
    func statements() throws {
        try LibraryStack().story { context in
            func explained(_ format: String) throws -> (sql: String, plan: String) {
                let request = NSFetchRequest<Tag>(entityName: "Tag")
                request.predicate = NSPredicate(format: format)
                let explanation = try request.explain(in: context)[0]
                return (
                    explanation.sql.components(separatedBy: " WHERE ").last ?? "",
                    explanation.plan.joined(separator: "\n")
                )
            }
            let digit = try explained("name BEGINSWITH[c] '1'")
            #expect(
                digit.sql == "((t0.ZNAME >= ? AND t0.ZNAME < ?) OR t0.ZNAME >= ?) AND CDTextBeginsWith(t0.ZNAME, ?, 1)")
            #expect(digit.plan.contains("USING INDEX"), "\(digit.plan)")
            let letters = try explained("name ==[cd] 'cr'")
            #expect(letters.plan.contains("USING INDEX"), "\(letters.plan)")
            #expect(letters.sql.hasSuffix("AND CDTextEqual(t0.ZNAME, ?, 3)"))
            #expect(!(try explained("name BEGINSWITH[cd] 'é日'")).sql.contains("CDTextEqual"))
            #expect(try explained("name BEGINSWITH[c] '日'").sql == "CDTextBeginsWith(t0.ZNAME, ?, 1)")
            #expect(try explained("NOT name BEGINSWITH[c] 'a'").sql.contains("NOT CDTextBeginsWith"))
        }
    }

    @Test("With an index the same objects are found as without")
    func sameResults() throws {
        try LibraryStack().story { context in
            var numbers = SeededNumbers(seed: 7)
            for name in Set((0..<300).map { _ in text(&numbers, 1 + numbers.below(3)) }) {
                let tag = Tag(context: context)
                tag.name = name
            }
            Tag(context: context).name = nil
            try context.save()
            let tags = try context.all(Tag.self, "Tag")
            var found = 0
            for _ in 0..<150 {
                let part = text(&numbers, 1 + numbers.below(2))
                for options in ["c", "d", "cd"] {
                    for comparator in ["BEGINSWITH", "=="] {
                        let predicate = NSPredicate(format: "name \(comparator)[\(options)] %@", argumentArray: [part])
                        let request = NSFetchRequest<Tag>(entityName: "Tag")
                        request.predicate = predicate
                        let objects = try Set(context.fetch(request))
                        #expect(
                            objects == Set(tags.filter { predicate.evaluate(with: $0) }),
                            "\(predicate.node.predicateFormat)")
                        found += objects.count
                    }
                }
            }
            #expect(found > 1000)
        }
    }
}
