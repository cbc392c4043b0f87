import CoreDataJSON
import Foundation

/// A queued change of an object that another writer changed in the service meanwhile.
public struct ServiceConflict: Sendable {
    /// The entity and the ID of the object.
    public let entity: String
    /// The ID of the object in the service.
    public let id: UUID
    /// Whether the queued change deletes the object.
    public let isDeletion: Bool
    /// The time of the queued change.
    public let date: Date
    /// The values that the queued change sets, by property, as JSON writes them: numbers and texts, `nil` for null.
    public let clientValues: [String: String?]
    /// The values that the service has now, of the same kind.
    public let serverValues: [String: String?]
}

extension ServiceStore {
    /// What happens to a queued change if another writer changed the same object meanwhile.
    ///
    ///     store.conflictPolicy = .lastWins(dateAttribute: "modified")
    ///     store.conflictPolicy = .custom { conflict in
    ///         conflict.serverValues["isPaid"] == "true" ? .useServer : .useClient
    ///     }
    ///
    /// Saves with a connection need no such policy: the merge policy of their context resolves their conflicts.
    public enum ConflictPolicy: Sendable {
        /// Discards the queued change of the object.
        case serverWins
        /// Applies the queued change to the object as it is now: properties that the change does not set stay as the
        /// other writer left them.
        case clientWins
        /// Applies the change that was made later. The service tells no times, so the objects need an attribute with
        /// the date of their last change, which apps set. A change of an object without such a date is refused.
        case lastWins(dateAttribute: String)
        /// Asks the program for each object. The closure is called on any thread, and must not use the store.
        case custom(@Sendable (ServiceConflict) -> Resolution)
    }

    /// What a closure of ``ConflictPolicy/custom(_:)`` decides.
    public enum Resolution: Sendable {
        /// Discards the queued change of the object.
        case useServer
        /// Applies the queued change.
        case useClient
        /// Applies the queued change of these properties only.
        case useClientProperties(Set<String>)
    }
}

/// Decides conflicts of queued changes.
struct ConflictDecision {
    let policy: ServiceStore.ConflictPolicy
    let date: Date

    enum Outcome: Equatable {
        case discard
        /// The change without some of its values, for the object's present version.
        case apply(ChangeList.Change)
        case refuse(String)
    }

    func outcome(_ change: ChangeList.Change, _ server: RemoteObject, _ entity: ServiceEntity?) -> Outcome {
        var applied = change
        applied.condition = server.tag
        switch policy {
        case .serverWins: return .discard
        case .clientWins: return .apply(applied)
        case .lastWins(let name):
            guard let attribute = entity?.attributes[name], case .date = attribute.form,
                let json = server.members[name], let other = (try? attribute.form.value(json)) as? Date
            else {
                return .refuse(
                    "\(change.entity) has no date in '\(name)', by which the later change is found: choose another policy, or set the attribute with each change"
                )
            }
            return date >= other ? .apply(applied) : .discard
        case .custom(let decide):
            switch decide(conflict(change, server)) {
            case .useServer: return .discard
            case .useClient: return .apply(applied)
            case .useClientProperties(let names):
                applied.values = applied.values.filter { names.contains($0.name) }
                return applied.values.isEmpty && change.verb != .delete ? .discard : .apply(applied)
            }
        }
    }

    private func conflict(_ change: ChangeList.Change, _ server: RemoteObject) -> ServiceConflict {
        ServiceConflict(
            entity: change.entity, id: change.id, isDeletion: change.verb == .delete, date: date,
            clientValues: Dictionary(
                change.values.map { ($0.name, Self.text($0.value)) }, uniquingKeysWith: { first, _ in first }),
            serverValues: server.members.filter { !$0.key.hasPrefix("_") }.mapValues(Self.text))
    }

    private static func text(_ json: JSONValue) -> String? {
        switch json {
        case .null: nil
        case .string(let text): text
        default: JSONWriter.text(json)
        }
    }
}
