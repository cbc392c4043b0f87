import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Decides whether an automatic migration may drop data that its target does not have.
///
/// ```
///  store's version    program has it    drops nothing ──▶ migrated
///                                       drops something ▶ migrated: the program knows both versions
///                     unknown version   drops nothing ──▶ migrated
///                                       drops something ▶ refused if the program knows all versions, or the store has left
///                                                         the program's version behind; else migrated
/// ```
/// See docs/decisions/migrating-back.md for the rationale.
package struct LossRule {
    /// Returns whether the program has the version with these hashes, by entity.
    package var knows: ([String: Data]) -> Bool
    /// Whether the program has every version of its model: the model is from a folder of versions, or has stages.
    package var knowsAll: Bool

    package init(knowsAll: Bool, knows: @escaping ([String: Data]) -> Bool) {
        (self.knowsAll, self.knows) = (knowsAll, knows)
    }

    /// - Parameters:
    ///   - losses: the data that would be dropped.
    ///   - hashes: the hashes of the store's entities.
    ///   - target: the version hashes of the entities after the migration.
    /// - Throws: ``MigrationFailure`` of the kind `.unknownVersion` that names the data that would be dropped.
    package func check(
        _ losses: [MappingLoss], from hashes: [String: Data], to target: [String: Data], _ row: MetadataRow
    ) throws {
        guard !losses.isEmpty else { return }
        let isBehind = row.metadata.formerVersions.contains(VersionHash.checksum(target))
        guard knowsAll || isBehind, !knows(hashes) else { return }
        throw MigrationFailure.unknownVersion(losses, hashes: hashes, target: target, row, isBehind: isBehind)
    }
}

extension MigrationFailure {
    /// Returns the failure for a store with an unknown version that would lose data.
    static func unknownVersion(
        _ losses: [MappingLoss], hashes: [String: Data], target: [String: Data], _ row: MetadataRow,
        isBehind: Bool
    ) -> MigrationFailure {
        let identifiers = (row.metadata.dictionary[StoreMetadata.Key.versionIdentifiers] as? [Any] ?? [])
            .map { "\($0)" }.filter { !$0.isEmpty }.sorted().map { "'\($0)'" }
        let differing = hashes.filter { target[$0.key] != $0.value }.sorted { $0.key < $1.key }
            .map {
                "\($0.key) \($0.value.prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())…"
            }
        let version =
            (identifiers.isEmpty ? "" : "version identifiers \(identifiers.joined(separator: ", ")), ")
            + "checksum \(VersionHash.checksum(hashes))"
            + (differing.isEmpty
                ? "" : ", entities that differ by the start of their hashes: \(differing.joined(separator: ", "))")
        let reason =
            isBehind
            ? "a newer program has migrated it from this program's version to one that this program has not"
            : "this program has no such version of the model; a newer program has probably made or migrated it"
        var failure = MigrationFailure(
            .unknownVersion,
            """
            \(reason) (\(version)), and the migration would drop \
            \(losses.map(\.text).joined(separator: ", ")). Use a program that has the store's version, or add that version to \
            the model. To drop all of it, set the store option NSMigratePersistentStoresAllowingLossOption to true.
            """, entity: losses.first?.entity, property: losses.first?.property)
        failure.losses = losses
        failure.metadata = row
        return failure
    }
}

extension CompiledModel {
    /// Returns the version hashes of these entities, by name.
    func versionHashes(of ordinals: [Int]) -> [String: Data] {
        Dictionary(
            ordinals.map { (entities[$0].name, entities[$0].versionHash) }, uniquingKeysWith: { first, _ in first })
    }
}

// MARK: - Former versions in the metadata

extension StoreMetadata {
    /// The checksums of the versions that the store was migrated from, oldest first.
    package var formerVersions: [String] { dictionary[Key.formerVersions] as? [String] ?? [] }

    /// Returns the list after a migration: the version before it is added. If the store returns to a former version,
    /// that and all later ones are removed, so that the store can be migrated forward again.
    ///
    ///     [A] at B, to C     // [A, B]
    ///     [A, B] at C, to A  // []
    package static func formerVersions(
        _ known: [String], from old: [String: Data]?, to new: [String: Data]?
    ) -> [String] {
        guard let old = old.map(VersionHash.checksum), let new = new.map(VersionHash.checksum), old != new else {
            return known
        }
        if let place = known.firstIndex(of: new) { return Array(known[..<place]) }
        return Array((known.filter { $0 != old } + [old]).suffix(mostFormerVersions))
    }

    /// The limit keeps opening fast: during development, a model may change many times a day, so only the newest
    /// versions are kept.
    private static let mostFormerVersions = 64

    /// Returns the metadata with the list after a migration to another version.
    func migrated(to new: [String: Data]) throws -> StoreMetadata {
        var dictionary = dictionary
        let list = Self.formerVersions(formerVersions, from: versionHashes, to: new)
        dictionary[Key.formerVersions] = list.isEmpty ? nil : list
        return try StoreMetadata(dictionary: dictionary)
    }
}
