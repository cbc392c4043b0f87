import CoreData
import CoreDataSync
import Foundation
import Measuring

/// Many devices that each change ten of the same objects: all converge, and the cost of a device grows with the edits that it receives.
struct DevicesMeasurement: Measurement {
    let settings: Settings
    private static let edits = 10
    private static let objects = 100

    func measure() async throws -> [Line] {
        var lines: [Line] = []
        for count in settings.devices { lines.append(try await line(count)) }
        return lines
    }

    func profile() async throws { _ = try await line(settings.devices[0]) }

    private func line(_ count: Int) async throws -> Line {
        try await settings.inFolder { folder in
            let place = MemoryPlace()
            let origin = try Groceries(folder, "0")
            try origin.insertAisles()
            try origin.insertItems(Self.objects)
            _ = try await origin.exchange(place)
            try origin.close()
            // Each joins before one has edited.
            for number in 1..<count { _ = try await turn(folder, number, place) { _ in } }
            for number in 0..<count { _ = try await turn(folder, number, place) { try edit($0, number) } }
            // Only the last device knows all edits yet.
            var seconds = 0.0
            var digests: Set<String> = []
            for number in 0..<count {
                seconds += try await turn(folder, number, place) { _ in }
                digests.insert(try contents(folder, number))
            }
            guard digests.count == 1 else {
                throw MeasuringFailure("devices: \(count) devices have \(digests.count) different stores.")
            }
            let received = Self.edits * (count - 1)
            let each = seconds / Double(count)
            return Line(
                "a device's last exchange", count, String(format: "%.1f ms", each * 1e3),
                note: String(
                    format: "all equal; %.1f µs for each of %d edits, %.1f µs for each device",
                    each * 1e6 / Double(received),
                    received, each * 1e6 / Double(count)))
        }
    }

    /// Processor time of an exchange of one device, after it did some work.
    private func turn(
        _ folder: URL, _ number: Int, _ place: MemoryPlace, _ work: (Groceries) throws -> Void
    ) async throws -> Double {
        let store = try Groceries(folder, "\(number)")
        try work(store)
        let times = try await store.exchange(place)
        try store.close()
        return times.total
    }

    private func edit(_ store: Groceries, _ number: Int) throws {
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "added", ascending: true)]
            let items = try context.fetch(request)
            guard items.count == Self.objects else { throw MeasuringFailure("devices: \(items.count) items arrived.") }
            for index in 0..<Self.edits {
                let item = items[(number * 7 + index * 11) % items.count]
                if index % 2 == 0 { item.name = "Item of device \(number)" } else { item.quantity = Double(number) }
            }
            try context.save()
        }
    }

    private func contents(_ folder: URL, _ number: Int) throws -> String {
        let store = try Groceries(folder, "\(number)")
        defer { try? store.close() }
        let context = store.container.newBackgroundContext()
        return try context.performAndWait {
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "added", ascending: true)]
            return try context.fetch(request).map { "\($0.name) \($0.quantity) \($0.priority) \($0.aisle?.name ?? "")" }
                .joined(separator: "\n")
        }
    }
}
