import CoreData
import CoreDataSync
import Foundation
import TestSupport
import Testing

/// Objects of one store with equal values of `sync.key`, which no uniqueness constraint forbids.
@Suite struct EqualKeyTests {
    private func sizes(_ device: SyncingDevice) throws -> [Double] {
        try device.context.performAndWait {
            device.context.refreshAllObjects()
            return try device.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Unit"))
                .compactMap { $0.value(forKey: "size") as? Double }.sorted()
        }
    }

    @Test(arguments: Trials.seeds(8)) func theSecondOnesOfAllDevicesAreOneObject(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed: seed)
        let fleet = try Fleet(3) { CaptureStack.shop() }
        // Two equal units on each device, as an app's default data may have them.
        for device in fleet.devices {
            try device.save { _ in for _ in 0..<2 { _ = device.new("Unit", ["name": "box", "size": 1]) } }
        }
        try await fleet.deliver(&numbers)
        try await fleet.settle("seed \(seed)")
        for device in fleet.devices { #expect(try sizes(device) == [1, 1], "seed \(seed)") }
        // They stay two objects, which are edited and deleted each by itself.
        let device = numbers.pick(fleet.devices)
        try device.save { context in
            let units = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Unit"))
            units[0].setValue(2, forKey: "size")
        }
        try await fleet.settle("seed \(seed)")
        for device in fleet.devices { #expect(try sizes(device) == [1, 2], "seed \(seed)") }
        try device.save { context in
            let units = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Unit"))
            units.filter { $0.value(forKey: "size") as? Double == 1 }.forEach(context.delete)
        }
        try await fleet.settle("seed \(seed)")
        for device in fleet.devices { #expect(try sizes(device) == [2], "seed \(seed)") }
    }

    @Test func aSidecarThatIsMadeAnewMakesNoFurtherObjects() async throws {
        let folder = try TemporaryFolder()
        let place = MemoryPlace()
        let kitchen = try SyncingDevice("Kitchen", place)
        let phone = try SyncingDevice("Phone", place, url: folder("phone.sqlite"))
        for device in [kitchen, phone] {
            try device.save { _ in for _ in 0..<3 { _ = device.new("Unit", ["name": "box", "size": 1]) } }
        }
        try await settle(kitchen, phone)
        #expect(try sizes(phone) == [1, 1, 1])
        try phone.close()
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(at: folder("phone.sqlite-sync\(suffix)"))
        }
        try phone.open()
        try await settle(phone, kitchen)
        #expect(try sizes(phone) == [1, 1, 1])
        #expect(try phone.contents() == kitchen.contents())
    }
}
