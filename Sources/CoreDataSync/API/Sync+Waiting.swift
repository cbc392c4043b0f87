import CoreDataSyncEngine
import Foundation

/// Objects or values of other devices that this device has received and cannot apply yet, counted by entity and reason.
///
/// Nothing has to be done for most of them: they are applied when their reason no longer holds.
public struct SyncWaiting: Hashable, Sendable {
    /// Why something is not applied.
    public enum Reason: Hashable, Sendable {
        /// The model has no such entity: a newer version of the program wrote it.
        case unknownEntity
        /// The model has no such property, or one of another type: a newer version of the program wrote it.
        case unknownProperty
        /// A large value is a file of its own, which has not arrived.
        case missingValue
        /// The object that it refers to has not arrived.
        case missingObject
        /// The store refuses the object, with its error as text: see ``SyncOptions/repair``.
        case refused(String)
    }

    /// The name of the entity, as the device has it that wrote the object.
    public var entity: String
    /// Why it waits.
    public var reason: Reason
    /// The number of objects.
    public var count: Int
}

extension Sync {
    /// What waits at present, and why; ``SyncState/waiting`` is the sum.
    ///
    ///     for waiting in try await sync.waiting() { print(waiting.count, waiting.entity, waiting.reason) }
    ///
    /// It reads the sidecar, and neither the store nor the place.
    public func waiting() async throws -> [SyncWaiting] {
        let store = store
        let parked = try await BlockingWork.run { try store.reading { try store.sidecar.parked() } }
        var counts: [SyncWaiting: Int] = [:]
        for one in parked {
            counts[SyncWaiting(entity: one.state.entity.name, reason: .init(one), count: 0), default: 0] += 1
        }
        return counts.map { SyncWaiting(entity: $0.key.entity, reason: $0.key.reason, count: $0.value) }
            .sorted { ($1.count, $0.entity) < ($0.count, $1.entity) }
    }
}

extension SyncWaiting.Reason {
    init(_ parked: ParkedState) {
        switch parked.reason {
        case ApplyPlanner.Reason.entity: self = .unknownEntity
        case ApplyPlanner.Reason.property: self = .unknownProperty
        case ApplyPlanner.Reason.blob: self = .missingValue
        case _ where parked.waitsFor != nil: self = .missingObject
        default:
            let prefix = "\(ApplyPlanner.Reason.refused): "
            let isPrefixed = parked.reason.hasPrefix(prefix)
            self = .refused(isPrefixed ? String(parked.reason.dropFirst(prefix.count)) : parked.reason)
        }
    }
}
