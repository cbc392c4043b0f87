import CoreData
import CoreDataSync
import Foundation
import TestSupport
import Testing

/// Objects of different identities that have equal values in a uniqueness constraint: they are one on all devices.
@Suite struct AliasTests {
    /// Each device has a product of its own with the same name.
    private func fleet(_ count: Int) async throws -> Fleet {
        let fleet = try Fleet(count, model: ModelMaking.warehouse)
        try await fleet.settle()
        for (number, device) in fleet.devices.enumerated() {
            device.clock.advance(seconds: UInt64(number))
            try device.save { _ in
                let product = device.new("Product", ["code": "\(number)", "name": "x", "text": "text \(number)"])
                _ = device.new("Order", ["name": "order \(number)", "product": product])
                let label = device.new("Label", ["name": "label \(number)"])
                label.mutableSetValue(forKey: "products").add(product)
            }
            // Stamps are those of the capture.
            try await fleet.exchange(number, seeing: [])
        }
        return fleet
    }

    private func checkMerged(_ fleet: Fleet, _ comment: Comment) throws {
        for device in fleet.devices {
            let contents = try device.contents()
            #expect(contents.values.count { $0.hasPrefix("Product") } == 1, comment)
            for number in fleet.devices.indices {
                #expect(try device.text("Order", "order \(number)", "product.name") == "x", comment)
                #expect(try device.names("Label", "label \(number)", "products") == ["x"], comment)
            }
        }
    }

    @Test(arguments: [2, 3, 4], Trials.some(of: Trials.seeds(12))) func theyBecomeOneInEveryOrder(
        count: Int, seed: UInt64
    ) async throws {
        var numbers = SeededNumbers(seed: seed)
        let fleet = try await fleet(count)
        try await fleet.deliver(&numbers, steps: count * 3)
        try await fleet.settle("seed \(seed)")
        try checkMerged(fleet, "seed \(seed)")
        // The last device wrote last; every text but its own is in the journal of its writer, with the reason.
        for number in 0..<(count - 1) {
            let journal = try await fleet[number].journal()
            #expect(journal.contains("text: text \(number) (unique)"), "seed \(seed), \(number): \(journal)")
        }
        let conflict = try #require(
            try await fleet[0].sync.conflicts().first { $0.property == "text" && $0.losing == "text 0" })
        try await fleet[0].sync.restore(conflict)
        try await fleet.settle("restored, seed \(seed)")
        for device in fleet.devices { #expect(try device.text("Product", "x", "text") == "text 0", "seed \(seed)") }
    }

    @Test(arguments: Trials.some(of: Trials.seeds(16), atLeast: 2)) func aLaterEditOrDeletionByAnyIDCounts(
        seed: UInt64
    ) async throws {
        var numbers = SeededNumbers(seed: seed)
        let fleet = try await fleet(3)
        // Some know the others, some do not.
        try await fleet.deliver(&numbers, steps: numbers.below(8))
        let (editor, deleter) = (numbers.below(3), numbers.below(3))
        for device in fleet.devices { device.clock.advance(seconds: 1_000) }
        let isDeleted = numbers.chance(2)
        fleet[deleter].clock.advance(seconds: 1_000)
        if isDeleted { try fleet[deleter].save { _ in try fleet[deleter].delete("Product", "x") } }
        if !isDeleted || editor != deleter { try fleet[editor].set("Product", "x", ["text": "edited"]) }
        try await fleet.deliver(&numbers)
        try await fleet.settle("seed \(seed)")
        if isDeleted {
            // Where no device had the deleted one beside another, nobody knows that they were one.
            let texts = try fleet.devices.map { try $0.text("Product", "x", "text") }
            #expect(Set(texts).count == 1, "seed \(seed)")
            guard editor != deleter, texts[0] != "edited" else { return }
            #expect(try await fleet[editor].journal().contains { $0.hasPrefix("text: edited") }, "seed \(seed)")
        } else {
            for device in fleet.devices { #expect(try device.text("Product", "x", "text") == "edited", "seed \(seed)") }
            try checkMerged(fleet, "seed \(seed)")
        }
    }

    @Test(arguments: Trials.some(of: Trials.seeds(8))) func aDeviceThatKnowsNoAliasMayReferToAnyOfThem(
        seed: UInt64
    ) async throws {
        var numbers = SeededNumbers(seed: seed)
        let fleet = try Fleet(4, model: ModelMaking.warehouse)
        try await fleet.settle()
        for number in 0..<2 {
            try fleet[number].save { _ in
                _ = fleet[number].new("Product", ["code": "\(number)", "name": "x", "text": "text \(number)"])
            }
            try await fleet.exchange(number, seeing: [])
        }
        // Each of two other devices knows one of both.
        for (number, known) in [(2, 0), (3, 1)] {
            try await fleet.exchange(number, seeing: [known])
            try fleet[number].save { _ in
                let product = try #require(try fleet[number].object("Product", "x"))
                _ = fleet[number].new("Order", ["name": "order \(number)", "product": product])
                let label = fleet[number].new("Label", ["name": "label \(number)"])
                label.mutableSetValue(forKey: "products").add(product)
            }
        }
        try await fleet.deliver(&numbers, steps: 12)
        try await fleet.settle("seed \(seed)")
        for device in fleet.devices {
            for number in 2...3 {
                #expect(try device.text("Order", "order \(number)", "product.name") == "x", "seed \(seed)")
                #expect(try device.names("Label", "label \(number)", "products") == ["x"], "seed \(seed)")
            }
        }
        // A member is removed by the ID that each device has.
        try fleet[2].save { _ in
            let product = try #require(try fleet[2].object("Product", "x"))
            try #require(try fleet[2].object("Label", "label 3")).mutableSetValue(forKey: "products").remove(product)
            _ = try fleet[2].object("Label", "label 2")?.setValue("renamed", forKey: "name")
        }
        try await fleet.settle("removed, seed \(seed)")
        for device in fleet.devices {
            #expect(try device.names("Label", "label 3", "products").isEmpty, "seed \(seed)")
        }
    }

    @Test func aKeyThatAnAliasHasIsNoReasonToBecomeOne() async throws {
        let fleet = try await fleet(2)
        try await fleet.settle()
        // The merged object has one of both codes; an object with the other one is a new object.
        let code = try #require(try fleet[0].text("Product", "x", "code")) == "0" ? "1" : "0"
        for device in fleet.devices {
            try device.save { _ in _ = device.new("Product", ["code": code, "name": "new \(device.name)"]) }
            try await fleet.settle()
            for device in fleet.devices {
                #expect(try device.contents().values.count { $0.hasPrefix("Product") } == 2, "\(device.name)")
            }
            try device.save { _ in try device.delete("Product", "new \(device.name)") }
            try await fleet.settle()
        }
    }
}
