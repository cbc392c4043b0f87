import CSQLite
import Foundation

/// A file system for SQLite that keeps the index of a write-ahead log in private memory of the connection.
///
/// SQLite keeps that index in a file next to the database (`-shm`), which all clients share, and which a read-only
/// connection leaves behind. A connection that reads once, from a database that no other client has open, can build the
/// index from the log instead:
///
///     Shop.sqlite        read
///     Shop.sqlite-wal    read
///     Shop.sqlite-shm    not made
///
/// The default file system does everything else. Each open file is one of its files with four methods replaced,
/// followed by the data for these methods.
enum PrivateLogIndex {
    /// The name of the file system to open a database with; `nil` if SQLite has no default file system to extend.
    static let fileSystem: String? = register()

    private static let name = "opencoredata-private-log-index"

    private typealias File = UnsafeMutablePointer<sqlite3_file>

    /// The data after a file of the default file system.
    private struct Extension {
        /// The methods of the default file system.
        var usual: UnsafePointer<sqlite3_io_methods>
        /// The same methods, except those for the index.
        var methods: sqlite3_io_methods
        var regions: Unmanaged<Regions>
    }

    /// The parts of an index, which grows with its log.
    private final class Regions {
        private var parts: [UnsafeMutableRawPointer] = []

        deinit { removeAll() }

        /// Returns the part with the number, zero-filled if it is new; `nil` if it does not exist and `makes` is false.
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

    // Safe because it is set once, and SQLite never removes its file systems.
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
        // Allocated for the lifetime of the program.
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
        // No other client uses the index.
        methods.xShmLock = { _, _, _, _ in SQLITE_OK }
        methods.xShmBarrier = { _ in }
        methods.xShmUnmap = { file, _ in
            if let file { PrivateLogIndex.regions(of: file).removeAll() }
            return SQLITE_OK
        }
        let place = place(file)
        place.initialize(
            to: Extension(usual: usual, methods: methods, regions: Unmanaged.passRetained(Regions())))
        // The methods are stored at a fixed address, so that the pointer stays valid.
        let address = UnsafeRawPointer(place) + (MemoryLayout<Extension>.offset(of: \.methods) ?? 0)
        file.pointee.pMethods = address.assumingMemoryBound(to: sqlite3_io_methods.self)
    }

    private static func place(_ file: File) -> UnsafeMutablePointer<Extension> {
        (UnsafeMutableRawPointer(file) + offset).assumingMemoryBound(to: Extension.self)
    }

    private static func regions(of file: File) -> Regions { place(file).pointee.regions.takeUnretainedValue() }
}
