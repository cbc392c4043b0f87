import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation

/// The exclusive right of one thread of one program to migrate a store, to replace it or to remove it. Others wait, and
/// then find the work done.
///
/// ```
///  Shop.sqlite, of an older version ──▶ app:       .migrating-Shop locked ──▶ migrates ──▶ unlocked
///                                  └──▶ extension:   waits                              └──▶ nothing to do
/// ```
/// A lock file beside the store is locked, and removed at the end of the turn. Stores that share a folder of external
/// data (`Shop.sqlite`, `Shop.backup`) share the lock file: only the process that has the turn removes files of that
/// folder that it did not itself stop referring to. A store on a server is locked by a transaction of a session, which
/// ends with its connection. The lock of a process that ends is released.
package enum MigrationTurn {
    /// The turns that the caller has already, by the paths of their lock files or the names of stores on servers.
    @TaskLocal private static var held: Set<String> = []
    /// By what turns of stores on servers are held, by their URLs.
    @TaskLocal private static var holds: [String: any SQLHold] = [:]

    /// Runs the body when it is the caller's turn; immediately if nothing can be written beside the store.
    ///
    /// - Parameter waiting: called while another process has the turn; an error that it throws ends the waiting.
    package static func with<R>(
        _ store: URL, waiting: () throws -> Void = {}, _ body: () throws -> R
    ) throws -> R {
        if ServerStores.shared.driver(of: store) != nil { return try onServer(store, waiting, body) }
        let place = store.resolvingSymlinksInPath()
        let path = Lock.path(of: place)
        guard store.isFileURL, !held.contains(path), let lock = try Lock(path, waiting) else {
            return try body()
        }
        defer { lock.release() }
        NewStorePlace.removeLeavings(of: place)
        return try $held.withValue(held.union([path]), operation: body)
    }

    /// Runs the body when it is the caller's turn; `nil` where another process or thread has the turn now.
    @discardableResult
    static func ifFree<R>(_ store: URL, _ body: () throws -> R) throws -> R? {
        do { return try with(store, waiting: { throw IsTaken() }, body) } catch is IsTaken { return nil }
    }

    private struct IsTaken: EngineFailure {}

    /// Removes the lock file of a process that ended after it had migrated the store, and that of a store that was made
    /// to replace it.
    static func removeLeavings(of store: URL) {
        NewStorePlace.removeLeavings(of: store)
        Lock.removeLeft(of: FileLink.followed(store))
    }

    /// Does the same if the lock file exists; it is made before any other file. This check does not list the folder.
    static func removeLeavingsOfTurn(of store: URL) {
        if Lock.exists(of: FileLink.followed(store)) { removeLeavings(of: store) }
    }

    private static func onServer<R>(_ store: URL, _ waiting: () throws -> Void, _ body: () throws -> R) throws -> R {
        let name = ServerStores.name(store)
        if held.contains(name) { return try body() }
        var options = try ServerPlace.options(store)
        options.createsFile = false
        let database = try AttachedStore.converting(store) { try SQLStore.makeDatabase(options) }
        var hold: (any SQLHold)?
        do {
            defer { database.close() }
            waiting: while true {
                switch try AttachedStore.converting(store, { try database.hold("migrating") }) {
                case .own(let own):
                    hold = own
                    break waiting
                // Each step of a migration is one program's all the same.
                case .unknown: break waiting
                case .others:
                    try waiting()
                    usleep(50_000)
                }
            }
        }
        defer { hold?.release() }
        var all = holds
        all[name] = hold
        return try $held.withValue(held.union([name])) { try $holds.withValue(all, operation: body) }
    }

    /// - Throws: an error if the caller's turn to migrate the store may have passed to another process.
    static func check(_ store: URL) throws {
        guard let hold = holds[ServerStores.name(store)] else { return }
        try AttachedStore.converting(store) { try hold.check() }
    }

    private struct Lock {
        private let path: String
        private let number: Int32

        init?(_ path: String, _ waiting: () throws -> Void) throws {
            self.path = path
            while true {
                // Following a link would make a file elsewhere.
                let number = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o644)
                if number < 0, errno == ELOOP, unlink(path) == 0 { continue }
                guard number >= 0 else { return nil }
                while flock(number, LOCK_EX | LOCK_NB) != 0 {
                    guard errno == EWOULDBLOCK || errno == EINTR else {
                        close(number)
                        return nil
                    }
                    do { try waiting() } catch {
                        close(number)
                        throw error
                    }
                    usleep(10_000)
                }
                // The former holder has removed the file: another one may exist by now.
                if Self.isLinked(number, path) {
                    self.number = number
                    return
                }
                close(number)
            }
        }

        /// Without the extension, as the folder of external data.
        static func path(of store: URL) -> String {
            let name = ".migrating-\(store.deletingPathExtension().lastPathComponent)"
            return store.deletingLastPathComponent().appendingPathComponent(name).path
        }

        static func exists(of store: URL) -> Bool { access(path(of: store), F_OK) == 0 }

        /// Removes a file that is not locked; a process that waits for it notices, and makes another.
        static func removeLeft(of store: URL) {
            guard exists(of: store) else { return }
            let path = path(of: store)
            let number = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard number >= 0 else { return }
            if flock(number, LOCK_EX | LOCK_NB) == 0, isLinked(number, path) { unlink(path) }
            close(number)
        }

        private static func isLinked(_ number: Int32, _ path: String) -> Bool {
            var (mine, found) = (stat(), stat())
            return fstat(number, &mine) == 0 && lstat(path, &found) == 0 && mine.st_ino == found.st_ino
                && mine.st_dev == found.st_dev
        }

        func release() {
            unlink(path)
            close(number)
        }
    }
}
