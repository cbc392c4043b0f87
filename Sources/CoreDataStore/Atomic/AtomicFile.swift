import CoreDataPrimitives
import Foundation
import Synchronization

/// A file that is read and written as a whole.
///
/// ```
///  lock ──▶ unchanged since the last read? ──▶ write a temporary file, fsync ──▶ rename ──▶ fsync the folder ──▶ unlock
/// ```
/// After a crash, the file has either its complete old or its complete new content. The next writer reuses a remaining
/// temporary file. A process that has opened the old file keeps reading it.
package struct AtomicFile: Sendable {
    /// The path of the file; not a symbolic link.
    package let path: String
    /// The seconds to wait for another writer of the file.
    package var timeout: Double = 240

    package init(path: String) { self.path = FileLink.followed(URL(fileURLWithPath: path)).path }

    /// Identifies a state of the file: first by its file system attributes, then by its content.
    package struct Stamp: Sendable {
        private var inode: UInt64
        private var size: Int
        private var seconds: Int
        private var nanoseconds: Int
        var digest: UInt64

        fileprivate init(_ status: stat, digest: UInt64) {
            inode = UInt64(status.st_ino)
            size = Int(status.st_size)
            seconds = Int(status.st_mtim.tv_sec)
            nanoseconds = Int(status.st_mtim.tv_nsec)
            self.digest = digest
        }

        fileprivate func isOfSameFile(as other: Stamp) -> Bool {
            (inode, size, seconds, nanoseconds) == (other.inode, other.size, other.seconds, other.nanoseconds)
        }

        fileprivate func hasSameBytes(as other: Stamp) -> Bool { (size, digest) == (other.size, other.digest) }
    }

    // MARK: Reading

    /// Returns the bytes and their stamp; at most `count` bytes.
    package func read(atMost count: Int = .max) throws -> (data: Data, stamp: Stamp) {
        do {
            let file = try Descriptor(regular: path)
            let data = try file.data(atMost: count)
            return (data, Stamp(try file.status(), digest: AtomicDigest.of(data)))
        } catch var failure as AtomicFileFailure {
            failure.isReading = true
            throw failure
        }
    }

    // MARK: Writing

    /// Creates the file.
    ///
    /// - Throws: ``AtomicFileFailure`` of the kind `.exists` if the file exists by now.
    package func create(_ write: (AtomicFileWriter) throws -> Void) throws -> Stamp {
        removeAbandonedFiles()
        do { return try make(write) } catch let failure as AtomicFileFailure
            where failure.kind == .missing && FileManager.default.fileExists(atPath: folder)
        {
            // Another process that created the file at the same time deleted the temporary file, because it seemed
            // abandoned.
            return try make(write)
        }
    }

    private func make(_ write: (AtomicFileWriter) throws -> Void) throws -> Stamp {
        let temporary = path(ofTemporary: "\(getpid())-\(UInt32.random(in: 0...(.max)))")
        do {
            let stamp = try fill(temporary, like: nil, write)
            // Opened first: after the rename, nothing may fail.
            let entries = try openFolder()
            let code = ExclusiveRename.move(temporary, to: path)
            guard code == 0 else {
                throw AtomicFileFailure(code == EEXIST ? .exists : .of(code), path: path, code: code)
            }
            synchronize(entries)
            return stamp
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Replaces the file.
    ///
    /// - Parameter known: the expected state of the file; `nil` for any state.
    /// - Throws: ``AtomicFileFailure`` of the kind `.changed` if another client has written the file, `.missing` if it
    ///   does not exist. The file is then unchanged.
    package func replace(_ known: Stamp?, _ write: (AtomicFileWriter) throws -> Void) throws -> Stamp {
        guard access(path, W_OK) == 0 else { throw AtomicFileFailure(.of(errno), path: path, code: errno) }
        let (file, status) = try locked()
        if let known, !Stamp(status, digest: 0).isOfSameFile(as: known) {
            let now = Stamp(status, digest: AtomicDigest.of(try file.data(atMost: .max)))
            guard now.hasSameBytes(as: known) else { throw AtomicFileFailure(.changed, path: path) }
        }
        let temporary = path(ofTemporary: "saving")
        // The remains of a terminated process, or a planted link: the lock permits deleting it.
        guard unlink(temporary) == 0 || errno == ENOENT else {
            throw AtomicFileFailure(.blocked(by: temporary), path: path, code: errno)
        }
        do {
            let stamp = try fill(temporary, like: status, write)
            let entries = try openFolder()
            guard rename(temporary, path) == 0 else { throw AtomicFileFailure(.of(errno), path: path, code: errno) }
            synchronize(entries)
            return stamp
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Opens and locks the file; no other client writes it while the caller has the descriptor.
    ///
    /// - Throws: ``AtomicFileFailure`` of the kind `.changed` if the file was replaced while this waited for the lock.
    private func locked() throws -> (Descriptor, stat) {
        let file = try Descriptor(regular: path)
        try file.lock(timeout: timeout)
        let status = try file.status()
        var current = stat()
        guard stat(path, &current) == 0 else { throw AtomicFileFailure(.of(errno), path: path, code: errno) }
        guard current.st_ino == status.st_ino, current.st_dev == status.st_dev else {
            throw AtomicFileFailure(.changed, path: path)
        }
        return (file, status)
    }

    /// Deletes the file, while no other client writes it.
    package func remove() throws {
        guard access(path, W_OK) == 0 else { throw AtomicFileFailure(.of(errno), path: path, code: errno) }
        let (file, _) = try locked()
        defer { withExtendedLifetime(file) {} }
        let entries = try openFolder()
        guard unlink(path) == 0 || errno == ENOENT else { throw AtomicFileFailure(.of(errno), path: path, code: errno) }
        unlink(path(ofTemporary: "saving"))
        synchronize(entries)
    }

    /// Returns the temporary path, such as `.Shop.xml.saving`, which only the holder of the file's lock may write.
    private func path(ofTemporary suffix: String) -> String {
        let url = URL(fileURLWithPath: path)
        return url.deletingLastPathComponent().path + "/.\(url.lastPathComponent).\(suffix)"
    }

    private func fill(_ temporary: String, like old: stat?, _ write: (AtomicFileWriter) throws -> Void) throws -> Stamp
    {
        // Never open an existing file: it could be a planted link to a file that would be emptied. Other users must not
        // read the new file until it has the permissions of the old one.
        let file: Descriptor
        do {
            file = try Descriptor(
                temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: old == nil ? 0o644 : 0o600, folderOf: path)
        } catch let failure as AtomicFileFailure where failure.code == EEXIST {
            throw AtomicFileFailure(.blocked(by: temporary), path: path, code: EEXIST)
        }
        if let old { fchmod(file.number, old.st_mode & 0o7777) } else { flock(file.number, LOCK_EX | LOCK_NB) }
        let writer = AtomicFileWriter(file.number, path: path)
        try write(writer)
        try writer.flush()
        let code = DurableFiles.synchronize(file.number)
        guard code == 0 else { throw AtomicFileFailure(.of(code), path: path, code: code) }
        let digest = writer.isOverwritten ? AtomicDigest.of(try file.contents()) : writer.digest.value
        return Stamp(try file.status(), digest: digest)
    }

    /// Deletes temporary files without a lock, which were left by terminated processes.
    private func removeAbandonedFiles() {
        let url = URL(fileURLWithPath: path)
        let prefix = ".\(url.lastPathComponent)."
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix(prefix) {
            let parts = name.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ UInt32($0) != nil }),
                // Opening a pipe would block until a process writes to it.
                let file = try? Descriptor("\(folder)/\(name)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK, folderOf: path)
            else { continue }
            if flock(file.number, LOCK_EX | LOCK_NB) == 0 { unlink("\(folder)/\(name)") }
        }
    }

    var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    private func openFolder() throws -> Descriptor { try Descriptor(folder, O_RDONLY, folderOf: path) }
    /// Synchronises the folder's entries. Some file systems do not support this. After another error, the file is
    /// already replaced, and reporting a failed save would be wrong; SQLite ignores the error too.
    private func synchronize(_ folder: Descriptor) { _ = DurableFiles.synchronize(folder.number) }
}

/// An open file descriptor, which is closed with this object.
private final class Descriptor {
    private let file: StoreFileDescriptor
    private let path: String
    var number: Int32 { file.number }

    init(_ path: String, _ flags: Int32, mode: mode_t = 0o644, folderOf file: String) throws {
        guard let opened = StoreFileDescriptor(path, flags, mode: mode) else {
            throw AtomicFileFailure(.of(errno), path: file, code: errno)
        }
        self.file = opened
        self.path = file
    }

    /// Opens a file for reading. Devices and pipes, which have no end or no content, are refused and never replaced.
    convenience init(regular path: String) throws {
        // Opening a pipe would block until a process writes to it.
        try self.init(path, O_RDONLY | O_NONBLOCK, folderOf: path)
        guard try status().st_mode & S_IFMT == S_IFREG else { throw AtomicFileFailure(.notAFile, path: path) }
    }

    func status() throws -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw AtomicFileFailure(.of(errno), path: path, code: errno) }
        return status
    }

    /// Waits for other writers.
    func lock(timeout: Double) throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(timeout)
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK:
                guard clock.now < end else { throw AtomicFileFailure(.locked, path: path) }
                usleep(2000)
            default: throw AtomicFileFailure(.of(errno), path: path, code: errno)
            }
        }
    }

    /// Returns all bytes, regardless of the file's position.
    func contents() throws -> Data {
        guard lseek(number, 0, SEEK_SET) == 0 else { throw AtomicFileFailure(.of(errno), path: path, code: errno) }
        return try data(atMost: .max)
    }

    func data(atMost limit: Int) throws -> Data {
        do { return try file.read(atMost: limit) } catch let error as POSIXError {
            throw AtomicFileFailure(.of(error.code.rawValue), path: path, code: error.code.rawValue)
        }
    }
}

