import CoreDataSQL
import Foundation

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
        try StoreFailure.translated(path) {
            try driver.empty(options) { removeExternalData(of: path) }
        }
    }

    /// Makes the store at `destination`, if there is one, the same as that at `source`, which may be in use.
    ///
    /// ```
    ///  external files of the source copied ──▶ database replaced, in one transaction ──▶ external files of the old removed
    /// ```
    /// A process that dies in between leaves the old or the new store, and perhaps files that no row names.
    ///
    /// - Throws: ``StoreFailure`` for what is no store, ``SQLFailure`` for a destination that somebody has open. The
    ///   destination is then as it was.
    package func replace(_ destination: DatabaseOptions, with source: DatabaseOptions) throws {
        guard let path = destination.path, let sourcePath = source.path else { return }
        guard !destination.isReadOnly else { throw Self.readOnly(path) }
        let known = ExternalData(storePath: path)
        let old = Set(known.files()?.keys.map { $0 } ?? [])
        let hadFolder = known.folder.map {
            FileManager.default.fileExists(atPath: ($0 as NSString).deletingLastPathComponent)
        }
        var copied: Set<String> = []
        if FileSize.of(path) != nil { try checkIsNoOtherDatabase(destination) }
        do {
            try StoreFailure.translated(path) {
                // Also before the source's state is held: a save may remove what that still names before it is copied. Where there is no
                // folder for the store none is made for its files.
                if access((path as NSString).deletingLastPathComponent, W_OK) == 0 {
                    copied = try copyExternalData(of: sourcePath, to: path, but: old)
                }
                try driver.replace(destination, with: source) {
                    let early = copied
                    copied.formUnion(try copyExternalData(of: sourcePath, to: path, but: old.union(early)))
                }
            }
        } catch {
            if hadFolder ?? false { remove(copied.subtracting(old), of: path) } else { removeExternalData(of: path) }
            throw error
        }
        remove(old.subtracting(copied), of: path)
    }

    /// Moves a store that nobody has open to where there is none.
    ///
    /// ```
    ///  external files moved ──▶ database written to the disk ──▶ renamed
    /// ```
    /// A process that dies in between leaves the store where it was or where it is to be, whole, or files that no row names.
    package func move(_ source: DatabaseOptions, to destination: DatabaseOptions) throws {
        guard let path = source.path, let target = destination.path else { return }
        // What a log still has is only in the database when that was copied.
        guard FileSize.of(path + "-wal") ?? 0 == 0, FileSize.of(target) == nil else {
            try replace(destination, with: source)
            try destroy(source)
            return FileSize.removeDatabase(path)
        }
        let manager = FileManager.default
        let (from, to) = (ExternalData(storePath: path), ExternalData(storePath: target))
        if let names = from.files()?.keys, !names.isEmpty, let folder = to.folder {
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in names {
                guard let old = from.path(of: name), let new = to.path(of: name) else { continue }
                if manager.fileExists(atPath: new) { try manager.removeItem(atPath: new) }
                try manager.moveItem(atPath: old, toPath: new)
            }
        }
        removeExternalData(of: path)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.synchronize()
        try file.close()
        guard rename(path, target) == 0 else {
            throw StoreFailure(
                .cannotOpen, "The store cannot be put at '\(target)': \(String(cString: strerror(errno))).")
        }
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        let folder = open(URL(fileURLWithPath: target).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        defer { close(folder) }
        // Some file systems have nothing to say to that.
        fsync(folder)
    }

    // MARK: External data

    /// Copies the files that are not there yet; files are never changed once they are written.
    ///
    /// - Returns: the names of the source's files.
    private func copyExternalData(of source: String, to destination: String, but old: Set<String>) throws -> Set<String>
    {
        guard let from = ExternalData(storePath: source).folder, let to = ExternalData(storePath: destination).folder,
            let files = ExternalData(storePath: source).files(), !files.isEmpty
        else { return [] }
        var copied: Set<String> = []
        do {
            try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
            for name in files.keys {
                // One of that name and size is the same; another size has what a process left that died in the midst of it.
                if !old.contains(name) || FileSize.of("\(from)/\(name)") != FileSize.of("\(to)/\(name)") {
                    try copy("\(from)/\(name)", to: "\(to)/\(name)")
                }
                copied.insert(name)
            }
        } catch {
            remove(copied.subtracting(old), of: destination)
            throw ExternalDataFailure(.unwritable, file: to, reason: error.localizedDescription)
        }
        return copied
    }

    /// Under another name first, so that a file which has its name is whole.
    private func copy(_ source: String, to destination: String) throws {
        let partial = URL(fileURLWithPath: destination).deletingLastPathComponent().path + "/\(UUID().uuidString)"
        do {
            try FileManager.default.copyItem(atPath: source, toPath: partial)
        } catch {
            unlink(partial)
            // A save of the source removed it meanwhile, or it was missing before: no row that is copied has lost by that.
            guard FileManager.default.fileExists(atPath: source) else { return }
            throw error
        }
        if let file = FileHandle(forUpdatingAtPath: partial) {
            defer { try? file.close() }
            try file.synchronize()
        }
        guard rename(partial, destination) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(partial)
            throw ExternalDataFailure(.unwritable, file: destination, reason: reason)
        }
    }

    private func remove(_ names: Set<String>, of store: String) {
        guard let folder = ExternalData(storePath: store).folder else { return }
        for name in names { try? FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
    }

    private func removeExternalData(of store: String) {
        guard let folder = ExternalData(storePath: store).folder else { return }
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
