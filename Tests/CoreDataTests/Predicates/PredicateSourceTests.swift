// Source as a user writes it: both modules imported, nothing else.
import CoreData
import Foundation
import Testing

// Foundation marks its expression and comparison classes as deprecated on this platform, and so do these
// declarations, which keeps the compiler silent about them.

@available(*, deprecated)
private final class Holder {
    var predicate: NSPredicate?
    var expressions: [NSExpression] = []
    var comparison: NSComparisonPredicate?
    var compound: NSCompoundPredicate?
    var descriptors: [NSSortDescriptor] = []
}

private func bornBefore(_ year: Int) -> NSPredicate { NSPredicate(format: "born < %d", year) }

private func byTitle() -> NSSortDescriptor { NSSortDescriptor(key: "title", ascending: true) }

@available(*, deprecated)
private func title() -> NSExpression { NSExpression(forKeyPath: "title") }

private protocol UserSource {
    /// Checks what was declared; returns the formats of some of it.
    func run() -> [String]
}

private struct Annotations: UserSource {
    @available(*, deprecated)
    func run() -> [String] {
        let holder = Holder()
        let predicate: NSPredicate = NSPredicate(format: "a == 1")
        let expressions: [NSExpression] = [title(), NSExpression(forConstantValue: 1)]
        let comparison: NSComparisonPredicate = NSComparisonPredicate(
            leftExpression: expressions[0], rightExpression: expressions[1], modifier: .direct, type: .equalTo,
            options: [.caseInsensitive])
        let compound: NSCompoundPredicate = NSCompoundPredicate(type: .and, subpredicates: [predicate, comparison])
        let descriptors: [NSSortDescriptor] = [byTitle(), NSSortDescriptor(keyPath: \Novel.pages, ascending: false)]
        holder.predicate = bornBefore(1930)
        holder.expressions = expressions
        holder.comparison = comparison
        holder.compound = compound
        holder.descriptors = descriptors
        #expect(holder.predicate?.evaluate(with: ["born": 1929]) == true)
        #expect(holder.compound?.evaluate(with: ["a": 1, "title": 1]) == true)
        #expect(holder.expressions.count == 2 && holder.descriptors.count == 2)
        #expect(predicate.predicateFormat == "a == 1")
        let isComparison = predicate is NSComparisonPredicate
        #expect(isComparison)
        switch expressions[0].expressionType {
        case .keyPath: break
        default: Issue.record("not a key path")
        }
        return [holder.predicate?.predicateFormat ?? "", expressions[0].keyPath, predicate.predicateFormat]
    }
}

@Suite struct PredicateSourceTests {
    @Test func annotationsAndResultsCompileBesideFoundation() {
        #expect((Annotations() as any UserSource).run() == ["born < 1930", "title", "a == 1"])
    }

    @Test func sortDescriptorsCompileInEveryForm() {
        let descriptors: [NSSortDescriptor] = [
            NSSortDescriptor(key: "title", ascending: true),
            NSSortDescriptor(key: nil, ascending: true),
            NSSortDescriptor(key: "title", ascending: true, selector: "localizedStandardCompare:"),
            NSSortDescriptor(key: "title", ascending: true, selector: NSSelectorFromString("caseInsensitiveCompare:")),
            NSSortDescriptor(key: "title", ascending: true) { _, _ in .orderedSame },
            NSSortDescriptor(keyPath: \Novel.title, ascending: true),
            NSSortDescriptor(keyPath: \Novel.subtitle, ascending: true),
            NSSortDescriptor(keyPath: \Novel.isLent, ascending: false),
            NSSortDescriptor(keyPath: \Novel.author?.name, ascending: true),
            NSSortDescriptor(keyPath: \Novel.title, ascending: true) { _, _ in .orderedSame },
            NSSortDescriptor(keyPath: \Novel.subtitle, ascending: true, comparator: { _, _ in .orderedSame }),
        ]
        #expect(descriptors.map(\.ascending) == [true, true, true, true, true, true, true, false, true, true, true])
        #expect(descriptors[0].key == "title")
        #expect(descriptors[2].selector == "localizedStandardCompare:")
    }

    @Test func variadicArgumentsOfEveryKindCompile() {
        let ids = [1, 2, 3]
        let set: Set<String> = ["x"]
        let values: [String: Any] = ["name": "Bob", "age": 40, "id": 2]
        #expect(NSPredicate(format: "name == %@ AND age > %d AND id IN %@", "Bob", 3, ids).evaluate(with: values))
        #expect(!NSPredicate(format: "%K IN %@", "name", set).evaluate(with: values))
        let date = Date(timeIntervalSinceReferenceDate: 5)
        let uuid = UUID()
        let all = NSPredicate(
            format: "a == %@ AND b == %@ AND c == %@ AND d == %@ AND e == %@ AND f == %@ AND g == %@ AND h == %@", date,
            uuid,
            Data([1]), NSNumber(value: 2), Decimal(3), NSNull(), "x".dropFirst(0), true as NSNumber)
        let object: [String: Any] = [
            "a": date, "b": uuid, "c": Data([1]), "d": 2, "e": NSDecimalNumber(value: 3), "g": "x", "h": true,
        ]
        #expect(all.evaluate(with: object))
        #expect(NSPredicate(format: "a == %@ AND b == %f", 1.5, 2.5).evaluate(with: ["a": 1.5, "b": 2.5]))
        #expect(NSPredicate(format: "a == %@", argumentArray: [1]).evaluate(with: ["a": 1]))
        #expect(NSPredicate(format: "a == 1", argumentArray: nil).evaluate(with: ["a": 1]))
        #expect(
            NSPredicate(format: "link == %@", URL(fileURLWithPath: "/tmp")).evaluate(with: [
                "link": URL(fileURLWithPath: "/tmp")
            ]))
    }

    @Test func argumentListsOfCAreRead() {
        withVaList(["name", "Bob", 5, 2.5, Date(timeIntervalSinceReferenceDate: 5), Int32(-3)] as [any CVarArg]) {
            list in
            let predicate = NSPredicate(
                format: "%K == %@ AND a == %ld AND b == %f AND c == %@ AND d == %d", arguments: list)
            #expect(
                "\(predicate)"
                    == "name == \"Bob\" AND a == 5 AND b == 2.5 AND c == CAST(5.000000, \"NSDate\") AND d == -3")
        }
        withVaList([2]) { list in
            #expect("\(CoreData.NSExpression(format: "a + %d", arguments: list))" == "a + 2")
        }
    }
}
