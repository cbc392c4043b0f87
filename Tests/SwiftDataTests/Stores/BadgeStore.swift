import Foundation
import SwiftData

@Model final class Badge {
    var name: String
    var number = 0

    init(name: String) { self.name = name }
}

/// A snapshot of an app's own type.
struct BadgeSnapshot: DataStoreSnapshot {
    var persistentIdentifier: PersistentIdentifier
    var name = ""
    var number = 0

    init(
        from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
    ) {
        guard let badge = backingData as? any BackingData<Badge>, let identifier = badge.persistentModelID else {
            preconditionFailure("The store has badges only.")
        }
        persistentIdentifier = identifier
        name = badge.getValue(forKey: \.name)
        number = badge.getValue(forKey: \.number)
    }

    func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> BadgeSnapshot {
        var copy = self
        copy.persistentIdentifier = persistentIdentifier
        return copy
    }
}

struct BadgeStoreConfiguration: DataStoreConfiguration {
    typealias Store = BadgeStore
    var name = "badges"
    var schema: Schema?

    static func == (one: BadgeStoreConfiguration, other: BadgeStoreConfiguration) -> Bool { one.name == other.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A position in the history of a ``BadgeStore``: the number of saves.
struct BadgeToken: HistoryToken {
    let tokenValue: Int?
    let storeIdentifier: String
    var id: Int { tokenValue ?? 0 }
    static func < (one: BadgeToken, other: BadgeToken) -> Bool { one.id < other.id }
}

/// A store in memory that numbers new badges itself, from 1.
final class BadgeStore: DataStore {
    typealias Configuration = BadgeStoreConfiguration
    typealias Snapshot = BadgeSnapshot

    let configuration: BadgeStoreConfiguration
    let schema: Schema
    let identifier = UUID().uuidString
    private var badges: [Int: BadgeSnapshot] = [:]
    private var saves = 0

    init(_ configuration: BadgeStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, BadgeSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.invalidPredicate }
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: badges.sorted { $0.key < $1.key }.map(\.value))
    }

    func save(
        _ request: DataStoreSaveChangesRequest<BadgeSnapshot>
    ) throws -> DataStoreSaveChangesResult<BadgeSnapshot> {
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        var changed: [PersistentIdentifier: BadgeSnapshot] = [:]
        for snapshot in request.inserted {
            let number = badges.count + 1
            let id = try PersistentIdentifier.identifier(for: identifier, entityName: "Badge", primaryKey: number)
            var badge = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: nil)
            badge.number = number
            badges[number] = badge
            remapped[snapshot.persistentIdentifier] = id
            changed[id] = badge
        }
        for snapshot in request.updated { badges[snapshot.number] = snapshot }
        saves += 1
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: remapped, snapshotsToReregister: changed,
            historyToken: BadgeToken(tokenValue: saves, storeIdentifier: identifier))
    }
}
