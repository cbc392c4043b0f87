import Foundation
import SwiftData

/// Where a ``JSONStore`` is.
struct JSONStoreConfiguration: DataStoreConfiguration {
    typealias Store = JSONStore

    var name: String
    var schema: Schema?
    var fileURL: URL
    /// What is special about the store, for tests.
    var abilities: Set<Ability> = []

    enum Ability { case failsToSave }

    init(name: String = "JSON", schema: Schema? = nil, fileURL: URL, abilities: Set<Ability> = []) {
        self.name = name
        self.schema = schema
        self.fileURL = fileURL
        self.abilities = abilities
    }

    static func == (one: JSONStoreConfiguration, other: JSONStoreConfiguration) -> Bool {
        one.name == other.name && one.fileURL == other.fileURL
    }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A store that is one JSON file with all models: it is read for each fetch, and written for each save.
///
///     let container = try ModelContainer(for: Trip.self, configurations: JSONStoreConfiguration(fileURL: file))
///
/// Filtering and sorting are left to the module.
final class JSONStore: DataStore {
    typealias Configuration = JSONStoreConfiguration
    typealias Snapshot = DefaultSnapshot

    struct Failure: Error {}

    let configuration: JSONStoreConfiguration
    let schema: Schema
    let identifier: String
    /// What it was asked for, for tests.
    private(set) var log: [String] = []

    init(_ configuration: JSONStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
        identifier = configuration.fileURL.lastPathComponent
    }

    // MARK: Fetching

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        let descriptor = request.descriptor
        log.append(
            "fetch \(T.self)" + (descriptor.predicate == nil ? "" : " filtered")
                + (descriptor.sortBy.isEmpty ? "" : " sorted") + (descriptor.fetchLimit.map { " limit \($0)" } ?? ""))
        if descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let all = try read()
        let name = Schema.entityName(for: T.self)
        let own = all.values.filter { $0.persistentIdentifier.entityName == name }
            .sorted { $0.persistentIdentifier < $1.persistentIdentifier }
            .dropFirst(descriptor.fetchOffset ?? 0)
        return DataStoreFetchResult(
            descriptor: descriptor, fetchedSnapshots: Array(own.prefix(descriptor.fetchLimit ?? own.count)),
            relatedSnapshots: all)
    }

    func initializeState(for editingState: EditingState) { log.append("begin") }
    func invalidateState(for editingState: EditingState) { log.append("end") }

    // MARK: Saving

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        let author = request.editingState.author.map { " by \($0)" } ?? ""
        log.append("save +\(request.inserted.count) ~\(request.updated.count) -\(request.deleted.count)\(author)")
        if configuration.abilities.contains(.failsToSave) { throw Failure() }
        var snapshots = try read()
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let temporary = snapshot.persistentIdentifier
            remapped[temporary] = try PersistentIdentifier.identifier(
                for: identifier, entityName: temporary.entityName, primaryKey: UUID())
        }
        for snapshot in request.inserted + request.updated {
            let identifier = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            // New models refer to each other by their temporary identifiers.
            snapshots[identifier] = snapshot.copy(persistentIdentifier: identifier, remappedIdentifiers: remapped)
        }
        for snapshot in request.deleted { snapshots[snapshot.persistentIdentifier] = nil }
        try write(snapshots)
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
    }

    func erase() throws { try write([:]) }

    // MARK: The file

    func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
        guard FileManager.default.fileExists(atPath: configuration.fileURL.path) else { return [:] }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let snapshots = try decoder.decode([DefaultSnapshot].self, from: Data(contentsOf: configuration.fileURL))
        return Dictionary(uniqueKeysWithValues: snapshots.map { ($0.persistentIdentifier, $0) })
    }

    private func write(_ snapshots: [PersistentIdentifier: DefaultSnapshot]) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let sorted = snapshots.values.sorted { $0.persistentIdentifier < $1.persistentIdentifier }
        try encoder.encode(sorted).write(to: configuration.fileURL, options: .atomic)
    }
}
