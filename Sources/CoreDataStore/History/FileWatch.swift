import CoreDataSQL
import Foundation
import Synchronization

/// Notifies of commits to a database file by any connection of this process or another.
///
/// ```
/// inotify: the file or its log was written ──▶ the database's counter of commits differs ──▶ changed()
///                                          └─▶ checked again a few times, with increasing delays
/// ```
/// The kernel wakes it, so nothing is polled. If the user has no descriptors or watches left, or the folder cannot be
/// read, it polls the counter four times per second until the kernel can watch again. A write to the log takes effect
/// only when the log's index in shared memory is updated, which the kernel does not report. So each write is followed
/// by a few more checks. Commits during a notification are reported together. It has its own connection, which is
/// closed when it is cancelled or released.
package final class FileWatch: SourceWatch, @unchecked Sendable {
    // Safe because only the queue uses the mutable state, and everything else is thread-safe.

    private let queue = DispatchQueue(label: "com.apple.CoreData.remote-changes", qos: .utility)
    private let events: FileEvents
    private var listener = 0
    private let path: String
    /// The numbers of the watches on the file, its log and its folder.
    private var watches: [String: Int32] = [:]
    /// Whether commits may happen that the kernel does not report.
    private var isBlind = false
    private let counter: any SQLCommitCounter
    private var lastCount: Int64
    private let changed: @Sendable () -> Void
    /// Identifies the last write.
    private var writes = 0
    /// The delays of the checks after a write, until the log was synchronised to disk and committed; a slow or busy
    /// disk takes long.
    package static let delays: [DispatchTimeInterval] = [1, 10, 50, 250, 1000, 4000, 16_000, 64_000].map {
        .milliseconds($0)
    }
    private let delays: [DispatchTimeInterval]
    /// The polling interval if the kernel does not report events.
    private static let pollingInterval = DispatchTimeInterval.milliseconds(250)
    private let isCancelled = Atomic<Bool>(false)

    /// Begins to watch. `changed` is called on a private queue until the watch is cancelled.
    ///
    /// - Parameter delays: the delays of the checks after a write.
    /// - Throws: if the database cannot be read.
    package init(
        path: String, counter: any SQLCommitCounter, events: FileEvents = .shared,
        delays: [DispatchTimeInterval] = FileWatch.delays, changed: @escaping @Sendable () -> Void
    ) throws {
        self.delays = delays
        self.path = path
        self.counter = counter
        self.events = events
        self.changed = changed
        do { lastCount = try counter.value() } catch {
            counter.close()
            throw error
        }
        listener = events.addListener { [weak self] batch in self?.queue.async { [weak self] in self?.look(batch) } }
        watch()
        // Check for commits while the watches were being set.
        queue.async { [weak self] in self?.look(FileEvents.Batch()) }
    }

    deinit { cancel() }

    /// Cancels the watch and closes the connection: another program that deletes the file must not find it open.
    package func cancel() {
        guard !isCancelled.exchange(true, ordering: .relaxed) else { return }
        events.removeListener(listener)
        counter.close()
    }

    /// Watches the file and its log, and the folder for the creation of the log.
    private func watch() {
        isBlind = false
        watchFiles()
        let folder = folder
        if !hasAllFiles, watches[folder] == nil {
            watch(folder, .folder)
            // Check for files that were created meanwhile, which the folder's watch does not report.
            watchFiles()
        }
        if hasAllFiles, let number = watches.removeValue(forKey: folder) {
            events.stopListening(listener, to: number)
        }
    }

    private var hasAllFiles: Bool { watches[path] != nil && watches[path + "-wal"] != nil }

    private func watchFiles() {
        for suffix in ["", "-wal"] where watches[path + suffix] == nil { watch(path + suffix, .file) }
    }

    private var folder: String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    private func watch(_ path: String, _ kind: FileEvents.Kind) {
        switch events.listen(listener, to: path, kind) {
        case .listens(let number): watches[path] = number
        case .notThere: break
        case .refused: isBlind = true
        }
    }

    private func look(_ batch: FileEvents.Batch) {
        guard !isCancelled.load(ordering: .relaxed) else { return }
        for (path, number) in watches where batch.lostSome || batch.replaced.contains(number) {
            // Another file may have its name by now.
            watches[path] = nil
            events.stopListening(listener, to: number)
        }
        if isBlind || watches[path] == nil || watches[path + "-wal"] == nil { watch() }
        count()
        writes &+= 1
        checkAgain(after: writes, 0)
    }

    /// Checks again after a write, unless another one follows.
    private func checkAgain(after write: Int, _ times: Int) {
        guard isBlind || times < delays.count else { return }
        let delay = isBlind ? Self.pollingInterval : delays[times]
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in
            guard let self, write == writes, !isCancelled.load(ordering: .relaxed) else { return }
            let wasBlind = isBlind
            if wasBlind { watch() }
            count()
            checkAgain(after: write, wasBlind ? 0 : times + 1)
        }
    }

    /// Notifies of commits since the last check.
    private func count() {
        // Ignore a counter that cannot be read; it is checked again.
        guard let count = try? counter.value(), count != lastCount else { return }
        lastCount = count
        changed()
    }
}

/// A subscription to changes, which ends when it is cancelled or released.
package protocol SourceWatch: AnyObject, Sendable {
    func cancel()
}
