import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension NSPersistentCloudKitContainer {
    /// What a container does with a store in the cloud.
    public enum EventType: Int, Sendable {
        /// Prepares the store and reaches the place, each time that the synchronisation of the store begins.
        case setup = 0
        /// Saves changes of other devices to the store.
        case `import` = 1
        /// Sends changes of the store to other devices.
        case export = 2
    }

    /// A setup, an import or an export of one store. ``eventChangedNotification`` reports it once when it begins, and
    /// once when it has ended.
    ///
    /// An import without changes is no event, except the first one after a setup and one that failed.
    public final class Event: NSObject, NSCopying, @unchecked Sendable {
        // Safe because nothing changes.

        /// The same when the event begins and when it has ended.
        public let identifier: UUID
        /// The UUID of the store; empty if the store was not added.
        public let storeIdentifier: String
        /// What is done.
        public let type: EventType
        /// When it began.
        public let startDate: Date
        /// When it ended; `nil` before that.
        public let endDate: Date?
        /// Whether it has ended without an error.
        public let succeeded: Bool
        /// Why it failed.
        public let error: (any Error)?

        private init(
            _ identifier: UUID, _ store: String, _ type: EventType, _ start: Date, _ end: (Date, (any Error)?)?
        ) {
            self.identifier = identifier
            storeIdentifier = store
            self.type = type
            startDate = start
            endDate = end?.0
            error = end?.1
            succeeded = end != nil && end?.1 == nil
            super.init()
        }

        /// Makes an event that begins.
        package convenience init(_ type: EventType, ofStore identifier: String, at date: Date) {
            self.init(UUID(), identifier, type, date, nil)
        }

        /// The same event when it has ended.
        package func ended(at date: Date, _ error: (any Error)?) -> Event {
            Event(identifier, storeIdentifier, type, startDate, (date, error))
        }

        public func copy(with zone: NSZone? = nil) -> Any { self }

        public override var description: String {
            let state = endDate == nil ? "runs" : error.map { "failed: \($0.localizedDescription)" } ?? "succeeded"
            return "<NSPersistentCloudKitContainerEvent: \(type) of store \(storeIdentifier), \(startDate), \(state)>"
        }
    }
}

extension NSPersistentCloudKitContainer.Event: NSFetchRequestResult {}

extension NSPersistentCloudKitContainer.Event: PredicateObject {
    package func predicateOperand(forKey key: String) throws -> Operand {
        func date(_ date: Date) -> Operand { .value(.date(date.timeIntervalSinceReferenceDate)) }
        switch key {
        case "self": return .object(self)
        case "identifier": return .value(.uuid(identifier))
        case "storeIdentifier": return .value(.string(storeIdentifier))
        case "type": return .value(.integer(Int64(type.rawValue)))
        case "startDate": return date(startDate)
        case "endDate": return endDate.map(date) ?? .null
        case "succeeded": return .value(.integer(succeeded ? 1 : 0))
        default:
            throw PredicateFailure(
                .evaluation,
                Diagnostic(
                    .error,
                    "an event of a cloud container has no key '\(key)'; it has: endDate, identifier, startDate, storeIdentifier, succeeded, type"
                ), subexpression: key)
        }
    }

    package func isSamePredicateObject(as other: any PredicateObject) -> Bool { self === other }
    package var predicateHash: Int { hash }
    package var predicateDescription: String { description }
    package func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}
