import CoreDataPredicate
import Testing

@testable import CoreData

// Copies and archives of predicates, expressions and sort descriptors, whoever made them.

final class PlainCompound: NSCompoundPredicate {}

/// In no test but that of its hash: nothing must have asked for its content before.
final class UnseenCompound: NSCompoundPredicate {}

final class KeptComparison: NSComparisonPredicate { var note: String? }

private final class OddNumber: NSPredicate {
    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        (object as? Int ?? 0) % 2 == 1
    }
}

@Suite struct PredicateCopyTests {
    /// Every kind of predicate, and whether 5 and 8 satisfy it.
    private static var predicates: [(predicate: NSPredicate, five: Bool, eight: Bool)] {
        let less = NSPredicate(format: "SELF < 6")
        let more = NSPredicate(format: "SELF > 6")
        return [
            (NSPredicate(value: true), true, true), (NSPredicate(value: false), false, false),
            (NSPredicate { object, _ in object as? Int == 5 }, true, false), (less, true, false),
            (NSPredicate(format: "SELF < 6 AND SELF > 1"), true, false),
            (NSPredicate(format: "NOT SELF < 6"), false, true),
            (NSCompoundPredicate(andPredicateWithSubpredicates: [less, NSPredicate(value: true)]), true, false),
            (NSCompoundPredicate(orPredicateWithSubpredicates: [less, more]), true, true),
            (NSCompoundPredicate(notPredicateWithSubpredicate: less), false, true),
            (NSCompoundPredicate(type: .and, subpredicates: []), true, true),
            (NSCompoundPredicate(type: .or, subpredicates: []), false, false),
            (
                NSCompoundPredicate(type: .and, subpredicates: [NSPredicate { $0 as? Int == 5 && $1 == nil }]), true,
                false
            ),
            (
                NSCompoundPredicate(
                    orPredicateWithSubpredicates: [
                        NSCompoundPredicate(andPredicateWithSubpredicates: [more, NSPredicate(value: false)]), less,
                    ]), true, false
            ),
            (PlainCompound(andPredicateWithSubpredicates: [more]), false, true),
            (PlainCompound(notPredicateWithSubpredicate: PlainCompound(type: .or, subpredicates: [more])), true, false),
            (OddNumber(value: false), true, false),
        ]
    }

    @Test func copiesEvaluatePrintAndCompareAsTheirOriginals() throws {
        for (predicate, five, eight) in Self.predicates {
            let format = predicate.format
            let copy = try #require(predicate.copy() as? NSPredicate)
            let second = try #require(copy.copy(with: nil) as? NSPredicate)
            for some in [predicate, copy, second] {
                #expect(some.evaluate(with: 5) == five && some.evaluate(with: 8) == eight, "\(format)")
                #expect(some.evaluate(with: 5, substitutionVariables: ["a": 1]) == five || format.contains("BLOCK"))
                if !format.contains("BLOCK") {
                    #expect(some.format == format && some.description == format)
                    #expect(
                        (some == predicate && predicate == some) || !(predicate === some) && predicate is PlainCompound)
                }
            }
        }
    }

    @Test func printsAreOfTheContent() {
        #expect(PlainCompound(notPredicateWithSubpredicate: NSPredicate(format: "a == 1")).format == "NOT a == 1")
        let and = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "a == 1"), NSPredicate(value: true),
        ])
        #expect("\(and)" == "a == 1 AND TRUEPREDICATE")
        #expect("\(NSPredicate(value: false))" == "FALSEPREDICATE")
        #expect(NSPredicate { _, _ in true }.format.hasPrefix("BLOCKPREDICATE(0x"))
    }

    @Test func compoundsOfFoundationsAreEqualByContent() {
        func and(_ format: String) -> NSPredicate {
            NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: format), NSPredicate(value: true)])
        }
        #expect(and("a == 1") == and("a == 1") && and("a == 1") != and("a == 2"))
        #expect(and("a == 1").hash == and("a == 1").hash)
        #expect(and("a == 1") != NSPredicate(value: false) && NSPredicate(value: false) != and("a == 1"))
        #expect(NSPredicate(value: false) != NSPredicate(format: "a == 1"))
        #expect(
            NSPredicate(value: true) == NSPredicate(value: true)
                && NSPredicate(value: true) != NSPredicate(value: false))
        #expect(Set([and("a == 1"), and("a == 1"), and("a == 2")]).count == 2)
    }

    @Test func classesOfTheProgramCompareByContentFromTheBeginning() {
        func named(_ name: String) -> NSPredicate {
            UnseenCompound(andPredicateWithSubpredicates: [NSPredicate(format: "name == %@", name)])
        }
        let predicates = [named("a"), named("a"), named("b")]
        #expect(predicates[0].hash == predicates[1].hash)
        #expect(Set(predicates).count == 2)
    }

    @Test func foundationIsAsItIsKnown() { #expect(PredicateMethodOverrides.isFoundationKnown) }

    @Test func whereFoundationIsUnknownAFalsePredicateIsRefused() throws {
        #expect(PredicateNode(false, isCopyKnown: true) == .constant(false))
        #expect(PredicateNode(true, isCopyKnown: false) == .constant(true))
        guard case .block(let block) = PredicateNode(false, isCopyKnown: false) else {
            Issue.record("taken")
            return
        }
        let refusal = try #require(block.refusal)
        #expect(refusal.diagnostic.message.contains("copy of a compound predicate"))
        #expect(throws: PredicateFailure.self) { try block.body(.null, [:]) }
    }

    @Test func aCopiedCompoundFetchesWhatItsOriginalFetches() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for name in ["a", "b"] { Tag(context: context).name = name }
            try context.save()
            let named = NSPredicate(format: "name == 'a'")
            let predicates = [
                NSCompoundPredicate(andPredicateWithSubpredicates: [named]),
                NSCompoundPredicate(type: .or, subpredicates: [named, NSPredicate(value: false)]),
                PlainCompound(andPredicateWithSubpredicates: [named, NSPredicate(value: true)]),
            ]
            for predicate in predicates {
                let request = NSFetchRequest<Tag>(entityName: "Tag")
                request.predicate = predicate.copy() as? NSPredicate
                #expect(try context.fetch(request).map(\.name) == ["a"])
                let copied = try #require(request.copy() as? NSFetchRequest<Tag>)
                #expect(try context.count(for: copied) == 1)
            }
        }
    }

    @Test func aCopyDoesNotChangeWithItsOriginal() throws {
        let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "SELF == 1")])
        let copy = try #require(compound.copy() as? NSCompoundPredicate)
        compound.subpredicates = [NSPredicate(format: "SELF == 2")]
        #expect(copy.evaluate(with: 1) && compound.evaluate(with: 2) && compound.format == "SELF == 2")
    }
}

