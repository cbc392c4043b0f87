import CoreDataModel
import CoreDataPrimitives
import Foundation
import Synchronization

/// Keeps the rows of a ``MemoryEngine`` in one file, which every save rewrites.
///
///     let store = try AtomicStore.open(XMLStoreFormat.self, model: model, options: options)
///     store.engine        // the source of its rows
///
/// Two stores on the same file do not overwrite each other's rows: a save fails if another store has written the file
/// since it was read.
package final class AtomicStore: FileBacking {
    /// The options for opening a store.
    package struct Options: Sendable {
        package var path: String
        package var configuration: String?
        package var isReadOnly = false
        package var ignoresModelVersioning = false
        /// The seconds to wait for another writer of the file.
        package var timeout: Double = 240
        /// The clock for times in rows.
        package var clock = StoreClock.system

        package init(path: String) { self.path = path }
    }

    private struct State {
        var file: AtomicFile
        /// The state of the file at the last read or write; `nil` if the next save creates it.
        var stamp: AtomicFile.Stamp?
    }

    private let format: any AtomicFormat.Type
    private let entities: [Int]
    private let state: Mutex<State>

    private init(_ format: any AtomicFormat.Type, _ file: AtomicFile, _ stamp: AtomicFile.Stamp, entities: [Int]) {
        self.format = format
        self.entities = entities
        state = Mutex(State(file: file, stamp: stamp))
    }

    // MARK: Opening

    /// Reads the store, or creates one if the file is missing or empty.
    ///
    /// - Throws: ``StoreFailure``, ``AtomicFileFailure``. A store that could not be created leaves no files.
    package static func open(
        _ format: any AtomicFormat.Type, model: CompiledModel, options: Options
    ) throws -> MemoryEngine {
        guard let members = model.entities(inConfiguration: options.configuration) else {
            let known = model.configurations.keys.sorted().joined(separator: ", ")
            throw StoreFailure(
                .unknownConfiguration,
                "The model has no configuration '\(options.configuration ?? "")'. It has: \(known.isEmpty ? "none" : known)."
            )
        }
        let entities = members.map(\.ordinal)
        try format.check(model, entities: entities)
        var file = AtomicFile(path: options.path)
        file.timeout = options.timeout
        let isThere = FileSize.of(file.path) != nil
        guard isThere || !options.isReadOnly else { throw StoreFailure.missing(file.path) }
        if !isThere {
            do {
                return try make(format, file, model, entities, options.clock, isEmptyFile: false)
            } catch let failure as AtomicFileFailure where failure.kind == .exists {}
        }
        return try read(format, file, model, entities, options)
    }

    private static func make(
        _ format: any AtomicFormat.Type, _ file: AtomicFile, _ model: CompiledModel, _ entities: [Int],
        _ clock: StoreClock, isEmptyFile: Bool
    ) throws -> MemoryEngine {
        var contents = MemoryContents(model: model)
        contents.metadata = try StoreMetadata.made(for: model, entities: entities, type: format.storeType)
        if format.keyBeforeFirst > 0 { contents.lastKeys[-1] = format.keyBeforeFirst }
        do {
            let stamp =
                try isEmptyFile
                ? file.replace(nil) { try format.write(contents, entities: entities, to: $0) }
                : file.create { try format.write(contents, entities: entities, to: $0) }
            let store = AtomicStore(format, file, stamp, entities: entities)
            return try MemoryEngine(
                contents, entities: entities, sharesKeys: format.sharesKeys, backing: store, clock: clock)
        } catch let failure as AtomicFileFailure where failure.kind == .missing {
            throw StoreFailure.missing(file.path)
        }
    }

    private static func read(
        _ format: any AtomicFormat.Type, _ file: AtomicFile, _ model: CompiledModel, _ entities: [Int],
        _ options: Options
    ) throws -> MemoryEngine {
        let (data, stamp) = try file.read()
        if data.isEmpty, !options.isReadOnly {
            return try make(format, file, model, entities, options.clock, isEmptyFile: true)
        }
        let row = try format.metadata(in: data, path: file.path)
        try check(row, format, model, entities, options)
        var contents = try format.contents(in: data, model: model, entities: entities, path: file.path)
        contents.metadata = try format.complete(contents.metadata, model, entities)
        if row.metadata.identification.isFormer(of: model, entities: entities) {
            // The rest of the file is compatible: the next save writes the current hashes.
            contents.metadata = try contents.metadata.rehashed(for: model, entities: entities)
        }
        let store = AtomicStore(format, file, stamp, entities: entities)
        return try MemoryEngine(
            contents, entities: entities, isReadOnly: options.isReadOnly, sharesKeys: format.sharesKeys, backing: store,
            clock: options.clock)
    }

    private static func check(
        _ row: MetadataRow, _ format: any AtomicFormat.Type, _ model: CompiledModel, _ entities: [Int],
        _ options: Options
    ) throws {
        let identification = row.metadata.identification
        if let version = identification.versionHashesVersion, version > 3 {
            var failure = StoreFailure(
                .newerFormat,
                "The store '\(options.path)' was made by a newer Core Data: its version hashes are of version \(version), known is 3."
            )
            failure.metadata = row
            throw failure
        }
        guard !options.ignoresModelVersioning, let mismatch = identification.mismatch(with: model, entities: entities),
            !identification.isFormer(of: model, entities: entities)
        else { return }
        var failure = StoreFailure(
            .incompatibleModel,
            "The store '\(options.path)' was made with another version of the model (\(mismatch.description)). Migrate the store, or open it with the model that it was made with."
        )
        failure.mismatch = mismatch
        failure.metadata = row
        throw failure
    }

    // MARK: Saving

    package func write(_ contents: MemoryContents, after changes: ChangeSet) throws {
        try state.withLock { state in
            func fill(_ writer: AtomicFileWriter) throws {
                try format.write(contents, entities: entities, to: writer)
            }
            let isThere = state.stamp != nil
            state.stamp = try isThere ? state.file.replace(state.stamp, fill) : state.file.create(fill)
        }
    }

    /// Changes the store's file. The path may contain a copy with this store's rows, or no file: then the next save
    /// creates it.
    ///
    /// - Throws: if the path contains another file, or its folder does not exist.
    package func move(to path: String) throws {
        try state.withLock { state in
            var file = AtomicFile(path: path)
            file.timeout = state.file.timeout
            if FileSize.of(file.path) == nil, FileSize.isFolder(file.folder) {
                state = State(file: file, stamp: nil)
                return
            }
            let (data, stamp) = try file.read()
            guard data.count > 0, stamp.digest == state.stamp?.digest else {
                throw StoreFailure(
                    .notAStore, "The file '\(path)' is no copy of '\(state.file.path)' as it was last read or saved.")
            }
            state = State(file: file, stamp: stamp)
        }
    }

    package func close() {}

    // MARK: Closed files

    package static func metadata(_ format: any AtomicFormat.Type, path: String) throws -> MetadataRow {
        let file = AtomicFile(path: path)
        guard FileSize.of(file.path) != nil else { throw StoreFailure.missing(path) }
        return try format.metadata(in: file.read().data, path: path)
    }

    /// Writes the user's dictionary, adding the store's required keys and removing the UUID.
    package static func setMetadata(
        _ metadata: StoreMetadata, _ format: any AtomicFormat.Type, path: String
    ) throws {
        let file = AtomicFile(path: path)
        guard FileSize.of(file.path) != nil else { throw StoreFailure.missing(path) }
        let (data, stamp) = try file.read()
        let old = try format.metadata(in: data, path: path)
        var dictionary = metadata.dictionary
        let identifier = dictionary.removeValue(forKey: StoreMetadata.Key.identifier) as? String ?? old.identifier
        let kept = old.metadata.dictionary
        for key in StoreMetadata.Key.kept where dictionary[key] == nil { dictionary[key] = kept[key] }
        let new = MetadataRow(identifier: identifier, metadata: try StoreMetadata(dictionary: dictionary))
        _ = try file.replace(stamp) { try format.write(new, replacingThoseIn: data, path: path, to: $0) }
    }

    /// Records in the metadata the migration stage that is in progress; `nil` for none.
    package static func setStage(_ stage: String?, _ format: any AtomicFormat.Type, path: String) throws {
        let file = AtomicFile(path: path)
        let (data, stamp) = try file.read()
        let row = try format.metadata(in: data, path: path)
        guard row.stage != stage else { return }
        let new = try row.inStage(stage)
        _ = try file.replace(stamp) { try format.write(new, replacingThoseIn: data, path: path, to: $0) }
    }

    /// Deletes a store; does nothing if the file does not exist.
    package static func destroy(_ format: any AtomicFormat.Type, path: String) throws {
        let file = AtomicFile(path: path)
        guard FileSize.of(file.path) != nil else { return }
        try checkIsOne(format, file)
        try file.remove()
    }

    /// Replaces the store at `path`, if it exists, by a copy of the one at `source`.
    ///
    /// - Parameter known: the expected state of the file; `nil` for any state.
    package static func replace(
        _ format: any AtomicFormat.Type, path: String, with source: String, ifStill known: AtomicFile.Stamp? = nil
    ) throws {
        let file = AtomicFile(path: path)
        let (data, _) = try AtomicFile(path: source).read()
        _ = try format.metadata(in: data, path: source)
        if FileSize.of(file.path) != nil {
            try checkIsOne(format, file)
            _ = try file.replace(known) { try $0.write(data) }
        } else {
            _ = try file.create { try $0.write(data) }
        }
    }

    /// Copies the store at `source` to a path without a file, or with an empty one.
    ///
    /// - Throws: ``PlaceTaken`` if a file exists by now; it is then unchanged.
    package static func put(_ source: String, at path: String) throws {
        let file = AtomicFile(path: path)
        let (data, _) = try AtomicFile(path: source).read()
        do {
            _ = try file.create { try $0.write(data) }
        } catch let failure as AtomicFileFailure where failure.kind == .exists {
            let (found, stamp) = try file.read()
            guard found.isEmpty else { throw PlaceTaken() }
            do { _ = try file.replace(stamp) { try $0.write(data) } } catch let failure as AtomicFileFailure
                where failure.kind == .changed
            { throw PlaceTaken() }
        }
    }

    /// Refuses files of other programs; an empty or damaged file may have been a store.
    private static func checkIsOne(_ format: any AtomicFormat.Type, _ file: AtomicFile) throws {
        let start = try file.read(atMost: 512).data
        if start.isEmpty || format.begins(start) { return }
        throw format.otherKind(start, path: file.path) ?? format.damaged(file.path, "it begins like no such store")
    }
}
