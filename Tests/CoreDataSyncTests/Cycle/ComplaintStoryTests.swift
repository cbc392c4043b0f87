import CoreData
import CoreDataSyncSimulation
import Foundation
import TestSupport
import Testing

@testable import CoreDataSync

/// What users of other products complain of, and what happens here instead: a test for each row of the list.
@Suite struct ComplaintStoryTests {
    private let place = MemoryPlace()

    private func device(
        _ name: String, _ place: (any SyncPlace)? = nil, model: NSManagedObjectModel = CaptureStack.shop()
    ) throws -> SyncingDevice {
        try SyncingDevice(name, place ?? self.place, model: model)
    }

    @Test("A black box: nobody knows whether it has synced, or why not") func itTellsWhatItHasAndWhyNot() async throws {
        let faulty = FaultyPlace(place, seed: 1)
        let (kitchen, phone) = (try device("Kitchen"), try device("Phone", faulty))
        #expect(phone.sync.state.lastExchange == nil)
        try await settle(kitchen, phone)
        let before = try #require(phone.sync.state.lastExchange)
        try phone.save { _ in _ = phone.new("Item", ["name": "Milk"]) }
        faulty.isFull = true
        await #expect(throws: SyncPlaceError.self) { try await phone.exchange() }
        let failed = phone.sync.state
        #expect(failed.unsent == 1)
        guard case .failed(let error as SyncPlaceError, _) = failed.activity else {
            Issue.record("\(failed)")
            return
        }
        #expect(error.reason == .full && !error.localizedDescription.isEmpty)
        faulty.heal()
        try await settle(phone, kitchen)
        #expect(phone.sync.state.unsent == 0)
        #expect(try #require(phone.sync.state.lastExchange) > before)
        let devices = try await phone.sync.devices()
        #expect(devices.map(\.name).sorted() == ["Kitchen", "Phone"])
        #expect(devices.allSatisfy { $0.behind == 0 && !$0.hasExpired })
    }

    @Test("A missing or broken file stops everything") func aBrokenFileStopsOnlyWhatIsInIt() async throws {
        let (kitchen, phone) = (try device("Kitchen"), try device("Phone"))
        for name in ["a", "b", "c"] {
            try kitchen.save { _ in _ = kitchen.new("Item", ["name": name]) }
            try await kitchen.exchange()
        }
        let folder = kitchen.folder
        let files = try await place.list(folder).filter { $0.hasPrefix("segment") }.sorted()
        #expect(files.count == 3)
        let whole = try #require(try await place.read(files[1], in: folder))
        try await place.delete(files[1], in: folder)
        _ = try await place.create(files[1], in: folder, whole.prefix(whole.count / 2))
        try await settle(phone)
        #expect(try phone.contents().count == 2)
        #expect(phone.sync.state.troubles.contains { $0.contains(files[1]) })
        try await place.delete(files[1], in: folder)
        try await settle(phone)
        #expect(try phone.contents().count == 2)
        // When it is whole, its contents are applied.
        _ = try await place.create(files[1], in: folder, whole)
        phone.clock.advance(seconds: 7_200)
        try await settle(phone)
        #expect(try phone.contents() == kitchen.contents())
        #expect(phone.sync.state.troubles.isEmpty)
    }

    @Test("Duplicates after the first sync of two devices with default data") func defaultDataAreOne() async throws {
        let devices = try (0..<3).map { try device("D\($0)") }
        for device in devices {
            try device.save { _ in
                for unit in ["kg", "l"] {
                    let unit = device.new("Unit", ["name": unit, "size": 1])
                    _ = device.new("Item", ["name": "of \(device.name)", "unit": unit])
                }
            }
        }
        try await settle(devices[0], devices[1], devices[2])
        for device in devices {
            let contents = try device.contents()
            #expect(contents == (try devices[0].contents()))
            #expect(contents.values.count { $0.hasPrefix("Unit") } == 2)
            #expect(contents.values.count { $0.hasPrefix("Item") } == 6)
            #expect(contents.values.allSatisfy { !$0.contains("unit=nil") })
        }
    }

    @Test("An edit silently lost to another field, or another device's clock") func noEditIsLostSilently() async throws
    {
        let (kitchen, phone) = (try device("Kitchen"), try device("Phone"))
        // The phone's clock is an hour behind.
        kitchen.clock.advance(seconds: 3_600)
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk", "note": "old"]) }
        try await settle(kitchen, phone)
        // It has seen the kitchen's value, so its edit is later.
        try phone.set("Item", "Milk", ["note": "phone"])
        try await settle(phone, kitchen)
        #expect(try kitchen.text("Item", "Milk", "note") == "phone")
        // Two fields, at the same time.
        try phone.set("Item", "Milk", ["best": 2.0])
        try kitchen.set("Item", "Milk", ["photo": Data([1])])
        // One field, at the same time: what loses is kept.
        try phone.set("Item", "Milk", ["note": "lost?"])
        try kitchen.set("Item", "Milk", ["note": "kept"])
        try await settle(phone, kitchen)
        #expect(try phone.contents() == kitchen.contents())
        #expect(try kitchen.text("Item", "Milk", "best") == "2.0")
        #expect(try phone.text("Item", "Milk", "photo") != nil)
        let note = try #require(try kitchen.text("Item", "Milk", "note"))
        for device in [kitchen, phone] {
            let lost = try await device.sync.conflicts().map(\.losing)
            #expect(lost == [note == "kept" ? "lost?" : "kept"], "\(device.name)")
            #expect(device.sync.state.conflicts == 1)
        }
    }

