import CoreDataModel
import Foundation

/// A store's metadata dictionary, stored as a binary property list so that it is Sendable.
package struct StoreMetadata: Hashable, Sendable {
    package var propertyList: Data

    package init(propertyList: Data) { self.propertyList = propertyList }

    /// The dictionary; empty if the data is not a property list.
    package var dictionary: [String: Any] {
        // Check with our reader first: Foundation would expand shared values until memory is exhausted, and it accepts
        // formats that stores do not use.
        guard (try? PropertyListValue(propertyList: propertyList)) != nil else { return [:] }
        let object = try? PropertyListSerialization.propertyList(from: propertyList, options: [], format: nil)
        return object as? [String: Any] ?? [:]
    }

    /// Whether the data is empty or a dictionary.
    var isReadable: Bool {
        guard !propertyList.isEmpty else { return true }
        if case .dictionary? = try? PropertyListValue(propertyList: propertyList) { return true }
        return false
    }

    /// - Throws: if a value is not a property list object.
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
        /// The column `Z_UUID`; not part of the property list.
        package static let identifier = "NSStoreUUID"
        package static let versionHashes = "NSStoreModelVersionHashes"
        package static let versionHashesVersion = "NSStoreModelVersionHashesVersion"
        package static let versionHashesDigest = "NSStoreModelVersionHashesDigest"
        package static let versionChecksum = "NSStoreModelVersionChecksumKey"
        package static let versionIdentifiers = "NSStoreModelVersionIdentifiers"
        package static let frameworkVersion = "NSPersistenceFrameworkVersion"
        package static let autoVacuumLevel = "_NSAutoVacuumLevel"
        /// An extension: the consumers of the history and their positions; hidden from users.
        package static let historyReaders = "OpenCoreDataHistoryConsumers"

        /// Whether a lightweight migration has deferred work; the key exists only in this case.
        package static let isDeferring = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
        /// An extension: the deferred tasks; hidden from users.
        package static let deferredTasks = "OpenCoreDataDeferredMigration"
        /// An extension: the custom migration stage in progress; hidden from users.
        package static let stage = "OpenCoreDataMigrationStage"
        /// An extension: the checksums of the versions that the store was migrated from, oldest first; hidden from
        /// users. See ``LossRule``.
        package static let formerVersions = "OpenCoreDataFormerVersions"
        /// The keys that users cannot set.
        package static let deferral = [isDeferring, deferredTasks, stage]

        /// The keys that `setMetadata` keeps if the caller omits them.
        package static let kept = [
            type, versionHashes, versionHashesVersion, versionHashesDigest, versionChecksum, versionIdentifiers,
            frameworkVersion, autoVacuumLevel, historyReaders, isDeferring, deferredTasks, stage,
            formerVersions,
        ]
    }

    /// The version of Apple's framework whose format is written.
    package static let frameworkVersion = 1345

    /// Returns the metadata of a store with the model, in addition to `other`, which cannot override them.
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

    /// Returns the metadata with the version hashes of these entities.
    func rehashed(for model: CompiledModel, entities: [Int]) throws -> StoreMetadata {
        let hashes = Self.hashes(of: entities.map { model.entities[$0] })
        return try StoreMetadata(dictionary: dictionary.merging(hashes) { $1 })
    }

    /// The keys that are not Core Data's own, sorted.
    var applicationKeys: [String] {
        dictionary.keys.filter { !Key.kept.contains($0) && !$0.hasPrefix("_NS") }.sorted()
    }

    package var type: String? { identification.type }

    package var frameworkVersion: Int? { dictionary[Key.frameworkVersion] as? Int }

    /// The hashes by entity name; `nil` if the metadata have none, as in stores without metadata.
    package var versionHashes: [String: Data]? { identification.versionHashes }

    /// The parts of the metadata that identify the store and its model.
    package struct Identification {
        package var type: String?
        package var versionHashesVersion: Int?
        package var versionHashes: [String: Data]?
    }

    /// Parsed without Foundation's objects, which cost more than opening the file; with them if our reader does not
    /// support the data.
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

    /// Returns the differences between the store's entities and the model's; `nil` if they are equal.
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

    /// Returns whether the store has exactly these entities, and an earlier version of this framework created it, which
    /// hashed composite attributes differently.
    package func isFormer(of model: CompiledModel, entities: [Int]) -> Bool {
        versionHashes.map { model.areFormer($0, of: entities) } ?? false
    }
}

extension CompiledModel {
    /// Returns whether these are the hashes of an earlier version of this framework for these entities, and not the
    /// current ones.
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
