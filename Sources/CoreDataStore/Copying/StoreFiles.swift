import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// Operations on whole stores in files: the database and the folder of its external data.
package struct StoreFiles {
    package let driver: any SQLDatabaseFile.Type
    let makeDatabase: DatabaseFactory

    package init(_ driver: any SQLDatabaseFile.Type, makeDatabase: @escaping DatabaseFactory) {
        self.driver = driver
        self.makeDatabase = makeDatabase
    }

    /// Deletes a store: it leaves an empty file, which other processes may be about to open, and no external data.
    ///
    /// It does nothing if the file does not exist.
    ///
    /// - Throws: ``StoreFailure`` for a file that is not a store, ``SQLFailure`` for a store that is open.
    package func destroy(_ options: DatabaseOptions) throws {
        guard let path = options.path else { return }
        guard !options.isReadOnly else { throw Self.readOnly(path) }
        guard FileSize.of(path) != nil else {
            // A file that was just deleted must not come back without its external data.
            let code = DurableFiles.synchronize(folder: URL(fileURLWithPath: path).deletingLastPathComponent().path)
            guard [0, ENOENT, ENOTDIR].contains(code) else { throw Self.notPut(path, code) }
            return removeExternalData(of: path) { FileSize.of(path) == nil }
        }
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

    /// Replaces the store at `destination`, if it exists, by a copy of the one at `source`, which may be in use.
    ///
    /// ```
    ///  keep the source's files ──▶ copy its external files ──▶ lock the destination ──▶ replace the database, in one
    ///      transaction ──▶ delete the old external files ──▶ unlock
    /// ```
    /// After a crash, the destination is the old or the new store, possibly with external files that no row names. The
    /// caller must ensure that no other process replaces a store with this folder at the same time: such a process
    /// would treat the copied files as its own, and this function deletes them on failure.
    ///
    /// - Parameters:
    ///   - noted: the expected state of the destination.
    ///   - isNew: whether there must be no store at the destination.
    /// - Throws: ``StoreFailure`` if the source is not a store; ``SQLFailure`` for an open destination;
    ///   `DatabaseChanged` if it has changed; ``PlaceTaken`` if a store exists and must not. The destination is then
    ///   unchanged.
    package func replace(
        _ destination: DatabaseOptions, with source: DatabaseOptions, ifStill noted: (any NotedDatabase)? = nil,
        isNew: Bool = false
    ) throws {
        guard let path = destination.path, let sourcePath = source.path else { return }
        guard !destination.isReadOnly else { throw Self.readOnly(path) }
        if FileSize.of(path) != nil { try checkIsNoOtherDatabase(destination) }
        let known = ExternalData(storePath: path)
        // From a folder that other stores share, delete only the destination's own files; their names must be read
        // before the replacement.
        let own = known.isShared ? known.ownFiles(of: destination, makeDatabase: makeDatabase) : nil
        var old: Set<String> = []
        let hadFolder = known.folder.map {
            FileManager.default.fileExists(atPath: ($0 as NSString).deletingLastPathComponent)
        }
        var copy = ExternalDataCopy(from: ExternalData(storePath: sourcePath), to: known)
        do {
            try StoreFailure.translated(path) {
                // Copy before pinning the source's state, to keep the pinned phase short. Do not create a folder for
                // the files if the store's folder does not exist.
                if access((path as NSString).deletingLastPathComponent, W_OK) == 0 { try copy.run() }
                func replace() throws {
                    try driver.replace(
                        destination, with: source, ifStill: noted,
                        beforeCopy: {
                            // The destination is locked: from now on no other process creates a store there or saves to
                            // it.
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

    /// Moves a closed store to a path without a store.
    ///
    /// ```
    ///  link the external files ──▶ flush them and the database to disk ──▶ rename it, unless a store exists by now
    /// ```
    /// After a crash, the complete store is at the old or the new path, possibly with external files that no row names.
    /// The caller must exclude other processes, as for ``replace(_:with:ifStill:isNew:)``.
    ///
    /// - Throws: ``PlaceTaken`` if a store exists at the destination by now; it is then unchanged.
    package func move(_ source: DatabaseOptions, to destination: DatabaseOptions) throws {
        guard let path = source.path, let target = destination.path else { return }
        // Copying the database also includes the content of its log. SQLite would treat a remaining log at the
        // destination as that of the new file, unless SQLite itself creates the file.
        let isFree = ["", "-wal", "-journal"].allSatisfy { FileSize.of(target + $0) == nil }
        guard FileSize.of(path + "-wal") ?? 0 == 0, isFree else {
            try replace(destination, with: source, isNew: true)
            try destroy(source)
            return FileSize.removeDatabase(path)
        }
        let moved = try linkFiles(of: path, to: target)
        var code = Self.synchronize(path)
        if code == 0 { code = ExclusiveRename.move(path, to: target) }
        guard code == 0 else {
            remove(moved, of: target)
            throw code == EEXIST ? PlaceTaken() : Self.notPut(target, code)
        }
        // The new place must be on the disk before the files of the old one are deleted.
        let isDurable =
            DurableFiles.synchronize(folder: URL(fileURLWithPath: target).deletingLastPathComponent().path) == 0
        if isDurable { removeExternalData(of: path) }
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    }

    /// Gives the external data files second names at the target. File systems without hard links get copies.
    ///
    /// - Returns: the files that did not exist before.
    private func linkFiles(of path: String, to target: String) throws -> Set<String> {
        let (from, to) = (ExternalData(storePath: path), ExternalData(storePath: target))
        guard let names = from.files()?.keys, !names.isEmpty, let folder = to.folder else { return [] }
        var linked: Set<String> = []
        do {
            try DurableFiles.makeFolder(folder)
            for name in names {
                guard let old = from.path(of: name), let new = to.path(of: name) else { continue }
                let isNew = FileSize.of(new) == nil
                // A file with the same name is identical, or an incomplete copy.
                if !isNew { unlink(new) }
                if isNew { linked.insert(name) }
                if link(old, new) != 0 { _ = try PartialFile.copy(old, to: new) }
            }
            let code = DurableFiles.synchronize(folder: folder)
            guard code == 0 else { throw PartialFile.failure(code) }
        } catch {
            remove(linked, of: target)
            throw ExternalDataFailure(writing: folder, error)
        }
        return linked
    }

    /// Flushes the file to disk.
    ///
    /// - Returns: 0, or the error number (`errno`).
    private static func synchronize(_ path: String) -> Int32 {
        guard let file = StoreFileDescriptor(path, O_RDWR) else { return errno }
        return withExtendedLifetime(file) { fsync(file.number) == 0 ? 0 : errno }
    }

    private static func notPut(_ path: String, _ code: Int32) -> StoreFailure {
        StoreFailure(
            .cannotOpen, "The files of the store at '\(path)' cannot be changed: \(String(cString: strerror(code))).")
    }

    // MARK: External data

    private func remove(_ names: Set<String>, of store: String) {
        guard let folder = ExternalData(storePath: store).folder else { return }
        for name in names { try? FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
    }

    /// Deletes all files in the folder of external data, unless another store shares the folder.
    ///
    /// The files are listed first: a store that another process creates meanwhile has newer files, which are kept.
    ///
    /// - Parameter isGone: returns whether the store still does not exist.
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

    /// Deletes the folders if they are empty; new files of other processes are kept.
    private func removeEmptyFolders(of store: String) {
        let external = ExternalData(storePath: store)
        guard let folder = external.folder else { return }
        for folder in [folder, external.formerFolder ?? folder, (folder as NSString).deletingLastPathComponent] {
            rmdir(folder)
        }
    }

    // MARK: Checks

    /// Refuses databases of other programs; an empty or damaged file may have been a store.
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
