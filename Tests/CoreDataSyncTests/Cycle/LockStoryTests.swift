import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataSync

/// One process, and one `Sync` in it, synchronises a store at a time.
@Suite struct LockStoryTests {
    private let folder: TemporaryFolder
    private let place: FolderPlace

    init() throws {
        folder = try TemporaryFolder()
        place = FolderPlace(folder("place"))
    }

    private func device(_ name: String, _ file: String = "Shop.sqlite") throws -> SyncingDevice {
        try SyncingDevice(name, place, url: folder(file))
    }

    private func lockingError(_ body: () async throws -> Void) async throws -> CocoaError {
        try #require(await #expect(throws: CocoaError.self) { try await body() })
    }

    @Test func aSecondSyncOfTheProcessIsRefusedWhileTheFirstIsStarted() async throws {
        let (first, second) = (try device("First"), try device("Second"))
        try await first.sync.start()
        let error = try await lockingError { _ = try await second.sync.syncNow() }
        #expect(error.code == .fileLocking)
        #expect(error.localizedDescription.contains("another Sync of this process"), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("Shop.sqlite"))
        guard case .failed(let failure as CocoaError, _) = second.sync.state.activity else {
            Issue.record("\(second.sync.state)")
            return
        }
        #expect(failure.code == .fileLocking)
        #expect(try await lockingError { try await second.sync.start() }.code == .fileLocking)
        #expect(try await lockingError { try await second.sync.dismiss([]) }.code == .fileLocking)
        // Reading goes on.
        #expect(try await second.sync.conflicts().isEmpty)
        #expect(try await second.sync.devices().map(\.name) == ["First"])
        await first.sync.stop()
        try await second.exchange()
        try await first.exchange()
        #expect(try folder.names().filter { $0.hasSuffix("-lock") } == [])
    }

    @Test func twoSyncsOfAStoreInMemoryExcludeEachOther() async throws {
        let first = try SyncingDevice("First", place)
        let second = try Sync(first.container, to: place, device: "Second")
        try await first.sync.start()
        #expect(try await lockingError { _ = try await second.syncNow() }.code == .fileLocking)
        await first.sync.stop()
        try await second.syncNow()
    }

    /// Each of them reads what the other one has written to the sidecar since.
    @Test func twoSyncsThatTakeTurnsAreOneDevice() async throws {
        let other = try SyncingDevice("Other", place)
        let (first, second) = (try device("First"), try device("Second"))
        for number in 0..<3 {
            for device in [first, second] {
                try device.save { _ in _ = device.new("Item", ["name": "\(device.name) \(number)"]) }
                try await device.exchange()
            }
            try other.save { _ in _ = other.new("Item", ["name": "other \(number)"]) }
            try await other.exchange()
        }
        try await settle(first, second, other)
        #expect(try other.contents().count == 9)
        #expect(try other.contents() == first.contents())
        #expect(try await other.sync.devices().count == 2)
        #expect(other.sync.state.troubles == [])
    }

    @Test func anotherProcessHoldsTheLockUntilItIsKilled() async throws {
        let here = try device("Here")
        try here.save { _ in _ = here.new("Item", ["name": "Milk"]) }
        let worker = try SyncWorker(store: folder("Shop.sqlite"), place: folder("place"))
        defer { worker.kill() }
        try worker.waitUntilStarted()
        let error = try await lockingError { _ = try await here.sync.syncNow() }
        #expect(error.code == .fileLocking)
        #expect(
            error.localizedDescription.contains("process \(worker.processIdentifier) (ToolkitWorker)"),
            "\(error.localizedDescription)")
        let before = try await here.sync.devices()
        #expect(before.map(\.name) == ["Worker"])
        worker.kill()
        try await here.exchange()
        // The killed process was the device before; it has another name now.
        let after = try await here.sync.devices()
        #expect(after.map(\.id) == before.map(\.id))
        #expect(after.map(\.name) == ["Here"])
        let other = try SyncingDevice("Other", place)
        try await other.exchange()
        #expect(try other.contents().count == 1)
    }
}

/// The lock by itself.
@Suite struct SyncLockTests {
    private let folder: TemporaryFolder
    private let store: URL

    init() throws {
        folder = try TemporaryFolder()
        store = folder("Shop.sqlite")
    }

    private func lock(sidecar: URL? = nil) -> SyncLock { SyncLock(store: store, sidecar: sidecar, identifier: "id") }

    private func isFree(_ lock: SyncLock) -> Bool {
        do { try lock.hold { false } } catch { return false }
        lock.release {}
        return true
    }

    @Test func holdsAreCounted() throws {
        let (lock, other) = (lock(), lock())
        try lock.hold { true }
        try lock.hold { true }
        #expect(lock.changes == 1 && !isFree(other))
        lock.release {}
        #expect(lock.isHeld && !isFree(other))
        lock.release {}
        #expect(!lock.isHeld && isFree(other))
    }

    @Test func aSidecarElsewhereIsLockedToo() throws {
        let (lock, other) = (
            lock(sidecar: folder("a-sync")),
            SyncLock(
                store: nil, sidecar: folder("a-sync"), identifier: "other")
        )
        try lock.hold { false }
        #expect(!isFree(other) && !isFree(self.lock()))
        lock.release {}
        #expect(isFree(other) && isFree(self.lock()))
    }

    @Test func aStoreIsLockedThroughALink() throws {
        try folder.write("Shop.sqlite")
        try FileManager.default.createSymbolicLink(at: folder("Link.sqlite"), withDestinationURL: store)
        let lock = lock()
        try lock.hold { false }
        #expect(!isFree(SyncLock(store: folder("Link.sqlite"), sidecar: nil, identifier: "id")))
    }

    @Test func aLockIsFreeAfterAnErrorAndWithoutItsOwner() throws {
        struct Thrown: Error {}
        let lock = lock()
        #expect(throws: Thrown.self) { try lock.hold { throw Thrown() } }
        #expect(!lock.isHeld && isFree(self.lock()))
        do {
            let owner = self.lock()
            try owner.hold { false }
        }
        #expect(isFree(lock))
    }

    @Test func whatAKilledProcessLeftIsNoLock() throws {
        try folder.write("Shop.sqlite-sync-lock", #"{"process": 1, "program": "old", "host": "old"}"#)
        #expect(isFree(lock()))
        #expect(try folder.names() == [])
    }

    @Test func aLockThatCannotBeMadeSaysWhy() throws {
        try FileManager.default.createDirectory(
            at: folder("Shop.sqlite-sync-lock"), withIntermediateDirectories: false)
        let error = try #require(#expect(throws: CocoaError.self) { try lock().hold { false } })
        #expect(error.localizedDescription.contains("Shop.sqlite-sync-lock"))
        #expect(error.code != .fileLocking)
    }
}
