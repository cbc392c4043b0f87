import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

/// Lists that several devices change, an element at a time.
@Suite struct ElementListTests {
    private static func stamp(_ time: UInt64, _ device: Int) -> Stamp {
        Stamp(ticks: time << 16, device: RandomStates.devices[device])
    }

    private static func values(_ text: String) -> [SyncValue] {
        text.split(separator: " ").map { .string(String($0)) }
    }

    private static func text(_ set: ElementSet) -> String {
        ElementList.values(set).map { if case .string(let text) = $0 { text } else { "?" } }.joined(separator: " ")
    }

    private static func changed(
        _ set: ElementSet, _ text: String, _ time: UInt64, _ device: Int, isSet: Bool = false
    ) -> ElementSet {
        ElementList.changed(set, to: values(text), at: stamp(time, device), isSet: isSet)
    }

    /// The common ancestor, two edits of it, and what both devices have afterwards.
    @Test(
        arguments: [
            ("a b c", "a x b c", "a b c y", "a x b c y"), ("a b c", "a c", "a b c y", "a c y"),
            ("a b c", "b c", "a b", "b"), ("a b c", "a b x c", "a b x c", "a b x c"),
            ("", "a b", "a b", "a b"), ("a b c", "", "a b x c", "x"), ("a", "a", "a b", "a b"),
            ("a b c", "b a c", "a b c d", "b a c d"), ("a a a", "a a", "a a a b", "a a b"),
        ])
    func editsOfTwoDevicesMerge(ancestor: String, one: String, other: String, merged: String) {
        let start = Self.changed(ElementSet(), ancestor, 1, 0)
        let (a, b) = (Self.changed(start, one, 2, 0), Self.changed(start, other, 3, 1))
        #expect(Self.text(a) == one && Self.text(b) == other)
        #expect(Self.text(a.merged(with: b)) == merged)
        #expect(a.merged(with: b) == b.merged(with: a))
    }

    /// Two edits of one line leave both, in one order on all devices.
    @Test func twoEditsOfOneElementLeaveBoth() {
        let start = Self.changed(ElementSet(), "a b c", 1, 0)
        let (one, other) = (Self.changed(start, "a x c", 2, 0), Self.changed(start, "a y c", 3, 1))
        let merged = Self.text(one.merged(with: other))
        #expect(["a x y c", "a y x c"].contains(merged))
        // The next write settles it, also for a device that has not merged yet.
        let settled = Self.changed(one.merged(with: other), "a z c", 4, 0)
        #expect(Self.text(settled.merged(with: other)) == "a z c")
    }

    /// Of a set, an element that two devices added at different places is one, and is removed as one.
    @Test func elementsOfASetAreOneWhereverTheyAre() {
        let start = Self.changed(ElementSet(), "a b", 1, 0, isSet: true)
        let both = Self.changed(start, "x a b", 2, 0, isSet: true)
            .merged(with: Self.changed(start, "a b x", 3, 1, isSet: true))
        #expect(Self.text(Self.changed(both, "a b", 4, 0, isSet: true)) == "a b")
        #expect(Self.text(Self.changed(both, "a b x c", 4, 0, isSet: true)).contains("c"))
    }

    /// What several devices had before they were attached has no common ancestor: one counts, the same on all.
    @Test func oneOfSeveralSeedsCounts() {
        func seed(_ text: String, _ age: SeedAge, _ device: Int) -> ElementSet {
            ElementList.changed(ElementSet(), to: Self.values(text), at: age.stamp(RandomStates.devices[device]))
        }
        let (a, b) = (seed("a b", .even, 0), seed("a c", .prevailing, 1))
        #expect(Self.text(a.merged(with: b)) == "a c" && Self.text(b.merged(with: a)) == "a c")
        #expect(Self.text(seed("a b", .even, 0).merged(with: seed("a b", .even, 1))) == "a b")
        #expect(Self.text(Self.changed(a.merged(with: b), "a c d", 1, 0)) == "a c d")
        // They are older than every edit, and the edit need not keep any of its own.
        for text in ["x", "a x"] { #expect(Self.text(Self.changed(a, text, 1, 0).merged(with: b)) == text) }
        #expect(Self.text(Self.changed(ElementSet(), "x", 1, 0).merged(with: b)) == "x")
        // Edits that each began with another one keep both.
        let both = Self.changed(a, "a b d", 1, 0).merged(with: Self.changed(b, "a c e", 1, 1))
        #expect(Set(Self.text(both).split(separator: " ")) == ["a", "b", "c", "d", "e"])
        // Devices that edit one of them at the same time remove as they mean.
        let one = Self.changed(a, "b", 1, 0).merged(with: Self.changed(a, "a b y", 1, 1))
        #expect(Self.text(one) == "b y")
    }

    /// Devices edit and exchange at random: afterwards all have one list, which has what no device removed.
    @Test(arguments: Trials.seeds(40))
    func devicesConverge(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var sets = [ElementSet](repeating: Self.changed(ElementSet(), "a b c d", 1, 0), count: 3)
        var serial = 0
        for time in 2..<40 as Range<UInt64> {
            let device = numbers.below(3)
            if numbers.chance(2) {
                sets[device] = sets[device].merged(with: sets[numbers.below(3)])
                continue
            }
            var list = ElementList.values(sets[device])
            if !list.isEmpty, numbers.chance(3) { list.remove(at: numbers.below(list.count)) }
            serial += 1
            list.insert(.string(numbers.chance(4) ? "same" : "n\(serial)"), at: numbers.below(list.count + 1))
            sets[device] = ElementList.changed(sets[device], to: list, at: Self.stamp(time, device))
            #expect(ElementList.values(sets[device]) == list, "seed \(seed)")
        }
        let all = sets.dropFirst().reduce(sets[0]) { $0.merged(with: $1) }
        for order in [[2, 0, 1], [1, 2, 0]] {
            #expect(order.dropFirst().reduce(sets[order[0]]) { $0.merged(with: sets[$1]) } == all, "seed \(seed)")
        }
    }

    /// An element takes its text, its position and its stamp; removed elements take nothing.
    @Test func aSetKeepsNothingOfWhatWasRemoved() {
        var set = Self.changed(ElementSet(), "a b c", 1, 0)
        for time in 2..<200 as Range<UInt64> { set = Self.changed(set, "a n\(time) c", time, Int(time % 3)) }
        #expect(set.elements.count == 3 && set.known.count == 3)
        #expect(set.elements.allSatisfy { $0.position.utf8.count < 40 })
    }
}
