import CoreDataModel
import Foundation

/// A store's metadata dictionary, kept as a binary property list so that it can cross threads.
package struct StoreMetadata: Hashable, Sendable {
    package var propertyList: Data

    package init(propertyList: Data) { self.propertyList = propertyList }

    /// The dictionary, empty where the data is no property list.
    package var dictionary: [String: Any] {
        // Foundation would also make what stands for more values than there is memory for. It reads formats that no store has.
        guard (try? PropertyListValue(propertyList: propertyList)) != nil else { return [:] }
        let object = try? PropertyListSerialization.propertyList(from: propertyList, options: [], format: nil)
        return object as? [String: Any] ?? [:]
    }

    /// Whether the data is a dictionary, or nothing.
    var isReadable: Bool {
        guard !propertyList.isEmpty else { return true }
        if case .dictionary? = try? PropertyListValue(propertyList: propertyList) { return true }
        return false
    }

    /// - Throws: where a value is not a property-list object.
    package init(dictionary: [String: Any]) throws {
        func data(_ dictionary: [String: Any]) throws -> Data {
            try PropertyListSerialization.data(fromPropertyList: dictionary, format: .binary, options: 0)
        }
        do { propertyList = try data(dictionary) } catch {
            let culprit = dictionary.sorted { $0.key < $1.key }.first { (try? data([$0.key: $0.value])) == nil }
            guard let (key, value) = culprit else { throw error }
            throw CocoaError(
                .propertyListWriteInvalid,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "The store's metadata cannot have a \(Swift.type(of: value)) under the key '\(key)', only texts, numbers, dates, data, and arrays and dictionaries of them."
                ])
        }
    }
}

extension StoreMetadata {
    /// The keys that Core Data itself writes.
    package enum Key {
        package static let type = "NSStoreType"
        /// Not in the property list: the column `Z_UUID`.
        package static let identifier = "NSStoreUUID"
        package static let versionHashes = "NSStoreModelVersionHashes"
        package static let versionHashesVersion = "NSStoreModelVersionHashesVersion"
        package static let versionHashesDigest = "NSStoreModelVersionHashesDigest"
        package static let versionChecksum = "NSStoreModelVersionChecksumKey"
        package static let versionIdentifiers = "NSStoreModelVersionIdentifiers"
        package static let frameworkVersion = "NSPersistenceFrameworkVersion"
        package static let autoVacuumLevel = "_NSAutoVacuumLevel"
        /// Ours: who reads the history, and how far he is; users do not see it.
        package static let historyReaders = "OpenCoreDataHistoryConsumers"

        /// Whether a lightweight migration has put something off; there only where it has.
        package static let isDeferring = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
        /// Ours: what it has put off; users do not see it.
        package static let deferredTasks = "OpenCoreDataDeferredMigration"
        /// Ours: the custom stage of a migration that the store is in the middle of; users do not see it.
        package static let stage = "OpenCoreDataMigrationStage"
        /// Ours: the checksums of the versions that the store was migrated from, the oldest first; users do not see it. See ``LossRule``.
        package static let formerVersions = "OpenCoreDataFormerVersions"
        /// What no user sets.
        package static let deferral = [isDeferring, deferredTasks, stage]

        /// What `setMetadata` keeps although the caller left it out.
        package static let kept = [
            type, versionHashes, versionHashesVersion, versionHashesDigest, versionChecksum, versionIdentifiers,
            frameworkVersion, autoVacuumLevel, historyReaders, isDeferring, deferredTasks, stage,
            formerVersions,
        ]
    }

    /// The version of Apple's framework whose format is written.
    package static let frameworkVersion = 1345

    /// What a store of that model has, on top of `other`, which may not change it.
    package static func made(
        for model: CompiledModel, entities: [Int], type: String, adding other: StoreMetadata? = nil
    ) throws -> StoreMetadata {
        let members = entities.map { model.entities[$0] }
        var dictionary = other?.dictionary ?? [:]
        dictionary[Key.identifier] = nil
        dictionary[Key.type] = type
        dictionary.merge(hashes(of: members)) { $1 }
        dictionary[Key.versionIdentifiers] = model.versionIdentifiers
        dictionary[Key.frameworkVersion] = frameworkVersion
        dictionary[Key.autoVacuumLevel] = "2"
        return try StoreMetadata(dictionary: dictionary)
    }

