import Foundation
import Synchronization

/// The right to synchronise a store, which one `Sync` of one process has at a time: two would give different files the
/// same number.
///
/// ```
/// free ──hold──▶ held (1) ──hold──▶ held (2) ──release──▶ held (1) ──release──▶ free
///           └──▶ 255: another Sync has it
/// ```
/// A lock is a file beside the store, `Groceries.sqlite-sync-lock`, that is locked by `flock`, and another one beside a
/// sidecar that lies elsewhere. The system releases it when the process ends. The file names the holder for the
/// messages of others. Where the file system has no locks, and for stores that are no files, the lock keeps out this
/// process's other `Sync` objects only.
final class SyncLock: Sendable {
    private struct State {
        var holds = 0
        var files: [File] = []
        /// The number of times that the lock was taken after another process may have written.
        var changes = 0
    }

    private struct File {
        var path: String
        var descriptor: Int32
    }

    /// Guards the number of holds. It is held while the lock is taken.
    private let state = Mutex(State())
    private let paths: [String]
    /// What the lock is for, in messages.
    private let name: String
    /// The locks that this process holds. A file system may release or grant locks of one process alike.
    private static let held = Mutex<Set<String>>([])

    /// - Parameters:
    ///   - store: the store's file; `nil` for a store in memory or on a server.
    ///   - sidecar: the sidecar's file if it does not lie beside the store.
    ///   - identifier: the store's UUID.
    init(store: URL?, sidecar: URL?, identifier: String) {
        var paths: [String] = []
        if let store { paths.append(Self.url(beside: store).path) }
        if let sidecar { paths.append(sidecar.resolvingSymlinksInPath().path + "-lock") }
        self.paths = paths.isEmpty ? [identifier] : paths
        name = store?.path ?? sidecar?.path ?? "of the UUID \(identifier)"
    }

    deinit { state.withLock { Self.free(&$0) } }

    /// The file of the lock of the store at a URL.
    static func url(beside store: URL) -> URL {
        URL(fileURLWithPath: store.resolvingSymlinksInPath().path + "-sync-lock")
    }

    /// How often the lock was taken after another process had written. What was kept in memory from before is stale.
    var changes: Int { state.withLock { $0.changes } }

    var isHeld: Bool { state.withLock { $0.holds > 0 } }

    /// Takes the lock, or counts one more hold.
    ///
    /// - Parameter taken: called if the lock was free; returns whether another process has written since. If it throws,
    ///   the lock is free.
    /// - Throws: 255 (`CocoaError.fileLocking`) if another `Sync` has the lock; 513 or 640, for example, if its file
    ///   cannot be made.
    func hold(taken: () throws -> Bool) throws {
        try state.withLock { state in
            if state.holds == 0 {
                try take(&state)
                do { if try taken() { state.changes += 1 } } catch {
                    Self.free(&state)
                    throw error
                }
            }
            state.holds += 1
        }
    }

    /// Ends one hold.
    ///
    /// - Parameter freed: called before the lock becomes free.
    func release(freed: () -> Void) {
        state.withLock { state in
            state.holds -= 1
            guard state.holds == 0 else { return }
            freed()
            Self.free(&state)
        }
    }

    // MARK: Files

    private func take(_ state: inout State) throws {
        do {
            for path in paths { state.files.append(try lock(path)) }
        } catch {
            Self.free(&state)
            throw error
        }
    }

    private static func free(_ state: inout State) {
        for file in state.files {
            if file.descriptor >= 0 {
                unlink(file.path)
                close(file.descriptor)
            }
            held.withLock { _ = $0.remove(file.path) }
        }
        state.files = []
    }

    private func lock(_ path: String) throws -> File {
        guard Self.held.withLock({ $0.insert(path).inserted }) else {
            throw isTaken("another Sync of this process", path)
        }
        do { return File(path: path, descriptor: path.hasPrefix("/") ? try open(path) : -1) } catch {
            Self.held.withLock { _ = $0.remove(path) }
            throw error
        }
    }

    /// Opens and locks a file; -1 if the file system has no locks.
    private func open(_ path: String) throws -> Int32 {
        while true {
            let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw cannotBeMade(path, errno) }
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                let code = errno
                if code == EINTR { continue }
                let holder = SyncLockHolder(descriptor)
                close(descriptor)
                guard code == EWOULDBLOCK else { return -1 }
                throw isTaken(holder?.description ?? "another process", path)
            }
            // The former holder removes the file before it unlocks it.
            if Self.isLinked(descriptor, path) {
                SyncLockHolder.current.write(to: descriptor)
                return descriptor
            }
            close(descriptor)
        }
    }

    private static func isLinked(_ descriptor: Int32, _ path: String) -> Bool {
        var (own, found) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(path, &found) == 0 && own.st_ino == found.st_ino
            && own.st_dev == found.st_dev
    }

    // MARK: Errors

    private func isTaken(_ holder: String, _ path: String) -> CocoaError {
        SyncErrors.make(
            CocoaError.Code.fileLocking.rawValue,
            "The store \(name) is synchronised by \(holder) at present. One process, and one Sync in it, may synchronise a store at a time. Stop synchronisation there first, or leave it to that one.",
            path.hasPrefix("/") ? [NSFilePathErrorKey: path] : [:])
    }

    private func cannotBeMade(_ path: String, _ code: Int32) -> CocoaError {
        let error = SyncPlaceError("created", path, code)
        return SyncErrors.make(
            error.errorCode, "The store \(name) cannot be synchronised without its lock. \(error.message)",
            [NSFilePathErrorKey: path, NSUnderlyingErrorKey: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)])
    }
}

/// The process that holds a lock, as the lock's file names it.
struct SyncLockHolder: Codable, CustomStringConvertible {
    var process: Int32
    var program: String
    var host: String

    static var current: Self {
        let info = ProcessInfo.processInfo
        return Self(process: info.processIdentifier, program: info.processName, host: info.hostName)
    }

    var description: String {
        let place = host == ProcessInfo.processInfo.hostName ? "" : " on \(host)"
        return "process \(process) (\(program))\(place)"
    }

    /// The holder that a lock's file names; `nil` if it names none.
    init?(_ descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0, let holder = try? JSONDecoder().decode(Self.self, from: Data(bytes.prefix(count))) else {
            return nil
        }
        self = holder
    }

    private init(process: Int32, program: String, host: String) {
        (self.process, self.program, self.host) = (process, program, host)
    }

    /// Names this holder. A full disk does not keep the lock from being held.
    func write(to descriptor: Int32) {
        guard let data = try? JSONEncoder().encode(self), ftruncate(descriptor, 0) == 0 else { return }
        _ = data.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
}
