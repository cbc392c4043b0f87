import CoreData
import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// Attributes, to-one relationships and deletions.
@Suite struct CaptureObjectTests {
    @Test func anInsertedObjectIsSentAsAWhole() throws {
        let stack = try CaptureStack()
        let (unit, drink) = try stack.save { _ in
            let unit = stack.new("Unit", ["name": "Litre"])
            return (unit, stack.new("Drink", ["name": "Milk", "strength": 3.5, "unit": unit]))
        }
        let captured = try stack.run()
        let entry = try #require(try stack.entry(drink))
        let part = try #require(captured[entry.id])
        #expect(captured.result.insertedObjects == 2 && captured.states.count == 2)
        #expect(part.entity.name == "Drink")
        // Properties that are nil are left out.
        #expect(
            part.shown == [
                "name": .string("Milk"), "strength": .double((3.5).bitPattern),
                "unit": .reference(try #require(try stack.id(unit))),
            ])
        #expect(part.created != nil && part.born == part.created && part.deleted == nil)
        #expect(part.properties.values.allSatisfy { $0.stamp == part.created })
        #expect(part.created?.device == stack.sidecar.settings.device && part.created?.isSeed == false)
        // The sidecar has stamps of all, and no values.
        #expect(entry.root == "Item" && entry.state.created == part.created)
        #expect(Set(entry.state.shown.values) == [.stored])
        #expect(
            Set(entry.state.properties.keys) == [
                "name", "note", "photo", "colours", "address.city", "address.zip", "unit", "label", "list", "strength",
            ])
        #expect(captured.segments[0].number == 1 && captured.segments[0].modelHash == stack.rules.modelHash)
        #expect(try stack.run().states == [])
        #expect(stack.sidecar.settings.lastSegment == 1)
    }

    @Test func anUpdateSendsWhatChanged() throws {
        let stack = try CaptureStack()
        let item = try stack.save { _ in stack.new("Item", ["name": "Milk", "note": "fresh"]) }
        let created = try stack.run().states[0].created
        try stack.save { _ in item.setValue("Soy milk", forKey: "name") }
        try stack.save { _ in item.setValue(nil, forKey: "note") }
        let captured = try stack.run()
        #expect(captured.result.transactions == 2 && captured.states.count == 1)
        let part = captured.states[0]
        #expect(part.shown == ["name": .string("Soy milk"), "note": .null])
        #expect(part.created == nil && part.edges.isEmpty)
        let entry = try #require(try stack.entry(item))
        let stamp = try #require(part.properties["name"]?.stamp)
        #expect(stamp > created!)
        #expect(entry.state.properties["name"] == .last(stamp, .stored))
        #expect(entry.state.properties["photo"] == .last(created!, .stored))
    }

    @Test func onlyTheChangedElementOfACompositeIsSent() throws {
        let stack = try CaptureStack()
        let item = try stack.save { _ in stack.new("Item", ["address": ["city": "Oslo", "zip": "0150"]]) }
        #expect(try stack.run().states[0].shown == ["address.city": .string("Oslo"), "address.zip": .string("0150")])
        try stack.save { _ in item.setValue(["city": "Bergen", "zip": "0150"], forKey: "address") }
        #expect(try stack.run().states[0].shown == ["address.city": .string("Bergen")])
    }

    @Test func deletedObjectsKeepAnEntryWithoutKey() throws {
        let stack = try CaptureStack()
        let item = try stack.save { _ in stack.new("Item", ["name": "Milk"]) }
        try stack.run()
        let entry = try #require(try stack.entry(item))
        try stack.save {
            item.setValue("x", forKey: "name")
            $0.delete(item)
        }
        let captured = try stack.run()
        #expect(captured.result.deletedObjects == 1 && captured.states.count == 1)
        #expect(captured.states[0].id == entry.id && captured.states[0].properties.isEmpty)
        let deleted = try #require(try stack.sidecar.entries(ids: [entry.id]).first)
        #expect(deleted.key == 0 && deleted.digests == nil && deleted.state.deleted == captured.states[0].deleted)
        #expect(deleted.state.properties.isEmpty && !deleted.state.exists(.deleteWins))
    }

    @Test func anObjectThatCameAndWentIsNotSent() throws {
        let stack = try CaptureStack()
        let item = try stack.save { _ in stack.new("Item", ["name": "Milk"]) }
        try stack.save { _ in item.setValue("Tea", forKey: "name") }
        try stack.save { $0.delete(item) }
        let captured = try stack.run()
        #expect(captured.states == [] && captured.result.transactions == 3)
        #expect(try stack.sidecar.counts() == SidecarCounts())
    }

    /// A transaction after the captured ones deleted the row.
    @Test func anObjectWhoseRowIsGoneWaitsForItsDeletion() throws {
        let stack = try CaptureStack()
        let (item, tea) = try stack.save { _ in
            (stack.new("Item", ["name": "Milk"]), stack.new("Item", ["name": "Tea"]))
        }
        try stack.run()
        let id = try stack.id(item)
        try stack.save { _ in
            item.setValue("Soy", forKey: "name")
            tea.setValue("Mate", forKey: "name")
        }
        let unseen = try stack.save { _ in stack.new("Item", ["name": "Rum"]) }
        try stack.save {
            $0.delete(item)
            $0.delete(unseen)
        }
        let first = try stack.run(limit: 2)
        #expect(first.result.isPartial && first.result.transactions == 2)
        #expect(first.states.map(\.shown) == [["name": .string("Mate")]])
        let second = try stack.run(limit: 2)
        #expect(!second.result.isPartial && second.states.map(\.id) == [id])
        #expect(second.states[0].deleted != nil)
    }

    @Test func referencesFollowToOnes() throws {
        let stack = try CaptureStack()
        let (item, unit) = try stack.save { _ in (stack.new("Item"), stack.new("Unit", ["name": "Litre"])) }
        try stack.run()
        try stack.save { _ in item.setValue(unit, forKey: "unit") }
        #expect(try stack.run().states.map(\.shown) == [["unit": .reference(try #require(try stack.id(unit)))]])
        try stack.save { $0.delete(unit) }
        let captured = try stack.run()
        #expect(captured[try stack.id(item)]?.shown == ["unit": .null])
        #expect(captured.states.count == 2)
    }

    @Test func oneSideOfAOneToOneIsSent() throws {
        let stack = try CaptureStack()
        let (item, label) = try stack.save { _ in (stack.new("Item"), stack.new("Label", ["text": "new"])) }
        try stack.run()
        try stack.save { _ in label.setValue(item, forKey: "item") }
        let captured = try stack.run()
        #expect(captured.states.count == 1)
        #expect(captured[try stack.id(item)]?.shown == ["label": .reference(try #require(try stack.id(label)))])
    }

    /// The capture ends between a reference and the transaction that inserted its destination.
    @Test func destinationsOfLaterTransactionsAreCapturedWithTheReference() throws {
        let stack = try CaptureStack()
        let item = try stack.save { _ in stack.new("Item", ["name": "Milk"]) }
        let label = try stack.save { _ in
            let label = stack.new("Label", ["text": "new"])
            item.setValue(label, forKey: "label")
            return label
        }
        let first = try stack.run(limit: 1)
        let id = try #require(try stack.id(label))
        #expect(first.states.count == 2 && first[id]?.shown == ["text": .string("new")])
        #expect(first[try stack.id(item)]?.shown["label"] == .reference(id))
        // Its own transaction says nothing new.
        let second = try stack.run(limit: 1)
        #expect(second.result.transactions == 1 && second[id] == nil)
        #expect(try stack.id(label) == id)
    }

    @Test func largeValuesBecomeBlobs() throws {
        let stack = try CaptureStack()
        let photo = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0) })
        let note = String(repeating: "é", count: 8_193)
        try stack.save { _ in
            for name in ["a", "b"] {
                _ = stack.new("Item", ["name": name, "photo": photo, "note": note])
            }
            _ = stack.new("Item", ["name": "c", "photo": photo.prefix(16_384)])
        }
        let captured = try stack.run()
        let names = try stack.sidecar.outgoingNames()
        #expect(names.count == 3 && names.last == .segment(1))
        let values = captured.states.map(\.shown).first { $0["name"] == .string("a") }
        guard case .blob(let digest, 20_000)? = values?["photo"] else {
            Issue.record("no blob")
            return
        }
        #expect(try stack.sidecar.outgoing(.blob(digest))?.bytes == photo)
        guard case .blob(let text, 16_386)? = values?["note"] else {
            Issue.record("no blob")
            return
        }
        #expect(try stack.sidecar.outgoing(.blob(text))?.bytes == Data(note.utf8))
        #expect(captured.states.count { $0.shown["photo"] == .data(photo.prefix(16_384)) } == 1)
    }

    @Test func transformablesAreSentAsTheStoreHasThem() throws {
        let stack = try CaptureStack()
        let colours = ["red": 1, "green": 2, "blue": 3] as NSDictionary
        let item = try stack.save { _ in stack.new("Item", ["colours": colours]) }
        guard case .data(let data)? = try stack.run().states.first?.shown["colours"] else {
            Issue.record("no bytes")
            return
        }
        #expect(data.starts(with: "bplist".utf8))
        let coder = try StoredValues(try #require(stack.rules["Item"]), in: stack.model)
        try stack.context.performAndWait {
            try coder.set(.data(data), "colours", of: item)
            #expect(item.value(forKey: "colours") as? NSDictionary == colours)
        }
        // The same bytes again: no edit.
        #expect(try stack.compare().states == [])
    }

    @Test func segmentsAreClosedWhenTheyAreFull() throws {
        var settings = SidecarSettings(device: DeviceID(high: 1, low: 1), deviceName: "")
        settings.lastSegment = 7
        var writing = CaptureWriting(settings: settings, rules: try SyncRules(model: CaptureStack.shop()))
        let stamp = Stamp(ticks: 9 << 20, device: settings.device)
        for number in 0...CaptureWriting.statesPerSegment {
            var state = ObjectState(id: GlobalID(high: 0, low: UInt64(number)), entity: .init("Item", stamp))
            state.created = stamp
            writing.add(state)
        }
        // Values that fill a segment by their size.
        for _ in 0..<300 { _ = writing.shortened(.data(Data(count: 16_000))) }
        writing.add(ObjectState(id: GlobalID(high: 1, low: 1), entity: .init("Item", stamp)))
        writing.close()
        #expect(writing.segments == [8, 9] && writing.lastSegment == 9)
        #expect(try writing.outgoing.map { try Segment(bytes: $0.bytes).states.count } == [10_000, 2])
    }
}
