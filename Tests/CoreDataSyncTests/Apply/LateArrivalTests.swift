import CoreData
import CoreDataSync
import Foundation
import TestSupport
import Testing

/// References, members and large values whose files arrive long before or long after their objects.
@Suite struct LateArrivalTests {
    private let large = Data(repeating: 7, count: 20_000)

    private func devices(
        _ model: () -> NSManagedObjectModel = CaptureStack.shop, _ count: Int = 2
    ) async throws -> Fleet {
        let fleet = try Fleet(count, model: model)
        try await fleet.settle()
        return fleet
    }

    // MARK: Large values

    @Test func onlyTheLargeValueWaits() async throws {
        let fleet = try await devices()
        try fleet[0].save { _ in
            for number in 0..<20 { _ = fleet[0].new("Item", ["name": "\(number)", "note": "n", "photo": large]) }
            _ = fleet[0].new("Item", ["name": "long", "note": String(repeating: "x", count: 20_000)])
        }
        try await fleet[0].exchange()
        fleet.hide("blob", from: 1)
        try await fleet[1].exchange()
        #expect(try fleet[1].contents().count == 21)
        #expect(try fleet[1].text("Item", "3", "note") == "n")
        #expect(try fleet[1].text("Item", "3", "photo") == nil)
        #expect(fleet[1].sync.state.waiting == 21)
        try await fleet.settle()
        #expect(try fleet[1].text("Item", "3", "photo") != nil)
        #expect(try fleet[1].text("Item", "long", "note")?.count == 20_000)
        #expect(fleet[1].sync.state.waiting == 0)
    }

    @Test func aLargeValueThatArrivesAfterALaterOneIsNotSet() async throws {
        let fleet = try await devices()
        try fleet[0].save { _ in _ = fleet[0].new("Item", ["name": "a", "photo": large]) }
        try await fleet[0].exchange()
        fleet.hide("blob", from: 1)
        try await fleet[1].exchange()
        fleet[1].clock.advance(seconds: 100)
        try fleet[1].set("Item", "a", ["photo": Data([1])])
        try await fleet[1].exchange()
        // The value that waited cannot count any more.
        #expect(fleet[1].sync.state.waiting == 0)
        try await fleet.settle()
        let found = try fleet[0].context.performAndWait { try fleet[0].object("Item", "a")?.value(forKey: "photo") }
        #expect(found as? Data == Data([1]))
    }

    @Test func aLargeValueThatReplacesAnEditKeepsItInTheJournal() async throws {
        let fleet = try await devices()
        try fleet[0].save { _ in _ = fleet[0].new("Item", ["name": "a", "note": "old"]) }
        try await fleet.settle()
        try fleet[1].set("Item", "a", ["note": "mine"])
        fleet[0].clock.advance(seconds: 100)
        try fleet[0].set("Item", "a", ["note": String(repeating: "x", count: 20_000)])
        try await fleet[0].exchange()
        fleet.hide("blob", from: 1)
        try await fleet[1].exchange()
        #expect(try fleet[1].text("Item", "a", "note") == "mine")
        try await fleet.settle()
        #expect(try fleet[1].text("Item", "a", "note")?.count == 20_000)
        #expect(try await fleet[1].journal() == ["note: mine (edited)"])
    }

    @Test func anObjectThatNeedsItsLargeValueWaitsForIt() async throws {
        let fleet = try await devices({
            let model = CaptureStack.shop()
            model.entitiesByName["Item"]?.attributesByName["photo"]?.isOptional = false
            return model
        })
        try fleet[0].save { _ in
            _ = fleet[0].new("Item", ["name": "a", "photo": large, "unit": fleet[0].new("Unit", ["name": "kg"])])
        }
        try await fleet[0].exchange()
        fleet.hide("blob", from: 1)
        try await fleet[1].exchange()
        #expect(try fleet[1].contents().count == 1)
        try await fleet.settle()
        #expect(try fleet[1].text("Item", "a", "unit.name") == "kg")
        #expect(fleet[1].sync.state.waiting == 0)
    }

    // MARK: References

    /// Each object in a save and a segment of its own.
    private func saveOneByOne(_ device: SyncingDevice, _ edits: [() throws -> Void]) async throws {
        for edit in edits {
            try device.save { _ in try edit() }
            try await device.exchange()
        }
    }

