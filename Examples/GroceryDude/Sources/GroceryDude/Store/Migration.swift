import CoreData
import Foundation
import Synchronization

/// Brings a store of an older version of the model to the present one, version by version.
///
/// Each step makes a new file; the store itself is replaced at the end only, and a copy of it stays among the backups. A
/// migration that fails or is cancelled leaves the store as it was.
final class Migration: Sendable {
    enum State: Equatable, Sendable {
        case running
        case cancelled
        case failed(String)
        case done
    }

    struct Status: Equatable, Sendable {
        var state = State.running
        /// From 0 to 1.
        var progress = 0.0
        /// "Version 3 to 4".
        var step = ""
    }

    private struct Box {
        var status = Status()
        /// The manager of the step that runs.
        var cancel: (@Sendable () -> Void)?
        var isCancelled = false
    }

    let store: URL
    /// Guards what pages ask for while a step runs.
    private let box = Mutex(Box())

    init(_ store: URL) { self.store = store }

    var status: Status { box.withLock(\.status) }

    /// The newest version of the model.
    static let newest = 8

    /// Whether there is a store, and it is of an older version.
    static func isNeeded(at store: URL) throws -> Bool {
        guard FileManager.default.fileExists(atPath: store.path) else { return false }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: store)
        return !(try model(newest)).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }

    /// That version of the model.
    static func model(_ version: Int) throws -> NSManagedObjectModel {
        let name = version == 1 ? "GroceryDude" : "GroceryDude \(version)"
        guard let folder = Bundle.module.url(forResource: "GroceryDude", withExtension: "momd"),
            let model = NSManagedObjectModel(contentsOf: folder.appendingPathComponent("\(name).mom"))
        else { throw MigrationProblem.noModel(version) }
        return model
    }

    /// Which version of the model the store has.
    private static func version(of store: URL) throws -> Int {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: store)
        for version in 1...newest
        where try model(version).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) {
            return version
        }
        throw MigrationProblem.unknownStore
    }

    /// Ends the migration that runs; the store stays as it is.
    func cancel() {
        let cancel = box.withLock { box in
            box.isCancelled = true
            return box.cancel
        }
        cancel?()
    }

    /// Migrates, in the background.
    func run() async throws {
        box.withLock { $0 = Box() }
        do {
            try await Task.detached { try self.migrate() }.value
            box.withLock { $0.status.state = .done }
        } catch {
            box.withLock { box in
                box.status.state = box.isCancelled ? .cancelled : .failed("\(error.localizedDescription)")
            }
            throw error
        }
    }

    private func migrate() throws {
        let first = try Self.version(of: store)
        let folder = store.deletingLastPathComponent()
            .appendingPathComponent("migration-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var present = store
        for version in first..<Self.newest {
            let next = folder.appendingPathComponent("Version \(version + 1).sqlite")
            try step(from: present, version, to: next, of: Self.newest - first, first: first)
            present = next
        }
        try Backups.copyStore(at: store, model: Self.model(first), named: "Before version \(Self.newest)")
        try Backups.replaceStore(at: store, by: present)
    }

    /// Removes what a process left that died while it migrated.
    static func removeLeftovers(beside store: URL) {
        let folder = store.deletingLastPathComponent()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            let parts = name.split(separator: "-")
            guard parts.count > 2, parts[0] == "migration", let process = Int32(parts[1]), kill(process, 0) != 0
            else { continue }
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    private func step(from source: URL, _ version: Int, to result: URL, of steps: Int, first: Int) throws {
        let (old, new) = (try Self.model(version), try Self.model(version + 1))
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.progressListener = { [self] progress in
            box.withLock { $0.status.progress = (Double(version - first) + Double(progress)) / Double(steps) }
        }
        let isCancelled = box.withLock { box in
            box.status.step = "Version \(version) to \(version + 1)"
            box.cancel = { manager.cancelMigrationWithError(CocoaError(.userCancelled)) }
            return box.isCancelled
        }
        if isCancelled { throw CocoaError(.userCancelled) }
        defer { box.withLock { $0.cancel = nil } }
        try manager.migrateStore(
            from: source, type: .sqlite, mapping: try Self.mapping(version, old, new), to: result, type: .sqlite)
    }

    /// What becomes of what: inferred, but for the pictures, which become objects of their own in version 8.
    private static func mapping(
        _ version: Int, _ old: NSManagedObjectModel, _ new: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        guard version == 7, let item = mapping.entityMappings.first(where: { $0.destinationEntityName == "Item" })
        else {
            return mapping
        }
        item.mappingType = .customEntityMappingType
        item.entityMigrationPolicyClassName = String(reflecting: PhotoMigration.self)
        return mapping
    }
}

enum MigrationProblem: LocalizedError {
    case noModel(Int)
    case unknownStore

    var errorDescription: String? {
        switch self {
        case .noModel(let version): "Version \(version) of the model is not among the program's resources."
        case .unknownStore: "The store is of no version that this program knows."
        }
    }
}

/// Makes the objects that pictures have since version 8.
final class PhotoMigration: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let data = sInstance.value(forKey: "photoData") as? Data,
            let item = manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { return }
        let photo = NSEntityDescription.insertNewObject(
            forEntityName: "Item_Photo", into: manager.destinationContext)
        photo.setValue(data, forKey: "data")
        item.setValue(photo, forKey: "photo")
    }
}