    private static func hashes(of members: [CompiledEntity]) -> [String: Any] {
        [
            Key.versionHashes: Dictionary(
                members.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first }),
            Key.versionHashesVersion: 3,
            Key.versionHashesDigest: CompiledModel.versionHashesDigest(entities: members),
            Key.versionChecksum: CompiledModel.versionChecksum(entities: members),
        ]
    }

    /// The metadata with the version hashes of these entities.
    func rehashed(for model: CompiledModel, entities: [Int]) throws -> StoreMetadata {
        let hashes = Self.hashes(of: entities.map { model.entities[$0] })
        return try StoreMetadata(dictionary: dictionary.merging(hashes) { $1 })
    }

    package var type: String? { identification.type }

    package var frameworkVersion: Int? { dictionary[Key.frameworkVersion] as? Int }

    /// By entity name; `nil` where the metadata has none, which only stores without any metadata lack.
    package var versionHashes: [String: Data]? { identification.versionHashes }

    /// What tells which store it is and of which model.
    package struct Identification {
        package var type: String?
        package var versionHashesVersion: Int?
        package var versionHashes: [String: Data]?
    }

    /// Read without Foundation's objects, which cost more than to open the file; from them where the data is no property
    /// list that we know.
    package var identification: Identification {
        guard let list = try? PropertyListValue(propertyList: propertyList) else {
            let dictionary = dictionary
            return Identification(
                type: dictionary[Key.type] as? String,
                versionHashesVersion: dictionary[Key.versionHashesVersion] as? Int,
                versionHashes: dictionary[Key.versionHashes] as? [String: Data])
        }
        var identification = Identification(type: list[Key.type]?.string)
        if case .integer(let version)? = list[Key.versionHashesVersion] {
            identification.versionHashesVersion = Int(version)
        }
        if case .dictionary(let entries)? = list[Key.versionHashes] {
            let hashes = entries.compactMapValues(\.data)
            if hashes.count == entries.count { identification.versionHashes = hashes }
        }
        return identification
    }

    /// How the store's entities differ from those of the model, `nil` where they are the same.
    package func mismatch(with model: CompiledModel, entities: [Int]) -> ModelMismatch? {
        identification.mismatch(with: model, entities: entities)
    }
}

extension StoreMetadata.Identification {
    package func mismatch(with model: CompiledModel, entities: [Int]) -> ModelMismatch? {
        guard let hashes = versionHashes else { return nil }
        var mismatch = ModelMismatch()
        var names: Set<String> = []
        for ordinal in entities {
            let entity = model.entities[ordinal]
            names.insert(entity.name)
            if let hash = hashes[entity.name] {
                if hash != entity.versionHash { mismatch.changed.append(entity.name) }
            } else {
                mismatch.added.append(entity.name)
            }
        }
        mismatch.removed = hashes.keys.filter { !names.contains($0) }
        mismatch.added.sort()
        mismatch.removed.sort()
        mismatch.changed.sort()
        return mismatch.isEmpty ? nil : mismatch
    }

    /// Whether the store has just these entities, and an earlier version of this framework made it, which hashed composite
    /// attributes otherwise.
    package func isFormer(of model: CompiledModel, entities: [Int]) -> Bool {
        versionHashes.map { model.areFormer($0, of: entities) } ?? false
    }
}

extension CompiledModel {
    /// Whether these are the hashes that an earlier version of this framework gave these entities, and not today's.
    package func areFormer(_ hashes: [String: Data], of ordinals: [Int]) -> Bool {
        guard hashes.count == ordinals.count else { return false }
        var areFormer = false
        for ordinal in ordinals {
            let entity = entities[ordinal]
            guard let hash = hashes[entity.name], entity.hasVersionHash(hash) else { return false }
            if hash != entity.versionHash { areFormer = true }
        }
        return areFormer
    }
}
