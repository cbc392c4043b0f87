import CoreDataSQL
import Foundation
import Synchronization

/// Tells when somebody commits to a database file: any connection of this process or of another.
///
/// ```
/// inotify: the file or its log was written ──▶ the database's counter of commits differs ──▶ changed()
///                                          └─▶ looked at again a few times, ever later
/// ```
/// The kernel wakes it, nothing is polled, unless the kernel cannot: where a user has no descriptors or watches left, or the
/// folder cannot be read, the counter is asked four times a second until the kernel can. What is written to a log counts only
/// a moment later, when the log's index in shared memory says so, of which the kernel does not tell: so each write is followed
/// by a few more looks. Commits that come while one is being told of are told of together. It has a connection of its own,
/// which goes when it is cancelled or nobody holds it.
package final class FileWatch: SourceWatch, @unchecked Sendable {
    // Safe because what changes is used on the queue only, and the rest guards itself.

    private let queue = DispatchQueue(label: "com.apple.CoreData.remote-changes", qos: .utility)
    private let events: FileEvents
    private var listener = 0
    private let path: String
    /// Of the file, its log and its folder: the numbers of those that are watched.
    private var watches: [String: Int32] = [:]
    /// Whether a commit may come of which the kernel does not tell.
    private var isBlind = false
    private let counter: any SQLCommitCounter
    private var lastCount: Int64
    private let changed: @Sendable () -> Void
    /// Tells the last write from those before.
    private var writes = 0
    /// When, after a write, somebody may have synchronised his log to the disk and committed; a slow or busy disk takes long.
    package static let delays: [DispatchTimeInterval] = [1, 10, 50, 250, 1000, 4000, 16_000, 64_000].map {
        .milliseconds($0)
    }
    private let delays: [DispatchTimeInterval]
    /// How often the counter is asked where the kernel does not tell.
    private static let pollingInterval = DispatchTimeInterval.milliseconds(250)
    private let isCancelled = Atomic<Bool>(false)

    /// `changed` is called on a queue of the watch's own, until it is cancelled.
    ///
    /// - Parameter delays: when it looks again after a write.
    /// - Throws: where the database cannot be read.
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
        listener = events.addListener { [weak self] news in self?.queue.async { [weak self] in self?.look(news) } }
        watch()
        // What was committed while the watches were being set.
        queue.async { [weak self] in self?.look(FileEvents.News()) }
    }

    deinit { cancel() }

    /// The connection is closed then: who takes the file away may not find it open.
    package func cancel() {
        guard !isCancelled.exchange(true, ordering: .relaxed) else { return }
        events.removeListener(listener)
        counter.close()
    }

    /// Watches the file and its log, and for the log where it is not there yet.
    private func watch() {
        isBlind = false
        watchFiles()
        let folder = folder
        if !hasAllFiles, watches[folder] == nil {
            watch(folder, .folder)
            // What appeared meanwhile, of which the folder does not tell.
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

    private func look(_ news: FileEvents.News) {
        guard !isCancelled.load(ordering: .relaxed) else { return }
        for (path, number) in watches where news.lostSome || news.replaced.contains(number) {
            // Another file may have its name by now.
            watches[path] = nil
            events.stopListening(listener, to: number)
        }
        if isBlind || watches[path] == nil || watches[path + "-wal"] == nil { watch() }
        count()
        writes &+= 1
        lookAgain(after: writes, 0)
    }

    /// Looks again after a write, unless another one follows.
    private func lookAgain(after write: Int, _ times: Int) {
        guard isBlind || times < delays.count else { return }
        let delay = isBlind ? Self.pollingInterval : delays[times]
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in
            guard let self, write == writes, !isCancelled.load(ordering: .relaxed) else { return }
            let wasBlind = isBlind
            if wasBlind { watch() }
            count()
            lookAgain(after: write, wasBlind ? 0 : times + 1)
        }
    }

    /// Tells of commits since the last time.
    private func count() {
        // A counter that cannot be read says nothing; it is looked at again.
        guard let count = try? counter.value(), count != lastCount else { return }
        lastCount = count
        changed()
    }
}

/// What tells of changes until it is cancelled, or nobody holds it.
package protocol SourceWatch: AnyObject, Sendable {
    func cancel()
}
