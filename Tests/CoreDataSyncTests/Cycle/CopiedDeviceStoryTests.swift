import CoreData
import CoreDataSync
import CoreDataSyncSimulation
import Foundation
import Testing

/// Store and sidecar that were copied to a second machine, or restored together: two devices have one ID, or one has an
/// ID of its past.
@Suite struct CopiedDeviceStoryTests {
    private let folder: TemporaryFolder
    private let memory = MemoryPlace()
    private let place: FaultyPlace
    private let kitchen: SyncingDevice
    private let phone: SyncingDevice

    init() throws {
        folder = try TemporaryFolder()
        place = FaultyPlace(memory, seed: 1)
        let model = ModelMaking.warehouse()
        for name in ["kitchen", "copy"] {
            try FileManager.default.createDirectory(at: folder(name), withIntermediateDirectories: false)
        }
        kitchen = try SyncingDevice("Kitchen", place, model: model, url: folder("kitchen/Shop.sqlite"))
        phone = try SyncingDevice("Phone", memory, model: model)
    }

    private func start() async throws {
        try kitchen.save { _ in _ = kitchen.new("Counter", ["name": "a", "count": 10]) }
        try await settle(kitchen, phone)
        // So that the device has added something under its ID.
        try kitchen.set("Counter", "a", ["count": 11])
        try await settle(kitchen, phone)
    }

    private func expect(_ count: Int, _ devices: SyncingDevice...) throws {
        for device in devices {
            #expect(try device.text("Counter", "a", "count") == "\(count)", "\(device.name)")
            #expect(try device.contents() == phone.contents())
        }
    }

    /// - Parameter isOnline: whether the place can be reached at the first exchange after the restore.
    @Test(arguments: [true, false]) func anOlderStateAddsWhatItAddsAnew(isOnline: Bool) async throws {
        try await start()
        let backup = try kitchen.backUp(withSidecar: true)
        try kitchen.set("Counter", "a", ["count": 13])
        try await settle(kitchen, phone)
        try kitchen.putBack(backup)
        #expect(try kitchen.text("Counter", "a", "count") == "11")
        for count in [12, 15] {
            try kitchen.set("Counter", "a", ["count": count])
            guard !isOnline else { continue }
            place.faults.failures = 1
            await #expect(throws: SyncPlaceError.self) { try await kitchen.exchange() }
        }
        place.heal()
        try await settle(kitchen, phone)
        try expect(17, kitchen, phone)
        try kitchen.set("Counter", "a", ["count": 18])
        try await settle(kitchen, phone)
        try expect(18, kitchen, phone)
    }

    /// Before the backup this device had received something and sent nothing.
    @Test func aStateOfBeforeTheFirstSegmentKeepsEditsOfDeletedObjects() async throws {
        try phone.save { _ in _ = phone.new("Order", ["name": "a"]) }
        try await settle(kitchen, phone)
        let backup = try kitchen.backUp(withSidecar: true)
        try kitchen.save { _ in try kitchen.delete("Order", "a") }
        try await settle(kitchen, phone)
        #expect(try phone.names("Order").isEmpty)
        try kitchen.putBack(backup)
        try kitchen.set("Order", "a", ["name": "b"])
        try await settle(kitchen, phone)
        #expect(try kitchen.contents() == phone.contents())
        #expect(try kitchen.names("Order").isEmpty)
        let conflicts = try await kitchen.sync.conflicts()
        #expect(conflicts.map(\.property) == ["name"] && conflicts.map(\.losing) == ["b"])
    }