@Suite struct PredicateArchiveTests {
    private func archived<Object: NSObject & NSCoding>(_ object: Object) throws -> Object? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
    }

    @Test(arguments: [
        "a == 1", "a.b BETWEEN {1, 2} AND NOT (c == nil OR d LIKE[cd] \"x\")", "TRUEPREDICATE", "FALSEPREDICATE",
        "SUBQUERY(items, $i, $i.price > 5).@count > 0", "date > CAST(5.000000, \"NSDate\")", "a == $X",
        "ANY tags.name IN {\"a\", \"b\"}",
    ])
    func archivesHaveTheSamePredicate(_ format: String) throws {
        let predicate = NSPredicate(format: format)
        let read = try #require(try archived(predicate))
        #expect(read.format == format && read == predicate)
        let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [predicate, NSPredicate(value: true)])
        let readCompound = try #require(try archived(compound))
        #expect(readCompound.format == compound.format)
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: NSArray(array: [predicate, compound]), requiringSecureCoding: true)
        let list = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSArray.self, NSPredicate.self], from: data) as? NSArray)
        #expect(list.compactMap { ($0 as? NSPredicate)?.format } == [format, compound.format])
    }

    @Test func archivesHaveTheClassesOfTheProgram() throws {
        let compound = PlainCompound(andPredicateWithSubpredicates: [NSPredicate(format: "a == 1")])
        let read = try #require(try archived(compound))
        #expect(type(of: read) == PlainCompound.self && read == compound && read.format == "a == 1")
        let comparison = KeptComparison(format: "a BEGINSWITH[c] 'x'")
        comparison.note = "not archived"
        let other = try #require(try archived(comparison))
        #expect(type(of: other) == KeptComparison.self && other == comparison && other.note == nil)
        let expression = NSExpression(format: "a + 1")
        let data = try NSKeyedArchiver.archivedData(withRootObject: expression, requiringSecureCoding: true)
        let third = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSExpression.self], from: data)
        #expect(third as? NSExpression == expression)
    }

    @Test func archivesHaveTheSameSortDescriptor() throws {
        for descriptor in [
            NSSortDescriptor(key: "a.b", ascending: false), NSSortDescriptor(key: nil, ascending: true),
            NSSortDescriptor(key: "a", ascending: true, selector: "localizedStandardCompare:"),
        ] {
            let read = try #require(try archived(descriptor))
            #expect(read == descriptor && read.key == descriptor.key && read.selector == descriptor.selector)
        }
    }

    @Test func whatCannotBeArchivedIsAnErrorAndNoStop() {
        let unarchivable: [NSObject & NSCoding] = [
            NSPredicate { _, _ in true }, NSPredicate(format: "a == %@", NSObject()),
            NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate { _, _ in true }]),
            NSSortDescriptor(key: "a", ascending: true) { _, _ in .orderedSame },
        ]
        for object in unarchivable {
            let error = #expect(throws: CocoaError.self) {
                try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
            }
            #expect(error?.code == .coderInvalidValue)
        }
    }

    @Test func foreignArchivesAreAnError() throws {
        let content = [
            (NSPredicate(format: "a == 1"), "OpenCoreDataFormat"), (NSPredicate(value: true), "TRUEPREDICATE"),
        ]
        for (predicate, word) in content {
            var data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
            let place = try #require(data.range(of: Data(word.utf8)))
            data.replaceSubrange(place, with: Data(word.utf8.reversed()))
            #expect(throws: (any Error).self) {
                try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data)
            }
        }
    }
}
