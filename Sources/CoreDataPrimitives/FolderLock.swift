import Foundation

/// A lock on a folder, which tells a folder in use from one that a process left when it died.
///
/// The lock belongs to the open descriptor, not to a process number: containers that share a volume have process numbers of their own.
/// The system releases it when the process ends.
package enum FolderLock {
    package enum Outcome {
        /// The lock is the caller's until it closes the descriptor.
        case taken(Int32)
        /// Another descriptor has the lock.
        case inUse
        /// There is no such folder (any more), or it cannot be opened.
        case missing
        /// The file system has no such locks.
        case unsupported
    }

    /// Tries to lock the folder; does not wait.
    package static func take(_ path: String) -> Outcome {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return .missing }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            return code == EWOULDBLOCK ? .inUse : .unsupported
        }
        // The process that had the lock before may have removed the folder.
        guard OpenDatabaseFiles.Identity(path: path) == OpenDatabaseFiles.Identity(descriptor: descriptor) else {
            close(descriptor)
            return .missing
        }
        return .taken(descriptor)
    }

    /// Whether a folder that cannot be locked was not changed for a day: then the process that made it has surely ended.
    package static func isOld(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        return Date().timeIntervalSince1970 - Double(status.st_mtim.tv_sec) > 86_400
    }
}
