import CoreData
import CoreDataStoreTools
import Foundation
import Synchronization

/// The state of a store's files, which changes with each write of any process.
struct StoreStamp: Sendable, Hashable {
    private var parts: [Part] = []

    private struct Part: Sendable, Hashable {
        var size: Int
        var time: TimeInterval
    }

    /// Reads the state; `nil` for a store on a server, which has no files here.
    init?(of url: URL) {
        guard url.isFileURL else { return nil }
        for suffix in ["", "-wal"] {
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.path + suffix)
            parts.append(
                Part(
                    size: (attributes?[.size] as? NSNumber)?.intValue ?? -1,
                    time: (attributes?[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0))
        }
    }

    /// The state as a short text for addresses.
    var text: String {
        // FNV-1a of the numbers; the text is compared for equality alone.
        var hash = UInt64(0xcbf2_9ce4_8422_2325)
        for part in parts {
            for word in [UInt64(bitPattern: Int64(part.size)), part.time.bitPattern] {
                hash = (hash ^ word) &* 0x100_0000_01b3
            }
        }
        return String(hash, radix: 36)
    }
}

/// The report about a store with the numbers of its objects, made again only after the store changed.
///
/// Counting a large store takes long. While another process writes all the time, at most a twentieth of the time is
/// spent on counting.
final class EntityCounts: Sendable {
    private struct State {
        var report: PersistentStoreReport?
        var stamp: StoreStamp?
        /// Earlier than this the store is not counted again.
        var next = ContinuousClock.now
    }

    private let url: URL
    /// Guards the last report.
    private let state = Mutex(State())

    init(of url: URL) { self.url = url }

    /// Returns the report.
    func report() throws -> PersistentStoreReport {
        let stamp = StoreStamp(of: url)
        let known = state.withLock { state -> PersistentStoreReport? in
            guard let report = state.report else { return nil }
            if let stamp, state.stamp == stamp { return report }
            return ContinuousClock.now < state.next ? report : nil
        }
        if let known { return known }
        let start = ContinuousClock.now
        let report = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: url)
        let duration = ContinuousClock.now - start
        state.withLock { state in
            state.report = report
            state.stamp = stamp
            state.next = .now + max(duration * 20, .milliseconds(200))
        }
        return report
    }
}
