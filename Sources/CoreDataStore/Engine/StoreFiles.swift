import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// A store is, or was made meanwhile, where one was to be put.
package struct PlaceTaken: EngineFailure {
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
        guard FileSize.of(path) != nil else { return removeExternalData(of: path) { FileSize.of(path) == nil } }
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
    ///  source's files kept from going ──▶ external files of the source copied ──▶ destination locked ──▶ database replaced, in one
    ///      transaction ──▶ external files of the old removed ──▶ unlocked
    /// ```
    /// A process that dies in between leaves the old or the new store, and perhaps files that no row names. The caller sees to it that no
    /// other process does the same to a store with this folder at the same time: it would take files that are copied for its own, and
    /// they are removed where this one fails.
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
        // Of a folder that others have too only what is certainly the destination's goes; that is read while it can be.
        let own = known.isShared ? known.ownFiles(of: destination, makeDatabase: makeDatabase) : nil
        var old: Set<String> = []
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
                    try driver.replace(
                        destination, with: source, ifStill: noted,
                        beforeCopy: {
                            // The destination is locked: nobody makes a store there, or saves to it, from now on.
                            if isNew, FileSize.of(path) ?? 0 > 0 { throw PlaceTaken() }
                            let files = Set(known.files().map { Array($0.keys) } ?? [])
                            old = own ?? (known.isShared ? [] : files)
                            try copy.runHoldingSource()
                        }, afterCopy: { remove(old.subtracting(copy.names), of: path) })
                }
                do { try replace() } catch is ExternalDataCopy.SourceChanged { try replace() }
            }
        } catch {
            copy.undo()
            if !(hadFolder ?? false) { removeEmptyFolders(of: path) }
            throw error
        }
    }

    /// Moves a store that no process has open to where there is none.
    ///
    /// ```
    ///  external files moved ──▶ database written to the disk ──▶ renamed, unless there is a store by now
    /// ```
    /// A process that dies in between leaves the store where it was or where it is to be, whole, or files that no row names. The caller
    /// sees to it that no other process does the same at the same time, as for ``replace(_:with:ifStill:isNew:)``.
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
        let moved = try moveFiles(of: path, to: target)
        var code = Self.synchronize(path)
        if code == 0 { code = ExclusiveRename.move(path, to: target) }
        guard code == 0 else {
            remove(moved, of: target)
            throw code == EEXIST ? PlaceTaken() : Self.notPut(target, code)
        }
        removeExternalData(of: path)
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        let folder = open(URL(fileURLWithPath: target).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        defer { close(folder) }
        // Some file systems have nothing to say to that.
        fsync(folder)
    }

    /// Moves the files of external data.
    ///
    /// - Returns: the files that were not there before.
    private func moveFiles(of path: String, to target: String) throws -> Set<String> {
        let manager = FileManager.default
        let (from, to) = (ExternalData(storePath: path), ExternalData(storePath: target))
        guard let names = from.files()?.keys, !names.isEmpty, let folder = to.folder else { return [] }
        try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var moved: Set<String> = []
        do {
            for name in names {
                guard let old = from.path(of: name), let new = to.path(of: name) else { continue }
                let isNew = FileSize.of(new) == nil
                // What is there under a name of the same file is the same, or a part of it.
                if rename(old, new) != 0 {
                    if !isNew { try manager.removeItem(atPath: new) }
                    try manager.moveItem(atPath: old, toPath: new)
                }
                if isNew { moved.insert(name) }
            }
        } catch {
            remove(moved, of: target)
            throw error
        }
        return moved
    }

    /// Has the file's bytes written to the disk.
    ///
    /// - Returns: 0, or what went wrong as the system tells it (`errno`).
    private static func synchronize(_ path: String) -> Int32 {
        guard let file = StoreFileDescriptor(path, O_RDWR) else { return errno }
        return withExtendedLifetime(file) { fsync(file.number) == 0 ? 0 : errno }
    }

    private static func notPut(_ path: String, _ code: Int32) -> StoreFailure {
        StoreFailure(.cannotOpen, "The store cannot be put at '\(path)': \(String(cString: strerror(code))).")
    }

    // MARK: External data

    private func remove(_ names: Set<String>, of store: String) {
        guard let folder = ExternalData(storePath: store).folder else { return }
        for name in names { try? FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
    }

    /// Removes all that is in the folder of external data, unless another store has that folder too.
    ///
    /// What is there is listed first: a store that another process makes meanwhile has files that came later, which stay.
    ///
    /// - Parameter isGone: whether the store is still not there.
    private func removeExternalData(of store: String, if isGone: () -> Bool = { true }) {
        let external = ExternalData(storePath: store)
        guard let folder = external.folder else { return }
        func paths(in folder: String) -> [String] {
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
            return (names ?? []).map { "\(folder)/\($0)" }
        }
        let parts = [folder, external.formerFolder ?? folder]
        let all =
            paths(in: (folder as NSString).deletingLastPathComponent).filter { !parts.contains($0) }
            + parts.flatMap(paths)
        guard isGone(), !external.isShared else { return }
        for path in all { try? FileManager.default.removeItem(atPath: path) }
        removeEmptyFolders(of: store)
    }

    /// Removes the folders where nothing is in them; what other processes write there meanwhile stays.
    private func removeEmptyFolders(of store: String) {
        let external = ExternalData(storePath: store)
        guard let folder = external.folder else { return }
        for folder in [folder, external.formerFolder ?? folder, (folder as NSString).deletingLastPathComponent] {
            rmdir(folder)
        }
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
