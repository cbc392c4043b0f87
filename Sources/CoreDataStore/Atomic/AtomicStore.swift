import CoreDataModel
import CoreDataPrimitives
import Foundation
import Synchronization

/// Keeps the rows of a ``MemoryEngine`` in one file, which every save writes anew.
///
///     let store = try AtomicStore.open(XMLStoreFormat.self, model: model, options: options)
///     store.engine        // the source of its rows
///
/// Two that save to one file do not overwrite each other's rows: who has not read what the other wrote fails.
package final class AtomicStore: FileBacking {
    /// How a store is opened.
    package struct Options: Sendable {
        package var path: String
        package var configuration: String?
        package var isReadOnly = false
        package var ignoresModelVersioning = false
        /// How many seconds to wait for somebody who is writing the file.
        package var timeout: Double = 240
        /// Where times come from that the rows have.
        package var clock = StoreClock.system

        package init(path: String) { self.path = path }
    }

    private struct State {
        var file: AtomicFile
        /// What the file was when it was last read or written; `nil` where the next save makes it.
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

    /// Reads the store, or makes one where there is no file or an empty one.
    ///
    /// - Throws: ``StoreFailure``, ``AtomicFileFailure``. Nothing is left of a store that could not be made.
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
            // Nothing else in the file is otherwise: the next save writes today's hashes.
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

    /// The store lies there from now on, with what is in it: a copy with this one's rows, or where nothing is yet a file that the next save makes.
    ///
    /// - Throws: where something else is, or no folder for it.
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

    // MARK: Files that nobody has open

    package static func metadata(_ format: any AtomicFormat.Type, path: String) throws -> MetadataRow {
        let file = AtomicFile(path: path)
        guard FileSize.of(file.path) != nil else { throw StoreFailure.missing(path) }
        return try format.metadata(in: file.read().data, path: path)
    }

    /// Writes the dictionary of the user, who may have left out what the store needs and may have put the UUID in.
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

    /// Notes in a store which stage it is in the middle of; `nil` for none.
    package static func setStage(_ stage: String?, _ format: any AtomicFormat.Type, path: String) throws {
        let file = AtomicFile(path: path)
        let (data, stamp) = try file.read()
        let row = try format.metadata(in: data, path: path)
        guard row.stage != stage else { return }
        let new = try row.inStage(stage)
        _ = try file.replace(stamp) { try format.write(new, replacingThoseIn: data, path: path, to: $0) }
    }

    /// Takes a store away; where there is no file there is nothing to do.
    package static func destroy(_ format: any AtomicFormat.Type, path: String) throws {
        let file = AtomicFile(path: path)
        guard FileSize.of(file.path) != nil else { return }
        try checkIsOne(format, file)
        try file.remove()
    }

    /// Makes the store at `path`, if there is one, the same as that at `source`.
    ///
    /// - Parameter known: what the file must still be; `nil` for whatever is there.
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

    /// Puts a copy of the store at `source` where there is none, or an empty file.
    ///
    /// - Throws: ``PlaceTaken`` where something is there by now; it is then as it was.
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

    /// Somebody else's file is not taken for a store; what is empty or damaged may have been one.
    private static func checkIsOne(_ format: any AtomicFormat.Type, _ file: AtomicFile) throws {
        let start = try file.read(atMost: 512).data
        if start.isEmpty || format.begins(start) { return }
        throw format.otherKind(start, path: file.path) ?? format.damaged(file.path, "it begins like no such store")
    }
}
