import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Decides whether an automatic migration may drop what its target has not.
///
/// ```
///  store's version    program has it    drops nothing ──▶ migrated
///                                       drops something ▶ migrated: the program says what became of it
///                     program has not   drops nothing ──▶ migrated
///                                       drops something ▶ refused where the program knows all versions, or the store has left
///                                                         the program's version behind; else migrated
/// ```
/// See docs/decisions/migrating-back.md.
package struct LossRule {
    /// Whether the program has the version with these hashes, by entity.
    package var knows: ([String: Data]) -> Bool
    /// Whether the program has every version that it takes stores of: its model is from a folder of versions, or has stages.
    package var knowsAll: Bool

    package init(knowsAll: Bool, knows: @escaping ([String: Data]) -> Bool) {
        (self.knowsAll, self.knows) = (knowsAll, knows)
    }

    /// - Parameters:
    ///   - losses: what would be dropped.
    ///   - hashes: of the store's entities.
    ///   - target: the version hashes of the entities that the store will have.
    /// - Throws: ``MigrationFailure`` of the kind `.unknownVersion` that names what would be dropped.
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
    /// The store is of a version that the program has not, and would lose something.
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
    /// The version hashes of these entities, by name.
    func versionHashes(of ordinals: [Int]) -> [String: Data] {
        Dictionary(
            ordinals.map { (entities[$0].name, entities[$0].versionHash) }, uniquingKeysWith: { first, _ in first })
    }
}

// MARK: - What the store remembers

extension StoreMetadata {
    /// The checksums of the versions that the store was migrated from, the oldest first.
    package var formerVersions: [String] { dictionary[Key.formerVersions] as? [String] ?? [] }

    /// The list that a migration to a version leaves: the version before is added. If the store returns to a former version, that and
    /// all later ones are removed, so that the store can go forward again.
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

    /// A store is opened by reading them: of a model that is changed all day, as while it is developed, only the newest count.
    private static let mostFormerVersions = 64

    /// The metadata with the list that a migration to another version leaves.
    func migrated(to new: [String: Data]) throws -> StoreMetadata {
        var dictionary = dictionary
        let list = Self.formerVersions(formerVersions, from: versionHashes, to: new)
        dictionary[Key.formerVersions] = list.isEmpty ? nil : list
        return try StoreMetadata(dictionary: dictionary)
    }
}
