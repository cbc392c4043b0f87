import CoreDataSyncEngine
import Foundation
import Testing

@testable import CoreDataSync

/// The journal keeps the newest conflicts.
@Suite struct JournalBoundTests {
    private func conflict(_ date: UInt64) -> SidecarConflict {
        let side = SidecarConflict.Side(stamp: Stamp(ticks: date, device: DeviceID(UUID())), value: .null)
        return SidecarConflict(
            serial: UUID(), object: GlobalID(UUID()), entityName: "Item", property: "name", losing: side, winning: side,
            date: date, reason: "edited")
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let dates: [UInt64]
        let limit: Int
        let since: UInt64
        let left: [UInt64]
        var testDescription: String { "\(dates.count) conflicts, limit \(limit), since \(since)" }
    }

    @Test(arguments: [
        Row(dates: Array(1...10), limit: 20, since: 0, left: Array(1...10)),
        Row(dates: Array(1...10), limit: 4, since: 0, left: Array(7...10)),
        Row(dates: Array(1...10), limit: 20, since: 8, left: Array(8...10)),
        Row(dates: Array(1...10), limit: 2, since: 5, left: Array(9...10)),
        Row(dates: Array(1...10), limit: 20, since: 11, left: []),
        Row(dates: Array(1...10), limit: 0, since: 0, left: []),
        Row(dates: Array(1...10), limit: -1, since: 0, left: []),
        Row(dates: [5, 5, 5, 5], limit: 3, since: 0, left: [5, 5, 5]),
        Row(dates: Array(1...4_100), limit: 3, since: 0, left: Array(4_098...4_100)),
    ])
    func theOldestLeaveFirst(_ row: Row) throws {
        let sidecar = try Sidecar.inMemory()
        var change = SidecarChange()
        change.conflicts = row.dates.map(conflict)
        try sidecar.write(change)
        let count = try sidecar.removeConflicts(keeping: row.limit, since: row.since)
        #expect(count == row.dates.count - row.left.count)
        #expect(try sidecar.conflicts().map(\.date) == row.left.reversed())
        #expect(try sidecar.removeConflicts(keeping: row.limit, since: row.since) == 0)
    }

    @Test func eachExchangeBoundsTheJournal() async throws {
        let place = MemoryPlace()
        let kitchen = try SyncingDevice("Kitchen", place) { $0.journalLimit = 3 }
        let phone = try SyncingDevice("Phone", place)
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk"]) }
        try await settle(kitchen, phone)
        for number in 0..<5 {
            for device in [kitchen, phone] { try device.set("Item", "Milk", ["note": "\(device.name) \(number)"]) }
            try await settle(kitchen, phone)
        }
        #expect(try await kitchen.sync.conflicts().count == 3)
        #expect(try await phone.sync.conflicts().count == 5)
        #expect(kitchen.sync.state.conflicts == 3)
        #expect(try await kitchen.sync.conflicts().allSatisfy { ["2", "3", "4"].contains($0.losing.suffix(1)) })
        // 90 days.
        phone.clock.advance(seconds: 91 * 86_400)
        try await phone.exchange()
        #expect(try await phone.sync.conflicts().count == 0)
    }
}
