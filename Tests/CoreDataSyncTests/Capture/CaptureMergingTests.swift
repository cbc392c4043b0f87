import CoreData
import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// Sums, minima, maxima, and identities.
@Suite struct CaptureMergingTests {
    // MARK: Sums

    @Test func aSumGrowsByTheDifference() throws {
        let stack = try CaptureStack()
        let device = stack.sidecar.settings.device
        func amount(_ state: ObjectState?) -> SyncValue? {
            if case .counter(let parts)? = state?.properties["count"] { parts[device]?.amount } else { nil }
        }
        let item = try stack.save { _ in stack.new("Item", ["count": 3]) }
        #expect(amount(try stack.run().states.first) == .integer(3))
        // Another device added 10: apply wrote the sum into the store, and its part into the sidecar.
        var entry = try #require(try stack.entry(item))
        let other = DeviceID(high: 9, low: 9)
        if case .counter(var parts)? = entry.state.properties["count"] {
            parts[other] = .init(ticks: 50 << 40, amount: .integer(10))
            entry.state.properties["count"] = .counter(parts)
        }
        var change = SidecarChange()
        change.entries = [entry]
        try stack.sidecar.write(change)
        try stack.save(author: "sync") { _ in item.setValue(13, forKey: "count") }
        #expect(try stack.run(IntendedChanges()).states == [])
        try stack.save { _ in item.setValue(15, forKey: "count") }
        let captured = try stack.run()
        #expect(amount(captured.states.first) == .integer(5))
        guard case .counter(let sent)? = captured.states.first?.properties["count"] else {
            Issue.record("no sum")
            return
        }
        #expect(sent.count == 1)
        guard case .counter(let kept)? = try stack.entry(item)?.state.properties["count"] else {
            Issue.record("no sum")
            return
        }
        #expect(kept.count == 2 && SyncNumber.total(kept, .integer(bits: 32)) == .integer(15))
        try stack.save { _ in item.setValue(nil, forKey: "count") }
        #expect(amount(try stack.run().states.first) == .integer(-10))
    }

    @Test(arguments: [
        (AttributeKind.integer(bits: 64), SyncValue.integer(.max), SyncValue.integer(1), SyncValue.integer(.max)),
        (.integer(bits: 16), .integer(2), .integer(-5), .integer(-3)),
        (.double, .double((1.5).bitPattern), .double((2.0).bitPattern), .double((3.5).bitPattern)),
        (.decimal, .decimal("0.1"), .decimal("0.2"), .decimal("0.3")),
        (.decimal, .null, .decimal("-1.50"), .decimal("-1.5")),
    ])
    func numbersAreAdded(kind: AttributeKind, a: SyncValue, b: SyncValue, sum: SyncValue) {
        #expect(SyncNumber.add(a, b, kind) == sum)
    }

    // MARK: Minima and maxima

    @Test func aMaximumThatWasLoweredIsSetAgainByApply() throws {
        let stack = try CaptureStack()
        let item = try stack.save { _ in
            stack.new("Item", ["best": 5.0, "first": Date(timeIntervalSinceReferenceDate: 100)])
        }
        let first = try stack.run()
        let id = try #require(try stack.id(item))
        #expect(first.result.differing.isEmpty)
        #expect(first.states.first?.shown == ["best": .double((5.0).bitPattern), "first": .date((100.0).bitPattern)])
        try stack.save { _ in
            item.setValue(4.0, forKey: "best")
            item.setValue(Date(timeIntervalSinceReferenceDate: 90), forKey: "first")
        }
        let second = try stack.run()
        #expect(second.result.differing == [id])
        #expect(second.states.map(\.shown) == [["first": .date((90.0).bitPattern)]])
        #expect(try stack.entry(item)?.state.shown["best"] == .double((5.0).bitPattern))
        try stack.save { _ in item.setValue(6.0, forKey: "best") }
        let third = try stack.run()
        #expect(third.result.differing.isEmpty && third.states.map(\.shown) == [["best": .double((6.0).bitPattern)]])
    }

    // MARK: Identities