/// Calls `write(2)`, which a method with that name would hide.
private func writeBytes(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(file, bytes.baseAddress, bytes.count)
}

/// Writes a file sequentially.
package final class AtomicFileWriter {
    private let number: Int32
    private let path: String
    private var buffer: [UInt8] = []
    fileprivate(set) var digest = AtomicDigest()
    /// Whether bytes that were written earlier were overwritten.
    fileprivate private(set) var isOverwritten = false

    fileprivate init(_ number: Int32, path: String) {
        self.number = number
        self.path = path
        buffer.reserveCapacity(Self.pieceSize + 4096)
    }

    private static let pieceSize = 1 << 18

    func write(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= Self.pieceSize { try flush() }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        if bytes.count >= Self.pieceSize {
            try flush()
            return try put(bytes)
        }
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.pieceSize { try flush() }
    }

    func write(_ data: Data) throws { try data.withUnsafeBytes { try write($0) } }

    /// Overwrites bytes that were written earlier.
    func overwrite(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        try flush()
        try writeAll(bytes) { pwrite(number, $0.baseAddress, $0.count, off_t(offset + $1)) }
        isOverwritten = true
    }

    fileprivate func flush() throws {
        try buffer.withUnsafeBytes { try put($0) }
        buffer.removeAll(keepingCapacity: true)
    }

    private func put(_ bytes: UnsafeRawBufferPointer) throws {
        digest.add(bytes)
        try writeAll(bytes) { rest, _ in writeBytes(number, rest) }
    }

    /// Calls `write` with the bytes that are left, and the number of those before them, until all are written.
    private func writeAll(_ bytes: UnsafeRawBufferPointer, _ write: (UnsafeRawBufferPointer, Int) -> Int) throws {
        var done = 0
        while done < bytes.count {
            let count = write(UnsafeRawBufferPointer(rebasing: bytes[done...]), done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw AtomicFileFailure(.of(errno), path: path, code: errno)
            }
            done += count
        }
    }
}

