import CoreData
import Foundation

/// A migration plan as the engine runs it, and what becomes of stores that it does not know.
struct CompiledPlan {
    let name: String
    /// From the oldest to the newest.
    let versions: [PlanCompiler.Version]
    let manager: NSStagedMigrationManager
    /// Whether stages have code of the app.
    let hasCode: Bool

    /// Returns whether the error means that the store's version is not one of the plan's.
    static func isUnknownVersion(_ error: any Error) -> Bool {
        (error as? CocoaError)?.code.rawValue == NSManagedObjectModelReferenceNotFoundError
    }

    /// Whether the error is that of a store of a later version than the container's.
    static func isBackward(_ error: any Error) -> Bool {
        (error as? CocoaError)?.code.rawValue == NSStagedMigrationBackwardMigrationError
    }

    // MARK: Stores of other versions

    /// Brings a store that is of no version of the plan to the oldest one that has a place for all that is in the
    /// store, by a lightweight migration. From there the stages lead on.
    ///
    ///     store: Trip(name)      V1: Trip(name, days = 1)      V2: …      // to V1, then V1 to V2
    ///
    /// - Returns: whether there is such a version.
    func adopt(_ url: URL, _ description: NSPersistentStoreDescription) throws -> Bool {
        guard let stored = try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url),
            let version = versions.first(where: { ModelDifference.isMigration(from: stored, to: $0.model) })
        else { return false }
        let plain = NSPersistentStoreDescription(url: url)
        plain.configuration = description.configuration
        for (key, value) in description.options where key != NSPersistentStoreStagedMigrationManagerOptionKey {
            plain.setOption(value, forKey: key)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version.model)
        var failure: (any Error)?
        coordinator.addPersistentStore(with: plain) { failure = $1 }
        if let failure { throw failure }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return true
    }

    /// Describes the differences of a store of another version.
    func unknownVersion(_ url: URL, _ cause: any Error) -> SwiftDataError {
        var text =
            "The store is of none of the versions of migration plan \(name) (\(versions.map(\.name).joined(separator: ", ")))."
        if let stored = try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) {
            for version in versions {
                let lost = ModelDifference.lost(from: stored, in: version.model)
                if !lost.isEmpty {
                    text +=
                        " \(version.type) has no \(lost.prefix(5).joined(separator: ", "))\(lost.count > 5 ? ", …" : "")."
                }
            }
        }
        for (type, first, second) in sharedClasses {
            text +=
                " \(String(reflecting: type)) is of \(first) and of \(second): once it changes, stores of \(first) are not recognised."
        }
        text +=
            " Add a VersionedSchema with frozen copies of all models as they were when the store was made, and a stage that begins with it."
        return SwiftDataError(.unknownSchema, text, underlying: cause)
    }

    /// The classes that two versions have, with the first of those.
    private var sharedClasses: [(type: Any.Type, first: any VersionedSchema.Type, second: any VersionedSchema.Type)] {
        var owners: [ObjectIdentifier: any VersionedSchema.Type] = [:]
        var shared: [(type: Any.Type, first: any VersionedSchema.Type, second: any VersionedSchema.Type)] = []
        for version in versions {
            for type in version.schema.types {
                if let first = owners[ObjectIdentifier(type)] {
                    shared.append((type, first, version.type))
                } else {
                    owners[ObjectIdentifier(type)] = version.type
                }
            }
        }
        return shared
    }
}

/// Lists the differences of two versions of a model.
enum ModelDifference {
    /// Whether the other model has a place for everything, and a lightweight migration leads there.
    static func isMigration(from model: NSManagedObjectModel, to other: NSManagedObjectModel) -> Bool {
        lost(from: model, in: other).isEmpty
            && (try? NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: other)) != nil
    }

    /// The entities and properties that have no place in the other model, by that name or by a renaming identifier.
    static func lost(from model: NSManagedObjectModel, in other: NSManagedObjectModel) -> [String] {
        model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap { entity -> [String] in
            let name = entity.name ?? ""
            guard let there = other.entities.first(where: { $0.name == name || $0.renamingIdentifier == name }) else {
                return [name]
            }
            let names = Set(there.properties.flatMap { [$0.name, $0.renamingIdentifier ?? $0.name] })
            return entity.properties.filter { !$0.isTransient && !names.contains($0.name) }.map { "\(name).\($0.name)" }
                .sorted()
        }
    }
}