    @Test func keysMakeTheSameIdentityOnAllDevices() throws {
        let uid = UUID()
        func ids() throws -> [GlobalID?] {
            let stack = try CaptureStack()
            let objects = try stack.save { _ in
                [
                    stack.new("Unit", ["name": "Litre", "size": Double.random(in: 0...1)]),
                    stack.new("Account", ["uid": uid]), stack.new("Tag", ["name": "red"]), stack.new("Unit"),
                ]
            }
            try stack.run()
            return try objects.map { try stack.id($0) }
        }
        let (first, second) = (try ids(), try ids())
        #expect(first[0] == KeyIdentity.id(entity: "Unit", values: [.string("Litre")]))
        #expect(first[1] == GlobalID(uid))
        #expect(first[0] == second[0] && first[1] == second[1])
        // Without a key, or with a key that is nil.
        #expect(first[2] != second[2] && first[3] != second[3])
    }

    /// They share a table and its primary keys, but what is the same in one is another thing in the other.
    @Test func entitiesThatDeclareAKeyEachDoNotShareIdentities() throws {
        typealias M = ModelMaking
        let place = M.entity("Place", M.attribute("note"))
        let model = M.model(
            place, M.entity("Room", parent: place, info: ["sync.key": "name"], M.attribute("name")),
            M.entity("Shop", parent: place, info: ["sync.key": "name"], M.attribute("name")))
        func ids() throws -> [GlobalID?] {
            let stack = try CaptureStack(model)
            let objects = try stack.save { _ in
                [stack.new("Room", ["name": "Cellar"]), stack.new("Shop", ["name": "Cellar"])]
            }
            #expect(try stack.run().result.insertedObjects == 2)
            return try objects.map { try stack.id($0) }
        }
        let (first, second) = (try ids(), try ids())
        #expect(first == second && first[0] != first[1])
    }

    @Test func objectsWithEqualKeysAreNumberedOnAllDevicesAlike() throws {
        let stack = try CaptureStack()
        let litre = try stack.save { _ in stack.new("Unit", ["name": "Litre"]) }
        try stack.run()
        let others = try stack.save { _ in
            [
                stack.new("Unit", ["name": "Litre"]), stack.new("Unit", ["name": "Box"]),
                stack.new("Unit", ["name": "Box"]), stack.new("Unit", ["name": "Box"]),
            ]
        }
        try stack.run()
        func id(_ name: String, _ ordinal: Int64) -> GlobalID {
            KeyIdentity.id(entity: "Unit", values: [.string(name)] + (ordinal == 1 ? [] : [.integer(ordinal)]))
        }
        #expect(try stack.id(litre) == id("Litre", 1))
        #expect(try stack.id(others[0]) == id("Litre", 2))
        #expect(try Set(others.dropFirst().map { try stack.id($0) }) == [id("Box", 1), id("Box", 2), id("Box", 3)])
        // The number of a deleted object is free again.
        try stack.save { $0.delete(litre) }
        try stack.run()
        let again = try stack.save { _ in stack.new("Unit", ["name": "Litre"]) }
        try stack.run()
        #expect(try stack.id(again) == id("Litre", 1))
        // More objects than have numbers.
        let many = try stack.save { _ in (0..<70).map { _ in stack.new("Unit", ["name": "many"]) } }
        try stack.run()
        #expect(try Set(many.map { try stack.id($0) }).count == 70)
    }

    @Test func aChangedKeyChangesNoIdentity() throws {
        let stack = try CaptureStack()
        let litre = try stack.save { _ in stack.new("Unit", ["name": "Litre"]) }
        try stack.run()
        let id = try stack.id(litre)
        try stack.save { _ in litre.setValue("L", forKey: "name") }
        #expect(try stack.run().states.map(\.id) == [id])
    }

    @Test(arguments: [true, false])
    func aKeyGoesOnInAnObjectThatReplacesADeletedOne(inOneSave: Bool) throws {
        let stack = try CaptureStack()
        let litre = try stack.save { _ in stack.new("Unit", ["name": "Litre", "size": 1.0]) }
        let before = try stack.run()
        let id = try #require(try stack.id(litre))
        let new = try stack.save { context in
            context.delete(litre)
            if inOneSave { return stack.new("Unit", ["name": "Litre"]) }
            try context.save()
            _ = try stack.capture.run()
            return stack.new("Unit", ["name": "Litre"])
        }
        let captured = try stack.run()
        #expect(captured.states.count == 1)
        let part = try #require(captured[id])
        #expect(part.born == before.states[0].created && part.created! > part.deleted!)
        let entry = try #require(try stack.entry(new))
        #expect(
            entry.id == id && entry.state.exists(.deleteWins) && entry.state.properties["size"]?.stamp == part.created)
        #expect(part.shown == ["name": .string("Litre")])
    }
}
