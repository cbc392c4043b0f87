import CoreDataModel
import Foundation

extension NSManagedObjectModel {
    /// The version hash of each entity: 32 bytes that depend on everything that affects stored rows.
    ///
    /// A store can be opened if these equal the hashes in its metadata.
    public var entityVersionHashesByName: [String: Data] {
        entitiesByName.mapValues(\.versionHash)
    }

    /// A text that is the same for two models exactly when all version hashes are.
    public var versionChecksum: String {
        VersionHash.checksum(entityVersionHashesByName)
    }

    /// Whether a store with that metadata can be opened with a configuration of this model, or the whole one.
    ///
    /// - Parameters:
    ///   - configuration: the configuration's name, `nil` for all entities.
    ///   - metadata: what `NSPersistentStoreCoordinator.metadataForPersistentStore(type:at:)` returns.
    public func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let entities = entities(forConfigurationName: configuration),
            let stored = Self.versionHashes(inStoreMetadata: metadata)
        else { return false }
        var own: [String: Data] = [:]
        for entity in entities { own[entity.name ?? ""] = entity.versionHash }
        return own == stored
    }

    /// Returns the entities' hashes in a store's metadata, or `nil` if there are none.
    static func versionHashes(inStoreMetadata metadata: [String: Any]) -> [String: Data]? {
        guard let hashes = metadata["NSStoreModelVersionHashes"] else { return nil }
        if let hashes = hashes as? [String: Data] { return hashes }
        return (hashes as? NSDictionary).flatMap { dictionary in
            var result: [String: Data] = [:]
            for (key, value) in dictionary {
                guard let key = key as? String, let value = value as? Data else { return nil }
                result[key] = value
            }
            return result
        }
    }
}

extension NSEntityDescription {
    /// 32 bytes that change with everything about the entity that matters to stored rows: its name, parent and
    /// properties, whether it is abstract, its constraints and its version hash modifier.
    public var versionHash: Data {
        if let compiledEntity { return compiledEntity.versionHash }
        if let known = model?.compiledIfKnown?.entity(named: name ?? "") { return known.versionHash }
        return VersionHash.entity(
            makeElement(),
            properties: allProperties.map { ($0.makeElement(), $0.owner?.name ?? "") },
            superentityHash: superentity?.versionHash)
    }
}

extension NSPropertyDescription {
    final func computedVersionHash() -> Data {
        VersionHash.property(makeElement(), declaredIn: declaringEntity?.name ?? "")
    }
}
