import Foundation
import Synchronization

/// The files that the database connections of this process have open, and the descriptors that must stay open as long
/// as they do.
///
/// POSIX releases every lock that a process holds on a file when the process closes any descriptor of that file. A
/// connection would lose its locks without notice. Another process could then delete the write-ahead log that the
/// connection still writes to, and commits would be lost ("How To Corrupt An SQLite Database File", section 2.2).
///
/// ```
///  connection opens       ──▶ add
///  descriptor is released ──▶ closed, or parked while a connection has the same file open
///  same file opened again ──▶ the parked descriptor is used once more
///  last connection closes ──▶ remove ──▶ parked descriptors are closed
/// ```
package final class OpenDatabaseFiles: Sendable {
    package static let shared = OpenDatabaseFiles()

    /// A file by device and inode: the same through every path, symbolic link and hard link.
    package struct Identity: Hashable, Sendable {
        private let device: UInt64
        private let inode: UInt64

        private init(_ status: stat) {
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
        }

        /// The file at the path; `nil` where there is none.
        package init?(path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.init(status)
        }

        /// The file that the descriptor is open on.
        package init?(descriptor: Int32) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return nil }
            self.init(status)
        }
    }

    private struct Parked {
        var descriptor: Int32
        var flags: Int32
    }

    private struct Entry {
        var connections = 0
        var parked: [Parked] = []
    }

    /// Guards the entries. It is held while a descriptor is closed: a connection that opens the file meanwhile takes
    /// its first lock after ``add(_:)`` has returned.
    private let entries = Mutex<[Identity: Entry]>([:])

    package init() {}

    // MARK: Connections

    /// Notes that a connection has opened the file at the path. Call it before the connection takes its first lock.
    ///
    /// - Returns: the identity to pass to ``remove(_:)``; `nil` if the file does not exist.
    package func add(_ path: String) -> Identity? {
        guard let identity = Identity(path: path) else { return nil }
        entries.withLock { $0[identity, default: Entry()].connections += 1 }
        return identity
    }

    /// Notes that the connection has closed the file. The last one closes the parked descriptors.
    package func remove(_ identity: Identity) {
        entries.withLock { entries in
            guard var entry = entries[identity] else { return }
            entry.connections -= 1
            if entry.connections > 0 {
                entries[identity] = entry
            } else {
                for parked in entry.parked { Foundation.close(parked.descriptor) }
                entries[identity] = nil
            }
        }
    }

    /// The number of parked descriptors of the file.
    package func parkedCount(of path: String) -> Int {
        guard let identity = Identity(path: path) else { return 0 }
        return entries.withLock { $0[identity]?.parked.count ?? 0 }
    }

    // MARK: Descriptors

    /// Opens a file, or returns the parked descriptor of the same file and flags, at the file's start.
    ///
    /// - Returns: the descriptor; negative if the file cannot be opened, with the reason in `errno`.
    fileprivate func open(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
        if flags & (O_ACCMODE | O_CREAT | O_TRUNC) == O_RDONLY, let identity = Identity(path: path) {
            let parked = entries.withLock { entries -> Int32? in
                guard let index = entries[identity]?.parked.firstIndex(where: { $0.flags == flags }) else { return nil }
                return entries[identity]?.parked.remove(at: index).descriptor
            }
            if let parked {
                lseek(parked, 0, SEEK_SET)
                return parked
            }
        }
        while true {
            let descriptor = Foundation.open(path, flags | O_CLOEXEC, mode)
            if descriptor >= 0 || errno != EINTR { return descriptor }
        }
    }

    /// Closes a descriptor, or parks it while a connection has its file open.
    fileprivate func close(_ descriptor: Int32, _ flags: Int32) {
        entries.withLock { entries in
            guard let identity = Identity(descriptor: descriptor), entries[identity] != nil else {
                Foundation.close(descriptor)
                return
            }
            // Closing would have released this lock.
            flock(descriptor, LOCK_UN)
            entries[identity]?.parked.append(Parked(descriptor: descriptor, flags: flags))
        }
    }
}

/// An open descriptor of a file that may be a database of this process. Releasing it keeps the locks of the process;
/// see ``OpenDatabaseFiles``.
///
/// Use it for every file at a store's path that SQLite itself does not open.
package final class StoreFileDescriptor: Sendable {
    package let number: Int32
    private let flags: Int32

    /// - Parameters:
    ///   - flags: the flags of `open(2)`; `O_CLOEXEC` is added.
    ///   - mode: the permissions of a new file.
    /// - Returns: `nil` if the file cannot be opened, with the reason in `errno`.
    package init?(_ path: String, _ flags: Int32, mode: mode_t = 0o644) {
        number = OpenDatabaseFiles.shared.open(path, flags, mode)
        self.flags = flags
        guard number >= 0 else { return nil }
    }

    deinit { if number >= 0 { OpenDatabaseFiles.shared.close(number, flags) } }

    /// The bytes from the file's current position on, at most `limit` of them.
    ///
    /// - Throws: a `POSIXError`.
    package func read(atMost limit: Int = .max) throws -> Data {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw Self.failure(errno) }
        let size = min(Int(status.st_size), limit)
        var data = Data()
        data.reserveCapacity(size)
        let capacity = min(max(size, 1), 1 << 20)
        try withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 16) { buffer in
            while data.count < limit {
                let count = Foundation.read(number, buffer.baseAddress, min(capacity, limit - data.count))
                if count == 0 { break }
                guard count > 0 else {
                    if errno == EINTR { continue }
                    throw Self.failure(errno)
                }
                data.append(contentsOf: buffer.prefix(count))
            }
        }
        return data
    }

    /// Copies the bytes from this file's current position on to another file.
    ///
    /// - Throws: a `POSIXError`.
    package func copy(to other: StoreFileDescriptor) throws {
        try withUnsafeTemporaryAllocation(byteCount: 1 << 20, alignment: 16) { buffer in
            while true {
                let count = Foundation.read(number, buffer.baseAddress, buffer.count)
                if count == 0 { return }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.failure(errno) }
                var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                while !rest.isEmpty {
                    let written = Foundation.write(other.number, rest.baseAddress, rest.count)
                    if written < 0, errno == EINTR { continue }
                    guard written > 0 else { throw Self.failure(errno) }
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
                }
            }
        }
    }

    private static func failure(_ code: Int32) -> POSIXError { POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
}
