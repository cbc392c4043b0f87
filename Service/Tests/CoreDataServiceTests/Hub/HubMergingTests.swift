import Foundation
import Testing

@testable import CoreDataService

@Suite struct HubMergingTests {
    @Test(arguments: [
        ("a\nb", "a\nb\nc", "x\na\nb", "x\na\nb\nc"), ("a\nb", "b", "a\nb\nc", "b\nc"), ("a", "b", "a", "b"),
        ("a", "a", "b", "b"), ("a\nb\nc", "a\nc", "a\nb", "a"), ("", "one", "two", "two\none"),
        ("a", "a\nb", "a\nb", "a\nb"),
    ])
    func linesOfBothStay(_ base: String, _ mine: String, _ theirs: String, _ merged: String) {
        #expect(HubMerging.lines(base, mine, theirs) == merged)
    }

    @Test(arguments: [
        ("red, blue", "red", "red, blue, green", "red, green"), ("", "a", "b", "b, a"), ("a", "a,b", "a, b", "a, b"),
    ])
    func itemsOfBothStay(_ base: String, _ mine: String, _ theirs: String, _ merged: String) {
        #expect(HubMerging.items(base, mine, theirs) == merged)
    }

    @Test(arguments: [
        ([1, 2, 3], [3, 2, 1], [3, 2, 1]), ([1, 4, 2], [2, 1], [2, 1, 4]), ([4, 1], [1], [4, 1]), ([1], [2, 1], [1]),
    ])
    func membersTakeAnOrder(_ members: [Int], _ order: [Int], _ result: [Int]) {
        #expect(HubMerging.ordered(members, like: order) == result)
    }

    @Test(arguments: [
        (HubEntity.Merge.sum, HubValue.integer(5), HubValue.integer(7), HubValue.integer(10), HubValue.integer(12)),
        (.sum, .integer(0), .integer(.max), .integer(1), .integer(.max)),
        (.sum, .null, .integer(3), .null, .integer(3)),
        (.min, .null, .integer(3), .integer(2), .integer(2)), (.max, .null, .integer(3), .integer(2), .integer(3)),
        (.min, .null, .null, .integer(2), .integer(2)), (.last, .text("a"), .text("b"), .text("c"), .text("b")),
        (.sum, .decimal("1.5"), .decimal("2"), .decimal("1.25"), .decimal("1.75")),
    ])
    func valuesMergeByTheirRules(
        _ rule: HubEntity.Merge, _ base: HubValue, _ mine: HubValue, _ theirs: HubValue, _ merged: HubValue
    ) {
        #expect(HubMerging.value(rule, base: base, mine: mine, theirs: theirs) == merged)
    }
}
