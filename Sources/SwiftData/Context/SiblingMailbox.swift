import CoreData
import Foundation
import Synchronization

/// Sends the saves of a context, and of other processes, to the container's other contexts.
///
/// ```
///  save ──▶ mailbox of each other context ──▶ main context, context of an actor: merged on its queue
///                                        └──▶ context without a queue: merged at its next use
/// ```
/// A container with one context collects nothing.
final class SiblingMailbox: Sendable {
    private struct Member: @unchecked Sendable {
        // Safe because the context is used on its own queue only.
        let mailbox: SiblingMailbox
        let context: NSManagedObjectContext
    }

    private struct State {
        var saves: [SavedModels] = []
        var coordinator: ObjectIdentifier?
    }

    private struct Entry: @unchecked Sendable {
        // Safe because the references keep nothing alive, and the receiver uses the context on its queue.
        weak var mailbox: SiblingMailbox?
        let reference: ContextReference<NSManagedObjectContext>

        var context: NSManagedObjectContext? { reference.context }
    }

    private let state = Mutex(State())
    /// The contexts of each container in use.
    private static let members = Mutex<[ObjectIdentifier: [Entry]]>([:])

    /// Becomes the mailbox of a context.
    func join(_ context: ModelContext, _ coordinator: NSPersistentStoreCoordinator) {
        let key = ObjectIdentifier(coordinator)
        state.withLock { $0.coordinator = key }
        let entry = Entry(mailbox: self, reference: ContextReference(context.managedObjectContext))
        Self.members.withLock { $0[key, default: []].append(entry) }
    }

    /// Is no context's any more.
    func leave() {
        guard let key = state.withLock({ $0.coordinator }) else { return }
        Self.members.withLock { members in
            let left = members[key]?.filter { $0.mailbox != nil && $0.mailbox !== self } ?? []
            members[key] = left.isEmpty ? nil : left
        }
    }

    /// Whether the container has other contexts.
    var hasOthers: Bool {
        guard let key = state.withLock({ $0.coordinator }) else { return false }
        return Self.members.withLock { $0[key]?.count ?? 0 > 1 }
    }

    /// Sends the saved models to the others.
    func tell(_ saved: SavedModels) {
        guard let key = state.withLock({ $0.coordinator }) else { return }
        Self.deliver(saved, toContextsOf: key, but: self)
    }

    /// Sends the saves of another process to all contexts of a container.
    static func deliver(_ saved: SavedModels, toContextsOf coordinator: NSPersistentStoreCoordinator) {
        deliver(saved, toContextsOf: ObjectIdentifier(coordinator), but: nil)
    }

    private static func deliver(_ saved: SavedModels, toContextsOf key: ObjectIdentifier, but sender: SiblingMailbox?) {
        let others = members.withLock { members in
            (members[key] ?? []).compactMap { entry -> Member? in
                guard let mailbox = entry.mailbox, let context = entry.context, mailbox !== sender else { return nil }
                return Member(mailbox: mailbox, context: context)
            }
        }
        for other in others {
            other.mailbox.state.withLock { $0.saves.append(saved) }
            if other.context.isUnbound { continue }
            other.context.perform { other.mailbox.deliver(to: other.context) }
        }
    }

    /// Merges the saves that arrived since the last time; call it on the context's queue.
    func deliver(to context: NSManagedObjectContext) {
        let saves = state.withLock { state in
            defer { state.saves = [] }
            return state.saves
        }
        for saved in saves {
            if saved.isUnknown {
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSInvalidatedAllObjectsKey: true], into: [context])
                continue
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [
                    NSInsertedObjectIDsKey: saved.inserted, NSUpdatedObjectIDsKey: saved.updated,
                    NSDeletedObjectIDsKey: saved.deleted,
                ], into: [context])
        }
    }
}

extension ModelContext {
    /// Merges the saves of other contexts of the container. Called at each use of the context: before it fetches,
    /// inserts, saves.
    package func takeSiblingChanges() { siblings.deliver(to: managedObjectContext) }
}
