import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// A store is, or was made meanwhile, where one was to be put.
package struct PlaceTaken: Error {
    package init() {}
}

/// The files of stores as wholes: the database and the folder of its external data.
package struct StoreFiles {
    package let driver: any SQLDatabaseFile.Type
    let makeDatabase: DatabaseFactory

    package init(_ driver: any SQLDatabaseFile.Type, makeDatabase: @escaping DatabaseFactory) {
        self.driver = driver
        self.makeDatabase = makeDatabase
    }

    /// Takes a store away: an empty file is left, which others may be about to open, and no external data.
    ///
    /// Where there is no file there is nothing to do.
    ///
    /// - Throws: ``StoreFailure`` for a file that is no store, ``SQLFailure`` for a store that somebody has open.
    package func destroy(_ options: DatabaseOptions) throws {
        guard let path = options.path else { return }
        guard !options.isReadOnly else { throw Self.readOnly(path) }
        guard FileSize.of(path) != nil else { return removeExternalData(of: path) }
        try checkIsNoOtherDatabase(options)
        let external = ExternalData(storePath: path)
        let own = external.isShared ? external.ownFiles(of: options, makeDatabase: makeDatabase) : []
        try StoreFailure.translated(path) {
            try driver.empty(options) {
                remove(own, of: path)
                removeExternalData(of: path)
            }
        }
    }

    /// Makes the store at `destination`, if there is one, the same as that at `source`, which may be in use.
    ///
    /// ```
    ///  source's files kept from going ──▶ external files of the source copied ──▶ database replaced, in one transaction
    ///      ──▶ external files of the old removed
    /// ```
    /// A process that dies in between leaves the old or the new store, and perhaps files that no row names.
    ///
    /// - Parameters:
    ///   - noted: what the destination must still be.
    ///   - isNew: whether there must be no store at the destination.
    /// - Throws: ``StoreFailure`` for what is no store, ``SQLFailure`` for a destination that somebody has open, `DatabaseChanged`
    ///   where it is not what was noted, ``PlaceTaken`` where there is a store and must be none. The destination is then as it was.
    package func replace(
        _ destination: DatabaseOptions, with source: DatabaseOptions, ifStill noted: (any NotedDatabase)? = nil,
        isNew: Bool = false
    ) throws {
        guard let path = destination.path, let sourcePath = source.path else { return }
        guard !destination.isReadOnly else { throw Self.readOnly(path) }
        if FileSize.of(path) != nil { try checkIsNoOtherDatabase(destination) }
        let known = ExternalData(storePath: path)
        let isShared = known.isShared
        // Of one that others have too only what is certainly the destination's goes.
        let old =
            isShared
            ? known.ownFiles(of: destination, makeDatabase: makeDatabase) : Set(known.files()?.keys.map { $0 } ?? [])
        let hadFolder = known.folder.map {
            FileManager.default.fileExists(atPath: ($0 as NSString).deletingLastPathComponent)
        }
        var copy = ExternalDataCopy(from: ExternalData(storePath: sourcePath), to: known)
        do {
            try StoreFailure.translated(path) {
                // Also before the source's state is held, so that little is left to do while others wait. Where there is no folder for the
                // store none is made for its files.
                if access((path as NSString).deletingLastPathComponent, W_OK) == 0 { try copy.run() }
                func replace() throws {
                    try driver.replace(destination, with: source, ifStill: noted) {
                        // The destination is locked: nobody makes a store there from now on.
                        if isNew, FileSize.of(path) ?? 0 > 0 { throw PlaceTaken() }
                        try copy.runHoldingSource()
                    }
                }
                do { try replace() } catch is ExternalDataCopy.SourceChanged { try replace() }
            }
        } catch {
            copy.undo()
            // Of a store that another process made meanwhile nothing is removed.
            if !(hadFolder ?? false), !isShared, !(error is PlaceTaken) { removeExternalData(of: path) }
            throw error
        }
        remove(old.subtracting(copy.names), of: path)
    }

    /// Moves a store that nobody has open to where there is none.
    ///
    /// ```
    ///  external files moved ──▶ database written to the disk ──▶ renamed
    /// ```
    /// A process that dies in between leaves the store where it was or where it is to be, whole, or files that no row names.
    ///
    /// - Throws: ``PlaceTaken`` where a store is there by now; it is then as it was.
    package func move(_ source: DatabaseOptions, to destination: DatabaseOptions) throws {
        guard let path = source.path, let target = destination.path else { return }
        // What a log still has is only in the database when that was copied. A log that is left at the destination would be taken for the
        // new file's by SQLite, unless SQLite makes that.
        let isFree = ["", "-wal", "-journal"].allSatisfy { FileSize.of(target + $0) == nil }
        guard FileSize.of(path + "-wal") ?? 0 == 0, isFree else {
            try replace(destination, with: source, isNew: true)
            try destroy(source)
            return FileSize.removeDatabase(path)
        }
        let manager = FileManager.default
        let (from, to) = (ExternalData(storePath: path), ExternalData(storePath: target))
        let names = Set(from.files()?.keys.map { $0 } ?? [])
        if !names.isEmpty, let folder = to.folder {
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in names {
                guard let old = from.path(of: name), let new = to.path(of: name) else { continue }
                if manager.fileExists(atPath: new) { try manager.removeItem(atPath: new) }
                try manager.moveItem(atPath: old, toPath: new)
            }
        }
        removeExternalData(of: path)
        guard let file = StoreFileDescriptor(path, O_RDWR), fsync(file.number) == 0 else {
            throw Self.notPut(target, errno)
        }
        let code = ExclusiveRename.move(path, to: target)
        guard code == 0 else {
            remove(names, of: target)
            throw code == EEXIST ? PlaceTaken() : Self.notPut(target, code)
        }
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        let folder = open(URL(fileURLWithPath: target).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        defer { close(folder) }
        // Some file systems have nothing to say to that.
        fsync(folder)
    }

    private static func notPut(_ path: String, _ code: Int32) -> StoreFailure {
        StoreFailure(.cannotOpen, "The store cannot be put at '\(path)': \(String(cString: strerror(code))).")
    }

    // MARK: External data

    private func remove(_ names: Set<String>, of store: String) {
        guard let folder = ExternalData(storePath: store).folder else { return }
        for name in names { try? FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
    }

    private func removeExternalData(of store: String) {
        let external = ExternalData(storePath: store)
        guard let folder = external.folder, !external.isShared else { return }
        try? FileManager.default.removeItem(at: URL(fileURLWithPath: folder).deletingLastPathComponent())
    }

    // MARK: Checks

    /// Somebody else's database is not taken for a store; what is empty or damaged may have been one.
    private func checkIsNoOtherDatabase(_ options: DatabaseOptions) throws {
        do {
            _ = try StoreEngine.metadata(options: options, makeDatabase: makeDatabase)
        } catch let failure as StoreFailure where failure.kind == .notAStore {
            var empty = options
            empty.isReadOnly = true
            let tables = try? makeDatabase(empty).read { try StoreCatalog.read($0).isEmpty }
            if FileSize.of(options.path) != 0, tables == false { throw failure }
        } catch {}
    }

    private static func readOnly(_ path: String) -> StoreFailure {
        StoreFailure(.readOnly, "The store\(StoreFailure.quoted(path)) is to be read only: it is left as it is.")
    }
}
