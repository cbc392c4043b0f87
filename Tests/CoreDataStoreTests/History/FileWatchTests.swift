import CoreDataSQL
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreDataStore

/// Nobody's commit goes by unnoticed: what a store's watch hears of, whatever the kernel has left to give.
@Suite(.timeLimit(.minutes(Sanitizer.minutes(1)))) struct FileWatchTests {
    /// Counts what a test says was committed.
    private final class Commits: SQLCommitCounter {
        let count = Atomic<Int64>(0)

        func value() -> Int64 { count.load(ordering: .sequentiallyConsistent) }
        func add() { count.add(1, ordering: .sequentiallyConsistent) }
        func close() {}
    }

    /// A file with a log, watched.
    private struct Watched {
        let path: String
        let commits = Commits()
        let watch: FileWatch
        private let told: AsyncStream<Void>

        init(_ path: String, events: FileEvents = .shared) throws {
            self.path = path
            for name in [path, path + "-wal"] where !FileManager.default.fileExists(atPath: name) {
                try Data().write(to: URL(fileURLWithPath: name))
            }
            let (told, tell) = AsyncStream<Void>.makeStream()
            self.told = told
            // Without a second look, which would find what nobody told of.
            watch = try FileWatch(path: path, counter: commits, events: events, delays: []) { tell.yield() }
        }

        /// Writes without having the other files' names change, as a database does.
        func commit(to suffix: String = "-wal") throws {
            commits.add()
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path + suffix))
            try file.seekToEnd()
            try file.write(contentsOf: Data([1]))
            try file.close()
        }

        func isTold() async -> Bool { await told.first { _ in true } != nil }
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("watch-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// The descriptors of this process with which the kernel tells of files.
    private func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            return target?.contains("inotify") == true
        }.count
    }

    @Test func manyStoresOfAProcessTakeOneDescriptor() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = try (0..<300).map { try Watched(path("\($0).sqlite")) }
        // The others are of the tests beside this one.
        #expect(try descriptors() < 10)
        for store in stores { try store.commit() }
        for store in stores { #expect(await store.isTold()) }
    }

    @Test func whereTheKernelHasNoDescriptorTheCounterIsAsked() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try Watched(path("A.sqlite"), events: FileEvents { -1 })
        for _ in 0..<3 {
            try store.commit()
            #expect(await store.isTold())
        }
    }

    @Test func onceTheKernelHasOneItTells() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let asked = Mutex(0)
        let events = FileEvents {
            let times = asked.withLock { times in
                times += 1
                return times
            }
            return times < 3 ? -1 : inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        }
        let store = try Watched(path("A.sqlite"), events: events)
        for _ in 0..<5 {
            try store.commit()
            #expect(await store.isTold())
        }
        try await Polling.suspend(until: "a descriptor is asked for a third time") { asked.withLock { $0 } >= 3 }
        try store.commit()
        #expect(await store.isTold())
        #expect(asked.withLock { $0 } == 3)
    }

    @Test func oneFileIsWatchedByManyAndStillWhenOneOfThemEnds() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (first, second) = (try Watched(path("A.sqlite")), try Watched(path("A.sqlite")))
        let third = try Watched(path("B.sqlite"))
        for store in [first, second] { store.commits.add() }
        try third.commit()
        #expect(await third.isTold())
        first.watch.cancel()
        try second.commit()
        #expect(await second.isTold())
        try second.commit()
        #expect(await second.isTold())
    }

    @Test(arguments: [true, false]) func aLogThatIsMadeAnewIsWatched(isHeld: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try Watched(path("A.sqlite"))
        // Who has it open keeps the old one alive: the kernel does not say that it is gone, only that it has no name.
        let held = isHeld ? try FileHandle(forReadingFrom: URL(fileURLWithPath: store.path + "-wal")) : nil
        // The new one may come at any moment of the search for it.
        for _ in 0..<500 {
            try FileManager.default.removeItem(atPath: store.path + "-wal")
            try Data().write(to: URL(fileURLWithPath: store.path + "-wal"))
            try store.commit()
            #expect(await store.isTold())
        }
        try held?.close()
    }

    @Test func aFileThatComesInTheOthersPlaceIsWatched() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try Watched(path("A.sqlite"))
        let other = path("B.sqlite")
        try Data([1]).write(to: URL(fileURLWithPath: other))
        #expect(rename(other, store.path) == 0)
        try store.commit(to: "")
        #expect(await store.isTold())
        try store.commit(to: "")
        #expect(await store.isTold())
    }
}