    @Test(arguments: [true, false]) func aCopyAndItsOriginalBothAdd(copyIsFirst: Bool) async throws {
        try await start()
        let backup = try kitchen.backUp(withSidecar: true)
        let copy = try SyncingDevice("Copy", place, model: kitchen.model, url: folder("copy/Shop.sqlite"))
        try copy.putBack(backup)
        place.faults.failures = 1
        for (device, count) in [(kitchen, 13), (copy, 16)] {
            try device.set("Counter", "a", ["count": count])
            try device.save { _ in
                _ = device.new("Box", ["name": device.name, "text": String(repeating: "x", count: 20_000)])
            }
            await #expect(throws: SyncPlaceError.self) { try await device.exchange() }
        }
        place.heal()
        let both = copyIsFirst ? [copy, kitchen] : [kitchen, copy]
        for device in both { try await device.exchange() }
        try await settle(kitchen, copy, phone)
        try expect(18, kitchen, copy, phone)
        #expect(try phone.names("Box") == ["Copy", "Kitchen"])
        for name in ["Copy", "Kitchen"] { #expect(try phone.text("Box", name, "text")?.count == 20_000) }
        #expect(try await phone.sync.devices().count == 3)
    }

    /// The copy has sent what waited, and something of its own.
    @Test func whatWaitsIsSentUnderTheNewID() async throws {
        try await start()
        place.isFull = true
        try kitchen.save { _ in _ = kitchen.new("Box", ["name": "before"]) }
        await #expect(throws: SyncPlaceError.self) { try await kitchen.exchange() }
        let backup = try kitchen.backUp(withSidecar: true)
        let copy = try SyncingDevice("Copy", memory, model: kitchen.model, url: folder("copy/Shop.sqlite"))
        try copy.putBack(backup)
        try kitchen.save { _ in _ = kitchen.new("Box", ["name": "kitchen"]) }
        await #expect(throws: SyncPlaceError.self) { try await kitchen.exchange() }
        for name in ["copy", "copy too"] {
            try copy.save { _ in _ = copy.new("Box", ["name": name]) }
            try await copy.exchange()
        }
        place.heal()
        try kitchen.restart()
        try await settle(kitchen, copy, phone)
        #expect(try phone.names("Box") == ["before", "copy", "copy too", "kitchen"])
        try expect(11, kitchen, copy, phone)
    }

    /// What was saved before the backup was captured and sent after it.
    @Test(arguments: ["edited", "deleted", "left"]) func whatWasNotCapturedYetIsNotThereTwice(
        _ fate: String
    ) async throws {
        try await start()
        try kitchen.save { _ in _ = kitchen.new("Counter", ["name": "b", "count": 5]) }
        try kitchen.save { _ in
            for name in ["c", "d"] { _ = kitchen.new("Box", ["name": name, "text": "at first"]) }
        }
        let backup = try kitchen.backUp(withSidecar: true)
        try await settle(kitchen, phone)
        switch fate {
        case "edited": try kitchen.set("Box", "c", ["text": "edited"])
        case "deleted": try phone.save { _ in try phone.delete("Box", "c") }
        default: break
        }
        try await settle(kitchen, phone)
        try kitchen.putBack(backup)
        try kitchen.save { _ in _ = kitchen.new("Box", ["name": "e"]) }
        try await settle(kitchen, phone)
        try expect(11, kitchen, phone)
        for device in [kitchen, phone] {
            #expect(try device.names("Box") == (fate == "deleted" ? ["d", "e"] : ["c", "d", "e"]), "\(device.name)")
            #expect(try device.names("Counter") == ["a", "b"], "\(device.name)")
            #expect(try device.text("Counter", "b", "count") == "5", "\(device.name)")
            let text = ["edited": "edited", "left": "at first"][fate]
            #expect(try device.text("Box", "c", "text") == text, "\(device.name)")
        }
    }

    /// Copies insert objects with equal keys in transactions of equal numbers.
    @Test func whatCopiesInsertStaysApart() async throws {
        try await start()
        let backup = try kitchen.backUp(withSidecar: true)
        let copy = try SyncingDevice("Copy", place, model: kitchen.model, url: folder("copy/Shop.sqlite"))
        try copy.putBack(backup)
        for device in [kitchen, copy] { try device.save { _ in _ = device.new("Box", ["name": device.name]) } }
        try await settle(kitchen, copy, phone)
        for device in [kitchen, copy, phone] {
            #expect(try device.names("Box") == ["Copy", "Kitchen"], "\(device.name)")
        }
    }
}
