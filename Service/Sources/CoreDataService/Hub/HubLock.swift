import Foundation
import Synchronization

/// The right to be the hub of a folder, which one process has at a time: a file that is locked by `flock`. The system
/// releases it when the process ends.
final class HubLock: Sendable {
    private let url: URL
    /// The descriptor of the locked file.
    private let descriptor = Mutex<Int32?>(nil)

    init(_ url: URL) { self.url = url }

    deinit { release() }

    /// Takes the lock.
    ///
    /// - Returns: whether this process has it.
    func take() -> Bool {
        descriptor.withLock { descriptor in
            if descriptor != nil { return true }
            let opened = open(url.path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard opened >= 0 else { return false }
            guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
                close(opened)
                return false
            }
            descriptor = opened
            return true
        }
    }

    func release() {
        descriptor.withLock { descriptor in
            if let descriptor { close(descriptor) }
            descriptor = nil
        }
    }
}