    @Test("No unique constraints, no required relationships, no ordered ones, no Deny")
    func constraintsHoldOnAllDevices() async throws {
        let (kitchen, phone) = (
            try device("Kitchen", model: ModelMaking.office()), try device("Phone", model: ModelMaking.office())
        )
        try kitchen.save { _ in
            let folder = kitchen.new("Folder", ["name": "Home"])
            let topics = ["z", "a", "m"].map { kitchen.new("Topic", ["name": $0]) }
            let note = kitchen.new("Note", ["name": "Roof", "folder": folder])
            note.setValue(NSOrderedSet(array: topics), forKey: "topics")
            _ = kitchen.new("Member", ["name": "Ada", "team": kitchen.new("Team", ["name": "Red"])])
        }
        try await settle(kitchen, phone)
        #expect(try phone.names("Note", "Roof", "topics") == ["z", "a", "m"])
        #expect(try phone.text("Note", "Roof", "folder.name") == "Home")
        #expect(throws: CocoaError.self) {
            try phone.save { _ in try phone.delete("Team", "Red") }
        }
        #expect(throws: CocoaError.self) {
            phone.rollBack()
            try phone.save { _ in _ = phone.new("Note", ["name": "without a folder"]) }
        }
        phone.rollBack()
        #expect(try phone.contents() == kitchen.contents())
    }

    @Test("An app must add attributes or a base class") func aModelNeedsNothingForIt() async throws {
        let folder = try TemporaryFolder()
        let entity = ModelMaking.entity("Thing", ModelMaking.attribute("name"))
        entity.userInfo = nil
        let model = ModelMaking.model(entity)
        let kitchen = try SyncingDevice("Kitchen", place, model: model, url: folder("kitchen.sqlite"))
        let phone = try device("Phone", model: model)
        try kitchen.save { _ in _ = kitchen.new("Thing", ["name": "a"]) }
        try await settle(kitchen, phone)
        #expect(try phone.text("Thing", "a", "name") == "a")
        // The store has the app's model, and nothing of the sidecar.
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: folder("kitchen.sqlite"))
        #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.keys.sorted() == ["Thing"])
        #expect(try folder.names().contains("kitchen.sqlite-sync"))
    }

    @Test("A device that was away for months blocks cleaning up, or loses its data")
    func aDeviceThatWasAwayNeitherBlocksNorLoses() async throws {
        let (kitchen, phone) = (try device("Kitchen"), try device("Phone"))
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "a"]) }
        try await settle(kitchen, phone)
        try phone.save { _ in _ = phone.new("Item", ["name": "p"]) }
        kitchen.clock.advance(seconds: 90 * 86_400)
        for number in 0..<8 {
            try kitchen.set("Item", "a", ["note": String(repeating: "\(number)", count: 15_000)])
            try await kitchen.exchange()
        }
        let folder = kitchen.folder
        #expect(try await place.list(folder).count { $0.hasPrefix("segment") } < 9)
        phone.clock.advance(seconds: 90 * 86_400)
        try await settle(phone, kitchen)
        #expect(try phone.contents() == kitchen.contents())
        #expect(try kitchen.contents().count == 2)
    }

    @Test("A newer app's data breaks older apps") func anOlderAppGoesOn() async throws {
        let newer = try device("Newer", model: ModelVersionStoryTests.new())
        let older = try device("Older", model: ModelVersionStoryTests.old())
        try newer.save { _ in
            _ = newer.new("Item", ["name": "a", "colour": "red", "shop": newer.new("Shop", ["name": "Corner"])])
        }
        try await settle(newer, older)
        #expect(try older.text("Item", "a", "name") == "a")
        try older.set("Item", "a", ["note": "x"])
        try await settle(older, newer)
        #expect(try newer.text("Item", "a", "note") == "x")
        #expect(try newer.text("Item", "a", "colour") == "red")
        #expect(older.sync.state.troubles.isEmpty)
    }

    @Test("Cannot be tested without two devices and an account") func manyDevicesRunInOneProcess() async throws {
        var numbers = SeededNumbers(seed: 7)
        let devices = try (0..<3).map { try device("D\($0)") }
        for _ in 0..<12 {
            let device = numbers.pick(devices)
            let (kind, number) = (numbers.below(4), numbers.below(3))
            try device.save { context in
                let unit = try device.object("Unit", "\(number)") ?? device.new("Unit", ["name": "\(number)"])
                if kind == 0, !unit.isInserted { return context.delete(unit) }
                unit.setValue(Double(kind), forKey: "size")
                _ = device.new("Item", ["name": "\(kind)", "unit": unit])
            }
            try await numbers.pick(devices).exchange()
        }
        try await settle(devices[0], devices[1], devices[2])
        for device in devices { #expect(try device.contents() == devices[0].contents(), "\(device.name)") }
    }
}
