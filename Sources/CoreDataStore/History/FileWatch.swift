import CoreDataSQL
import Foundation
import Synchronization

/// Tells when somebody commits to a database file: any connection of this process or of another.
///
/// ```
/// inotify: the file or its log was written ──▶ the database's counter of commits differs ──▶ changed()
///                                          └─▶ looked at again a few times, ever later
/// ```
/// The kernel wakes it, nothing is polled. What is written to a log counts only a moment later, when the log's index in
/// shared memory says so, of which the kernel does not tell: so each write is followed by a few more looks. Commits that come while one is being told of are told of together. It has a
/// descriptor for inotify and a connection of its own, which go when it is cancelled or nobody holds it.
package final class FileWatch: SourceWatch, @unchecked Sendable {
    // Safe because what changes is used on the queue only, and the source guards itself.

    private let queue = DispatchQueue(label: "com.apple.CoreData.remote-changes", qos: .utility)
    private let source: any DispatchSourceRead
    private let descriptor: Int32
    private let path: String
    private var watches: [String: Int32] = [:]
    private let counter: any SQLCommitCounter
    private var lastCount: Int64
    private let changed: @Sendable () -> Void
    /// Tells the last write from those before.
    private var writes = 0
    /// When, after a write, somebody may have synchronised his log to the disk and committed.
    private static let delays: [DispatchTimeInterval] = [1, 10, 50, 250, 1000, 4000].map { .milliseconds($0) }
    private let isCancelled = Atomic<Bool>(false)

    /// `changed` is called on a queue of the watch's own, until it is cancelled.
    ///
    /// - Throws: where the kernel gives no descriptor, or the database cannot be read.
    package init(path: String, counter: any SQLCommitCounter, changed: @escaping @Sendable () -> Void) throws {
        self.path = path
        self.counter = counter
        self.changed = changed
        lastCount = try counter.value()
        descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        guard descriptor >= 0 else {
            let code = errno
            counter.close()
            throw StoreFailure(
                .cannotOpen,
                "Changes of the store '\(path)' cannot be watched: \(String(cString: strerror(code))) (inotify).")
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        let descriptor = descriptor
        source.setCancelHandler { close(descriptor) }
        source.setEventHandler { [weak self] in self?.look() }
        watch()
        source.activate()
        // What was committed while the watches were being set.
        queue.async { [weak self] in self?.look() }
    }

    deinit { cancel() }

    /// The connection is closed then: who takes the file away may not find it open.
    package func cancel() {
        guard !isCancelled.exchange(true, ordering: .relaxed) else { return }
        source.cancel()
        counter.close()
    }

    /// Watches the file and its log, and for the log where it is not there yet.
    private func watch() {
        let writes = UInt32(IN_MODIFY) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
        for suffix in ["", "-wal"] where watches[path + suffix] == nil {
            let number = inotify_add_watch(descriptor, path + suffix, writes)
            if number >= 0 { watches[path + suffix] = number }
        }
        let folder = (path as NSString).deletingLastPathComponent
        let hasAll = watches[path] != nil && watches[path + "-wal"] != nil
        if hasAll, let number = watches.removeValue(forKey: folder) {
            inotify_rm_watch(descriptor, number)
        } else if !hasAll, watches[folder] == nil {
            let number = inotify_add_watch(
                descriptor, folder.isEmpty ? "." : folder, UInt32(IN_CREATE) | UInt32(IN_MOVED_TO))
            if number >= 0 { watches[folder] = number }
        }
    }

    private func look() {
        guard !isCancelled.load(ordering: .relaxed) else { return }
        if drain() { watch() }
        count()
        writes &+= 1
        lookAgain(after: writes, 0)
    }

    /// Looks again after a write, unless another one follows.
    private func lookAgain(after write: Int, _ times: Int) {
        guard times < Self.delays.count else { return }
        queue.asyncAfter(deadline: .now() + Self.delays[times]) { [weak self] in
            guard let self, write == writes, !isCancelled.load(ordering: .relaxed) else { return }
            count()
            lookAgain(after: write, times + 1)
        }
    }

    /// Tells of commits since the last time.
    private func count() {
        // A counter that cannot be read says nothing; the next write wakes us again.
        guard let count = try? counter.value(), count != lastCount else { return }
        lastCount = count
        changed()
    }

    /// Takes the events; whether a file came or went.
    private func drain() -> Bool {
        var mustWatch = false
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            guard let base = buffer.baseAddress else { return }
            while true {
                let count = read(descriptor, base, buffer.count)
                guard count > 0 else { break }
                var place = 0
                while place + 16 <= count {
                    let number = base.loadUnaligned(fromByteOffset: place, as: Int32.self)
                    let mask = base.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
                    let length = base.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self)
                    if mask & ~UInt32(IN_MODIFY) != 0 { mustWatch = true }
                    if mask & UInt32(IN_IGNORED) != 0 {
                        for (path, known) in watches where known == number { watches[path] = nil }
                    }
                    place += 16 + Int(length)
                }
            }
        }
        return mustWatch
    }
}

/// What tells of changes until it is cancelled, or nobody holds it.
package protocol SourceWatch: AnyObject, Sendable {
    func cancel()
}
