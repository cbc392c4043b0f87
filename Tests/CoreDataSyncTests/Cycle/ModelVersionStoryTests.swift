import CoreData
import Foundation
import Testing

@testable import CoreDataSync

/// Devices with two versions of the model.
@Suite struct ModelVersionStoryTests {
    typealias M = ModelMaking

    static func old() -> NSManagedObjectModel {
        let item = M.entity("Item", M.attribute("name"), M.attribute("note"))
        return M.model(item)
    }

    /// With another attribute, another relationship and another entity.
    static func new() -> NSManagedObjectModel {
        let item = M.entity("Item", M.attribute("name"), M.attribute("note"), M.attribute("colour"), M.toOne("shop"))
        let shop = M.entity("Shop", M.attribute("name"), M.toMany("items"))
        M.connect(item, "shop", shop, "items")
        return M.model(item, shop)
    }

    @Test func whatAnOldAppDoesNotKnowIsKeptAndHandedOn() async throws {
        let folder = try TemporaryFolder()
        let place = MemoryPlace()
        let kitchen = try SyncingDevice("Kitchen", place, model: Self.new())
        let phone = try SyncingDevice("Phone", place, model: Self.old(), url: folder("phone.sqlite"))
        try phone.save { _ in _ = phone.new("Item", ["name": "old", "note": "p"]) }
        try await settle(phone, kitchen)
        try kitchen.save { _ in
            let shop = kitchen.new("Shop", ["name": "Corner"])
            _ = kitchen.new("Item", ["name": "new", "colour": "red", "shop": shop])
            let old = try #require(try kitchen.object("Item", "old"))
            old.setValue("blue", forKey: "colour")
            old.setValue(shop, forKey: "shop")
        }
        try await settle(kitchen, phone)
        #expect(try phone.contents().count == 2)
        #expect(phone.sync.state.waiting == 3)
        // The old app edits what it knows.
        try phone.save { _ in
            try phone.object("Item", "new")?.setValue("from an old app", forKey: "note")
            try phone.object("Item", "old")?.setValue("from an old app", forKey: "note")
        }
        // The newer device goes, its files with it; a third one hears everything from the old app.
        try await settle(phone, kitchen)
        #expect(try kitchen.text("Item", "old", "colour") == "blue")
        let built = try #require(try SnapshotBuilder(store: phone.sync.store).build()).snapshot
        #expect(built.states.contains { $0.entity.name == "Shop" })
        #expect(built.states.count { $0.properties["colour"] != nil } == 2)
        // The update.
        try phone.close()
        try phone.open(model: Self.new())
        try await settle(phone, kitchen)
        #expect(try phone.contents() == kitchen.contents())
        #expect(try phone.contents().count == 3)
        #expect(phone.sync.state.waiting == 0)
        for name in ["old", "new"] {
            #expect(try phone.text("Item", name, "shop.name") == "Corner", "\(name)")
            #expect(try kitchen.text("Item", name, "note") == "from an old app", "\(name)")
        }
        #expect(try phone.text("Item", "old", "colour") == "blue")
        // The update itself is no edit of the new properties.
        #expect(try await phone.sync.conflicts().isEmpty)
        #expect(try await phone.exchange() == SyncSummary())
    }

    @Test func anEditOfAnUnknownValueIsAppliedAfterTheUpdateOnlyInItsLastForm() async throws {
        let folder = try TemporaryFolder()
        let place = MemoryPlace()
        let kitchen = try SyncingDevice("Kitchen", place, model: Self.new())
        let phone = try SyncingDevice("Phone", place, model: Self.old(), url: folder("phone.sqlite"))
        try kitchen.save { _ in
            for name in ["a", "b"] { _ = kitchen.new("Item", ["name": name, "colour": "red"]) }
            _ = kitchen.new("Shop", ["name": "Corner"])
        }
        try await settle(kitchen, phone)
        try kitchen.save { _ in
            try kitchen.object("Item", "a")?.setValue("green", forKey: "colour")
            try kitchen.delete("Shop", "Corner")
        }
        try phone.save { _ in try phone.delete("Item", "b") }
        try await settle(kitchen, phone)
        try phone.close()
        try phone.open(model: Self.new())
        try await settle(phone, kitchen)
        #expect(try phone.contents() == kitchen.contents())
        #expect(try phone.contents().count == 1)
        #expect(try phone.text("Item", "a", "colour") == "green")
        #expect(phone.sync.state.waiting == 0)
    }

    /// A value that is nil in a new object is not sent. Devices whose models differ elsewhere know all the same that
    /// it was nil.
    @Test(arguments: [true, false]) func whatIsNilInANewObjectIsKnownToOtherVersions(isNewFirst: Bool) async throws {
        func model(_ others: NSAttributeDescription...) -> NSManagedObjectModel {
            let item = M.entity("Item", info: ["sync.key": "name"], M.attribute("name"), M.attribute("note"))
            item.properties += others
            return M.model(item)
        }
        let place = MemoryPlace()
        let kitchen = try SyncingDevice("Kitchen", place, model: isNewFirst ? model(M.attribute("colour")) : model())
        let phone = try SyncingDevice("Phone", place, model: isNewFirst ? model() : model(M.attribute("colour")))
        try await settle(kitchen, phone)
        // The object of the device that attaches later is older than every edit.
        let late = try SyncingDevice("Late", place, model: model(M.attribute("colour"), M.attribute("size")))
        try late.save { _ in _ = late.new("Item", ["name": "Milk", "note": "from before"]) }
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk"]) }
        try await settle(kitchen, phone)
        try await settle(late, phone, kitchen)
        for device in [kitchen, phone, late] {
            #expect(try device.text("Item", "Milk", "note") == nil, "\(device.name)")
        }
    }

    /// The old app keeps that a value is nil which it does not know.
    @Test func whatIsNilIsKeptUntilTheUpdate() async throws {
        let folder = try TemporaryFolder()
        let place = MemoryPlace()
        func model(_ others: NSAttributeDescription...) -> NSManagedObjectModel {
            let item = M.entity("Item", info: ["sync.key": "name"], M.attribute("name"))
            item.properties += others
            return M.model(item)
        }
        let kitchen = try SyncingDevice("Kitchen", place, model: model(M.attribute("colour")))
        let phone = try SyncingDevice("Phone", place, model: model(), url: folder("phone.sqlite"))
        try await settle(kitchen, phone)
        let late = try SyncingDevice("Late", place, model: model(M.attribute("colour")))
        try late.save { _ in _ = late.new("Item", ["name": "Milk", "colour": "white"]) }
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk"]) }
        try await settle(kitchen, phone, late)
        try phone.close()
        try phone.open(model: model(M.attribute("colour")))
        try await settle(phone, kitchen, late)
        for device in [kitchen, phone, late] {
            #expect(try device.text("Item", "Milk", "colour") == nil, "\(device.name)")
        }
        #expect(phone.sync.state.waiting == 0)
    }
}
