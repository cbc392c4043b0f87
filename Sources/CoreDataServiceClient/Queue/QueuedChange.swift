import CoreDataRemoteSync
import Foundation

/// A save that waits in the store's queue.
///
///     for change in try store.queuedChanges where change.refusal != nil {
///         print(change.objects, change.refusal?.message ?? "")
///         try store.discardQueuedChange(change.id)
///     }
public struct QueuedChange: Identifiable, Hashable, Sendable {
    /// An object of the save.
    public struct Object: Hashable, Sendable {
        /// The entity.
        public let entity: String
        /// The ID in the service, which is the value of the attribute that identifies objects.
        public let id: UUID
        /// `create`, `update` or `delete`.
        public let verb: String
    }

    /// What came of an object's change.
    public enum Outcome: Hashable, Sendable {
        /// The service applied the change.
        case applied
        /// Another writer had changed the object, and the conflict policy let the change be applied.
        case appliedAfterConflict
        /// The conflict policy discarded the change, or the object was deleted in the service.
        case discarded
        /// The service refused the change, or the policy could not decide. It stays in the queue.
        case refused(ServiceError)
    }

    /// What came of a queued save.
    public struct Result: Sendable {
        /// The save.
        public let change: QueuedChange
        /// The outcome for each object.
        public let outcomes: [Object: Outcome]
    }

    /// The identity of the entry in the queue.
    public let id: UUID
    /// The time of the save.
    public let date: Date
    /// The objects that the save changes.
    public let objects: [Object]
    /// The reason why the service refused the save; `nil` while the save waits to be sent.
    public let refusal: ServiceError?

    init(_ entry: ChangeQueue.Entry) {
        id = entry.origin
        date = entry.date
        refusal = entry.refusal?.serviceError
        objects = entry.objects
    }
}

extension ChangeQueue.Entry {
    var objects: [QueuedChange.Object] {
        switch content {
        case .changes(let list):
            list.changes.map { QueuedChange.Object(entity: $0.entity, id: $0.id, verb: $0.verb.rawValue) }
        case .value(let entity, let id, _, _): [QueuedChange.Object(entity: entity, id: id, verb: "update")]
        }
    }

    var tag: String { QueuedTag.tag(of: origin) }
}