    @Test(arguments: Trials.some(of: Trials.seeds(24), atLeast: 2)) func segmentsArriveInAnyOrder(
        seed: UInt64
    ) async throws {
        var numbers = SeededNumbers(seed: seed)
        let fleet = try await devices()
        let a = fleet[0]
        try await saveOneByOne(
            a,
            [
                { _ = a.new("Item", ["name": "i"]) }, { _ = a.new("Unit", ["name": "u"]) },
                { _ = a.new("Tag", ["name": "t"]) },
                { _ = a.new("Label", ["text": "l"]) }, { _ = a.new("List", ["name": "w"]) },
                { _ = a.new("Song", ["name": "s"]) }, { _ = a.new("Playlist", ["name": "p"]) },
                {
                    let item = try #require(try a.object("Item", "i"))
                    item.setValue(try a.object("Unit", "u"), forKey: "unit")
                    item.setValue(try a.object("List", "w"), forKey: "list")
                    item.setValue(try a.object("Label", "l", by: "text"), forKey: "label")
                    item.mutableSetValue(forKey: "tags").add(try #require(try a.object("Tag", "t")))
                    item.mutableSetValue(forKey: "keywords").add(try #require(try a.object("Tag", "t")))
                    let song = try #require(try a.object("Song", "s"))
                    try #require(try a.object("Playlist", "p")).mutableOrderedSetValue(forKey: "songs").add(song)
                },
                { try a.object("Item", "i")?.setValue("note", forKey: "note") },
            ])
        // Some are deleted again, and some of these created again.
        for (entity, name) in [("Unit", "u"), ("Tag", "t"), ("List", "w"), ("Song", "s"), ("Item", "i")]
        where numbers.chance(3) {
            try await saveOneByOne(a, [{ try a.delete(entity, name) }])
            if numbers.chance(2) { try await saveOneByOne(a, [{ _ = a.new(entity, ["name": name]) }]) }
        }
        let segments = (1...20).shuffled(using: &numbers).map(UInt64.init)
        for shown in 0..<segments.count {
            fleet.hide(segments: Set(segments.dropFirst(shown)), from: 1)
            fleet[1].clock.advance(seconds: 1_000)
            try await fleet[1].exchange()
        }
        try await fleet.settle("seed \(seed)")
        for device in fleet.devices { #expect(device.sync.state.waiting == 0, "seed \(seed)") }
    }

    @Test(arguments: [true, false], Trials.some(of: Trials.seeds(24)))
    func aReferenceToAnObjectThatIsDeletedMeanwhileIsEmptyEverywhere(again: Bool, seed: UInt64) async throws {
        var numbers = SeededNumbers(seed: seed)
        let fleet = try await devices(CaptureStack.shop, 3)
        try fleet[0].save { _ in
            _ = fleet[0].new("Unit", ["name": "u"])
            _ = fleet[0].new("Item", ["name": "i"])
            _ = fleet[0].new("Tag", ["name": "t"])
        }
        try await fleet.settle()
        try fleet[0].save { _ in
            try fleet[0].delete("Unit", "u")
            try fleet[0].delete("Tag", "t")
        }
        try await fleet.exchange(0, seeing: [])
        if again { try fleet[0].save { _ in _ = fleet[0].new("Unit", ["name": "u", "size": 2]) } }
        if numbers.chance(2) { fleet[1].clock.advance(seconds: 100) }
        try fleet[1].save { _ in
            let item = try #require(try fleet[1].object("Item", "i"))
            item.setValue(try fleet[1].object("Unit", "u"), forKey: "unit")
            item.mutableSetValue(forKey: "tags").add(try #require(try fleet[1].object("Tag", "t")))
        }
        try await fleet.deliver(&numbers)
        try await fleet.settle("seed \(seed)")
        for device in fleet.devices { #expect(device.sync.state.waiting == 0, "seed \(seed)") }
    }

    @Test func oneOfTwoThatNeverArrivesDelaysNotTheOther() async throws {
        let fleet = try await devices()
        let a = fleet[0]
        try await saveOneByOne(
            a,
            [
                { _ = a.new("Unit", ["name": "u"]) }, { _ = a.new("List", ["name": "w"]) },
                {
                    let item = a.new("Item", ["name": "i"])
                    item.setValue(try a.object("Unit", "u"), forKey: "unit")
                    item.setValue(try a.object("List", "w"), forKey: "list")
                },
            ])
        for (first, never) in [(1, UInt64(2)), (2, 1)] {
            let b = try SyncingDevice("B\(first)", fleet.place(1))
            fleet.hide(segments: [1, 2], from: 1)
            try await b.exchange()
            fleet.hide(segments: [never], from: 1)
            b.clock.advance(seconds: 30)
            try await b.exchange()
            #expect(try b.text("Item", "i", first == 1 ? "unit.name" : "list.name") == (first == 1 ? "u" : "w"))
        }
    }
}
