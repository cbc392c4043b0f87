import CoreData
import CoreDataSync
import Foundation
import TestSupport
import Testing

/// An object that one device deletes and another one edits, whose files arrive in every order.
@Suite struct DeletedAndEditedTests {
    private func fleet(_ rule: DeletionRule) async throws -> Fleet {
        let fleet = try Fleet {
            let model = ModelMaking.warehouse()
            model.entitiesByName["Box"]?.userInfo = ["sync.delete": rule.rawValue]
            return model
        }
        try fleet[0].save { _ in _ = fleet[0].new("Box", ["name": "a", "text": "old"]) }
        try await fleet.settle()
        return fleet
    }

    enum DeletionRule: String, CaseIterable { case deleteWins, editWins }

    @Test(arguments: DeletionRule.allCases, Trials.some(of: Trials.seeds(16), atLeast: 2))
    func allDevicesEndEqual(_ rule: DeletionRule, seed: UInt64) async throws {
        var numbers = SeededNumbers(seed: seed)
        let fleet = try await fleet(rule)
        // With editWins the later one of both wins.
        fleet[1].clock.advance(seconds: rule == .editWins || numbers.chance(2) ? 100 : 0)
        fleet[0].clock.advance(seconds: 50)
        try fleet[0].save { _ in try fleet[0].delete("Box", "a") }
        try fleet[1].set("Box", "a", ["text": "new"])
        // Stamps are those of the capture.
        for number in 0...1 { try await fleet.exchange(number, seeing: []) }
        try await fleet.deliver(&numbers)
        try await fleet.settle("seed \(seed)")
        if rule == .editWins {
            for device in fleet.devices { #expect(try device.text("Box", "a", "text") == "new", "seed \(seed)") }
            return
        }
        #expect(try fleet[2].contents().isEmpty, "seed \(seed)")
        // The device that edited has all values, and the one that deleted has those that it did not know.
        #expect(try await fleet[1].journal().contains("text: new (deleted)"), "seed \(seed)")
        #expect(try await fleet[1].journal().contains("name: a (deleted)"), "seed \(seed)")
        #expect(try await fleet[0].journal() == ["text: new (deleted)"], "seed \(seed)")
        let conflict = try #require(try await fleet[1].sync.conflicts().first)
        try await fleet[1].sync.restore(conflict)
        try await fleet.settle("restored, seed \(seed)")
        for device in fleet.devices { #expect(try device.text("Box", "a", "text") == "new", "seed \(seed)") }
    }

    /// A pair is an edit of the object that has it.
    @Test func addedPairsOfADeletedObjectAreKept() async throws {
        let fleet = try Fleet(2, model: ModelMaking.office)
        try fleet[0].save { _ in
            _ = fleet[0].new("Folder", ["name": "f"])
            for name in ["s", "t"] { _ = fleet[0].new("Topic", ["name": name]) }
        }
        try await fleet.settle()
        try fleet[1].save { _ in
            let marks = try #require(try fleet[1].object("Folder", "f")).mutableSetValue(forKey: "marks")
            for name in ["s", "t"] { marks.add(try #require(try fleet[1].object("Topic", name))) }
        }
        try await fleet.exchange(1, seeing: [])
        try fleet[0].save { _ in try fleet[0].delete("Folder", "f") }
        try await fleet.exchange(0, seeing: [])
        try await fleet.settle()
        #expect(try fleet[1].names("Folder").isEmpty)
        let conflicts = try await fleet[1].sync.conflicts()
        #expect(conflicts.compactMap(\.property).sorted() == ["marks", "marks", "name"])
        let mark = try #require(conflicts.first { $0.property == "marks" })
        try await fleet[1].sync.restore(mark)
        try await fleet.settle()
        for device in fleet.devices {
            let names = try device.save { _ in
                let marks = try device.object("Folder", "f")?.value(forKey: "marks") as? Set<NSManagedObject>
                return Set(marks?.compactMap { $0.value(forKey: "name") as? String } ?? [])
            }
            #expect(names == ["s", "t"])
        }
    }

    @Test(arguments: DeletionRule.allCases)
    func theDeviceThatDeletedKeepsALateEdit(_ rule: DeletionRule) async throws {
        let fleet = try await fleet(rule)
        fleet[0].clock.advance(seconds: 200)
        try fleet[0].save { _ in try fleet[0].delete("Box", "a") }
        try fleet[1].set("Box", "a", ["text": "new"])
        try await fleet.exchange(1, seeing: [])
        try await fleet.exchange(0, seeing: [1])
        try await fleet.settle()
        #expect(try await fleet[0].journal() == ["text: new (deleted)"])
    }

    @Test func anEditThatArrivesBeforeItsObjectKeepsItsValue() async throws {
        let fleet = try Fleet(2, model: ModelMaking.warehouse)
        try await fleet.settle()
        try fleet[0].save { _ in _ = fleet[0].new("Box", ["name": "a", "text": "old"]) }
        try await fleet[0].exchange()
        try fleet[0].set("Box", "a", ["text": "new"])
        try await fleet[0].exchange()
        fleet.hide(segments: [1], from: 1)
        try await fleet[1].exchange()
        #expect(try fleet[1].contents().isEmpty)
        try await fleet.settle()
        #expect(try fleet[1].text("Box", "a", "text") == "new")
        #expect(try fleet[1].text("Box", "a", "name") == "a")
    }

    @Test func anEditFromBeforeTheDeletionIsNoConflict() async throws {
        let fleet = try await fleet(.deleteWins)
        try fleet[1].set("Box", "a", ["text": "new"])
        try await fleet.settle()
        try fleet[0].save { _ in try fleet[0].delete("Box", "a") }
        try await fleet.settle()
        for device in fleet.devices { #expect(try await device.journal().isEmpty) }
    }
}
