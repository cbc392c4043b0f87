import CoreData
import CoreDataSyncEngine
import Foundation

/// How far a store that was restored from a backup has been brought up to date: the sidecar keeps it, so that a process
/// may be killed at any point.
///
/// ```
/// forgetting ──▶ capturing ──▶ receiving ──▶ (none)
/// ```
struct Restoration: Hashable, Sendable, Codable {
    enum Step: Int, Codable, Sendable {
        /// The sidecar forgets what it knew of values: the store does not have them any more.
        case forgetting
        /// Edits that were saved since the restore are captured; then everything else is compared.
        case capturing
        /// The device receives everything again. Objects that other devices deleted meanwhile keep their rows until it
        /// has.
        case receiving
    }

    var step: Step
    /// The number of the transaction after which the store was saved since it was restored; `nil` without a history.
    var position: Int64?
    /// Whether the store has another UUID: then its primary keys say nothing.
    var isOtherStore: Bool

    /// The name under which settings keep it.
    static let extra = "restoration"

    init(step: Step, position: Int64?, isOtherStore: Bool) {
        (self.step, self.position, self.isOtherStore) = (step, position, isOtherStore)
    }

    init?(_ settings: SidecarSettings) {
        guard let data = settings.extras[Self.extra], let found = try? JSONDecoder().decode(Self.self, from: data)
        else { return nil }
        self = found
    }

    func write(to settings: inout SidecarSettings) { settings.extras[Self.extra] = try? JSONEncoder().encode(self) }
    static func remove(from settings: inout SidecarSettings) { settings.extras[extra] = nil }
}

extension Capture {
    /// The primary keys of objects that were inserted after a transaction, by root entity: also of those that were
    /// deleted again.
    ///
    /// A restored store gives keys out again that objects of the sidecar have.
    func insertedKeys(after position: Int64) throws -> [String: Set<Int64>] {
        try insertedEntities(after: position).keys.reduce(into: [:]) { $0[$1.root, default: []].insert($1.key) }
    }

    /// The names of the entities of objects that were inserted after a transaction: also of those that were deleted
    /// again. Empty where the history does not tell.
    func insertedEntities(after position: Int64) throws -> [ObjectKey: String] {
        guard hasHistory else { return [:] }
        var entities: [ObjectKey: String] = [:]
        do {
            _ = try coordinator.readHistory(of: store, after: position, limit: .max) { _ in
            } change: { change in
                guard change.type == .insert, let entity = rules[change.entity.name ?? ""] else { return }
                entities[ObjectKey(root: entity.root, key: change.key)] = entity.name
            }
        } catch let error as CocoaError where error.code.rawValue == NSPersistentHistoryTokenExpiredError {
            return [:]
        }
        return entities
    }

    /// Those of the keys that have a row.
    func existing(_ keys: [Int64], root: String) throws -> Set<Int64> {
        guard let entity = coordinator.managedObjectModel.entitiesByName[root], !keys.isEmpty else { return [] }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: root)
            request.resultType = .managedObjectIDResultType
            request.affectedStores = [store]
            request.predicate = NSPredicate(
                format: "SELF IN %@", keys.compactMap { coordinator.objectID(of: entity, key: $0, in: store) })
            return Set(try context.fetch(request).map(\.key))
        }
    }
}
