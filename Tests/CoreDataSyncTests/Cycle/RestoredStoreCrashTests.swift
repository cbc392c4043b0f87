import CoreData
import CoreDataSyncSimulation
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreDataSync

/// A process may be killed at any step while it brings a restored store up to date.
@Suite struct RestoredStoreCrashTests {
    private struct Killed: Error {}

    /// Kills at a step, and everything after it until the process starts again.
    private final class Killer: Sendable {
        /// The number of steps that are left; `nil` while the process lives on.
        private let left = Mutex<Int?>(nil)
        private let count = Mutex(0)

        func arm(_ steps: Int) { left.withLock { $0 = steps } }
        func disarm() { left.withLock { $0 = nil } }
        var steps: Int { count.withLock { $0 } }

        func step() throws {
            count.withLock { $0 += 1 }
            try left.withLock { left in
                guard let steps = left else { return }
                if steps == 0 { throw Killed() }
                left = steps - 1
            }
        }
    }

    /// - Parameter step: the step before which the process dies; `nil` for none.
    /// - Returns: the number of steps of the exchange.
    private func run(killedAt step: Int?) async throws -> Int {
        let (folder, memory, killer) = (try TemporaryFolder(), MemoryPlace(), Killer())
        let place = FaultyPlace(memory, seed: 1)
        let kitchen = try SyncingDevice("Kitchen", place, url: folder("Shop.sqlite")) {
            $0.checkpoint = { _ in try killer.step() }
        }
        let phone = try SyncingDevice("Phone", memory)
        try kitchen.save { _ in
            for name in ["a", "b", "gone", "gone too"] { _ = kitchen.new("Item", ["name": name, "count": 10]) }
            _ = kitchen.new("Unit", ["name": "kg", "size": 1])
        }
        try await settle(kitchen, phone)
        let backup = try kitchen.backUp()
        try phone.save { _ in try phone.delete("Item", "gone") }
        try phone.set("Unit", "kg", ["size": 2])
        try kitchen.set("Item", "a", ["count": 13])
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "sent", "count": 1]) }
        try await settle(kitchen, phone)
        place.isFull = true
        try kitchen.save { _ in
            _ = kitchen.new("Item", ["name": "unsent", "photo": Data(repeating: 1, count: 20_000)])
            try kitchen.object("Item", "b")?.setValue(12, forKey: "count")
            try kitchen.delete("Item", "gone too")
        }
        await #expect(throws: SyncPlaceError.self) { try await kitchen.exchange() }
        place.heal()
        try kitchen.putBack(backup)
        try kitchen.set("Item", "b", ["note": "after"])
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "new"]) }

        let before = killer.steps
        if let step { killer.arm(step) }
        let sidecar = kitchen.sync.store.sidecar
        (sidecar.willCommit, sidecar.didCommit) = ({ try killer.step() }, { try killer.step() })
        let isKilled: Bool
        do {
            try await kitchen.exchange()
            isKilled = false
        } catch { isKilled = true }
        #expect(isKilled == (step != nil))
        let count = killer.steps - before
        killer.disarm()
        try kitchen.restart()
        try await settle(kitchen, phone)
        let number = step ?? -1
        #expect(try phone.names("Item") == ["a", "b", "new", "sent", "unsent"], "step \(number)")
        #expect(try kitchen.contents() == phone.contents(), "step \(number)")
        for (name, key, value) in [("a", "count", "13"), ("b", "count", "12"), ("b", "note", "after")] {
            #expect(try kitchen.text("Item", name, key) == value, "step \(number): \(key) of \(name)")
        }
        #expect(try kitchen.text("Unit", "kg", "size") == "2.0", "step \(number)")
        #expect(Restoration(kitchen.sync.store.sidecar.settings) == nil, "step \(number)")
        return count
    }

    /// Each part has every twelfth step; the short form takes one part.
    @Test(arguments: Trials.some(of: Trials.some(of: Array(0..<12))))
    func itEndsTheSameWhereverTheProcessDies(_ part: Int) async throws {
        let count = try await run(killedAt: nil)
        #expect(count > 20)
        for step in stride(from: part, to: count, by: 12) { _ = try await run(killedAt: step) }
    }
}
