import Foundation

/// A lock on a folder. It distinguishes a folder in use from one that a terminated process left behind.
///
/// The lock belongs to the open descriptor, not to a process ID: containers that share a volume have separate process
/// IDs. The system releases the lock when the process ends.
package enum FolderLock {
    package enum Outcome {
        /// The caller holds the lock until it closes the descriptor.
        case taken(Int32)
        /// Another descriptor holds the lock.
        case inUse
        /// The folder does not exist or was deleted, or it cannot be opened.
        case missing
        /// The file system does not support such locks.
        case unsupported
    }

    /// Tries to lock the folder, without waiting.
    package static func take(_ path: String) -> Outcome {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return .missing }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            return code == EWOULDBLOCK ? .inUse : .unsupported
        }
        // The previous holder of the lock may have deleted the folder.
        guard OpenDatabaseFiles.Identity(path: path) == OpenDatabaseFiles.Identity(descriptor: descriptor) else {
            close(descriptor)
            return .missing
        }
        return .taken(descriptor)
    }

    /// Returns whether the folder was not changed for a day. Use it where locks are unsupported: the process that made
    /// the folder has then ended.
    package static func isOld(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        return Date().timeIntervalSince1970 - Double(status.st_mtim.tv_sec) > 86_400
    }
}