/// A digest that detects changed bytes: 64-bit FNV-1a, which detects every change of a single byte.
struct AtomicDigest: Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var value = value
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        self.value = value
    }

    static func of(_ data: Data) -> UInt64 {
        var digest = AtomicDigest()
        data.withUnsafeBytes { digest.add($0) }
        return digest.value
    }
}

/// The reason why an atomic file could not be read or written.
package struct AtomicFileFailure: EngineFailure {
    package enum Kind: Sendable, Equatable {
        /// Another client has written the file since it was read.
        case changed
        /// Another client held the lock until the timeout.
        case locked
        /// The file exists already.
        case exists
        case missing
        case noPermission
        case readOnlyVolume
        case full
        /// The path is a folder, a device or a pipe.
        case notAFile
        /// The temporary file's path is occupied, and the file there cannot be deleted.
        case blocked(by: String)
        case other

        static func of(_ code: Int32) -> Kind {
            switch code {
            case ENOENT, ENOTDIR: .missing
            case EACCES, EPERM: .noPermission
            case EROFS: .readOnlyVolume
            case ENOSPC, EDQUOT, EFBIG: .full
            default: .other
            }
        }
    }

    package var kind: Kind
    package var path: String
    /// The system's error number, 0 for none.
    package var code: Int32
    /// Whether the operation was a read.
    package var isReading = false

    init(_ kind: Kind, path: String, code: Int32 = 0) {
        self.kind = kind
        self.path = path
        self.code = code
    }

    package var message: String {
        let reason = code == 0 ? "" : " (\(String(cString: strerror(code))))"
        return switch kind {
        case .changed:
            """
            The file '\(path)' was changed by somebody else since it was read, so nothing was written. Remove the store and \
            add it again to see what is there now.
            """
        case .locked: "The file '\(path)' is being written by somebody else."
        case .exists: "There is a file '\(path)' already."
        case .missing: "There is no file '\(path)' (any more)\(reason)."
        case .noPermission: "No permission for the file '\(path)'\(reason)."
        case .readOnlyVolume: "The file '\(path)' is on a volume that cannot be written to\(reason)."
        case .full: "There is no space left for the file '\(path)'\(reason)."
        case .notAFile: "'\(path)' is no file, but a folder, a device or a pipe: it cannot be a store."
        case .blocked(let temporary):
            "The file '\(path)' cannot be written: '\(temporary)' is where its temporary file is to be made\(reason). Remove that."
        case .other: "The file '\(path)' cannot be read or written\(reason)."
        }
    }
}
