import Dispatch
import Foundation
import Synchronization

/// Observes a folder and the folders in it with inotify, for one stream.
final class FolderWatcher: @unchecked Sendable {
    // Safe because everything that changes is used on `queue` only; the initialiser ends before the first event.

    private let queue = DispatchQueue(label: "com.apple.CoreData.sync.watch", qos: .utility)
    private let descriptor: Int32
    private let root: String
    private var source: (any DispatchSourceRead)?
    private var rootWatch: Int32 = -1
    private let continuation: AsyncStream<Void>.Continuation

    /// Files that appear, are written in place, or are deleted.
    private static let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_ONLYDIR)

    /// A stream that ends at once if the folder cannot be watched, and later if the folder is deleted.
    static func changes(in root: String) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        guard let watcher = FolderWatcher(root, continuation) else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { _ in watcher.stop() }
        watcher.start()
        return stream
    }

    private init?(_ root: String, _ continuation: AsyncStream<Void>.Continuation) {
        (self.root, self.continuation) = (root, continuation)
        descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        rootWatch = inotify_add_watch(descriptor, root, Self.mask | UInt32(IN_DELETE_SELF | IN_MOVE_SELF))
        guard rootWatch >= 0 else {
            close(descriptor)
            return nil
        }
        watchFolders()
    }

    private func start() {
        queue.sync {
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            let descriptor = descriptor
            source.setCancelHandler { close(descriptor) }
            source.setEventHandler { [weak self] in self?.readEvents() }
            self.source = source
            source.activate()
        }
    }

    private func stop() {
        queue.async { [self] in
            source?.cancel()
            source = nil
        }
    }

    /// Watches the folders in the root; the kernel knows a folder that is watched already.
    private func watchFolders() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [] where PlaceName.isValid(name) {
            inotify_add_watch(descriptor, "\(root)/\(name)", Self.mask | UInt32(IN_DONT_FOLLOW))
        }
    }

    private func readEvents() {
        // After `stop` another file may have the descriptor's number.
        guard source != nil else { return }
        var (isChanged, isGone, hasNewFolder) = (false, false, false)
        withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
            guard let base = buffer.baseAddress else { return }
            while true {
                let count = read(descriptor, base, buffer.count)
                guard count > 0 else { break }
                var offset = 0
                while offset + 16 <= count {
                    let watch = base.loadUnaligned(fromByteOffset: offset, as: Int32.self)
                    let mask = base.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                    let length = Int(base.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                    // Temporary files are hidden.
                    let isHidden =
                        length > 0 && base.load(fromByteOffset: offset + 16, as: UInt8.self) == UInt8(ascii: ".")
                    if !isHidden { isChanged = true }
                    if watch == rootWatch {
                        if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 { isGone = true }
                        if mask & UInt32(IN_ISDIR) != 0 { hasNewFolder = true }
                    }
                    if mask & UInt32(IN_Q_OVERFLOW) != 0 { hasNewFolder = true }
                    offset += 16 + length
                }
            }
        }
        if hasNewFolder { watchFolders() }
        if isChanged { continuation.yield() }
        if isGone { continuation.finish() }
    }
}
