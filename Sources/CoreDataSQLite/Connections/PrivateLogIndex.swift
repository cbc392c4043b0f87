import CSQLite
import Foundation

/// A file system for SQLite that keeps the index of a write-ahead log in the connection's own memory.
///
/// SQLite keeps that index in a file beside the database (`-shm`), which all users of the database share, and which a
/// connection that may only read leaves behind. A connection that looks once, at a database that nobody else has open,
/// makes the index for itself from the log:
///
///     Shop.sqlite        read
///     Shop.sqlite-wal    read
///     Shop.sqlite-shm    not made
///
/// Everything else is the usual file system's own doing: each open file is one of its files with four methods replaced
/// and, behind it, what those need.
enum PrivateLogIndex {
    /// What to open a database with; `nil` where SQLite has no file system that can be built upon.
    static let fileSystem: String? = register()

    private static let name = "opencoredata-private-log-index"

    private typealias File = UnsafeMutablePointer<sqlite3_file>

    /// What stands behind a file of the usual file system.
    private struct Extension {
        /// Those of the usual file system.
        var usual: UnsafePointer<sqlite3_io_methods>
        /// The same but for the index.
        var methods: sqlite3_io_methods
        var regions: Unmanaged<Regions>
    }

    /// The parts of an index, which grows with its log.
    private final class Regions {
        private var parts: [UnsafeMutableRawPointer] = []

        deinit { removeAll() }

        /// The part of that number, filled with zeroes when it is new; `nil` for one that is not there and not wanted.
        func part(_ index: Int, size: Int, makes: Bool) -> UnsafeMutableRawPointer? {
            while makes, parts.count <= index {
                let part = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
                part.initializeMemory(as: UInt8.self, repeating: 0, count: size)
                parts.append(part)
            }
            return index < parts.count ? parts[index] : nil
        }

        func removeAll() {
            for part in parts { part.deallocate() }
            parts = []
        }
    }

    // Safe because it is set once, and SQLite's file systems are never taken away.
    nonisolated(unsafe) private static let usual = sqlite3_vfs_find(nil)
    private static let offset: Int = {
        let size = Int(usual?.pointee.szOsFile ?? 0)
        let alignment = MemoryLayout<Extension>.alignment
        return (size + alignment - 1) / alignment * alignment
    }()

    private static func register() -> String? {
        guard var own = usual?.pointee else { return nil }
        own.szOsFile = Int32(offset + MemoryLayout<Extension>.size)
        own.zName = UnsafePointer(strdup(name))
        own.pNext = nil
        own.xOpen = { _, path, file, flags, outFlags in
            guard let file, let usual = PrivateLogIndex.usual, let open = usual.pointee.xOpen else {
                return SQLITE_CANTOPEN
            }
            let code = open(usual, path, file, flags, outFlags)
            guard code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let methods = file.pointee.pMethods else {
                return code
            }
            PrivateLogIndex.extend(file, methods)
            return code
        }
        // For as long as the program runs.
        let registered = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        registered.initialize(to: own)
        return sqlite3_vfs_register(registered, 0) == SQLITE_OK ? name : nil
    }

    private static func extend(_ file: File, _ usual: UnsafePointer<sqlite3_io_methods>) {
        var methods = usual.pointee
        methods.xClose = { file in
            guard let file else { return SQLITE_OK }
            let place = PrivateLogIndex.place(file)
            let usual = place.pointee.usual
            place.pointee.regions.release()
            file.pointee.pMethods = usual
            return usual.pointee.xClose?(file) ?? SQLITE_OK
        }
        methods.xShmMap = { file, index, size, makes, part in
            guard let file, let part else { return SQLITE_IOERR }
            part.pointee = PrivateLogIndex.regions(of: file).part(Int(index), size: Int(size), makes: makes != 0)
            return SQLITE_OK
        }
        // Nobody else has the index.
        methods.xShmLock = { _, _, _, _ in SQLITE_OK }
        methods.xShmBarrier = { _ in }
        methods.xShmUnmap = { file, _ in
            if let file { PrivateLogIndex.regions(of: file).removeAll() }
            return SQLITE_OK
        }
        let place = place(file)
        place.initialize(
            to: Extension(usual: usual, methods: methods, regions: Unmanaged.passRetained(Regions())))
        // The methods stand at a place of their own, so that the address stays theirs.
        let address = UnsafeRawPointer(place) + (MemoryLayout<Extension>.offset(of: \.methods) ?? 0)
        file.pointee.pMethods = address.assumingMemoryBound(to: sqlite3_io_methods.self)
    }

    private static func place(_ file: File) -> UnsafeMutablePointer<Extension> {
        (UnsafeMutableRawPointer(file) + offset).assumingMemoryBound(to: Extension.self)
    }

    private static func regions(of file: File) -> Regions { place(file).pointee.regions.takeUnretainedValue() }
}
