import CoreData
import Foundation
import Synchronization

/// Tells contexts of one container what the others save.
///
/// ```
///  save ──▶ mailbox of each other context ──▶ main context, context of an actor: merged on its queue
///                                        └──▶ context that whoever has it uses: merged when it is used next
/// ```
/// Nothing is collected where a container has one context.
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
        // Safe because the references are weak, and who takes one uses the context on its queue.
        weak var mailbox: SiblingMailbox?
        weak var context: NSManagedObjectContext?
    }

    private let state = Mutex(State())
    /// The contexts of each container in use.
    private static let members = Mutex<[ObjectIdentifier: [Entry]]>([:])

    /// Becomes the mailbox of a context.
    func join(_ context: ModelContext, _ coordinator: NSPersistentStoreCoordinator) {
        let key = ObjectIdentifier(coordinator)
        state.withLock { $0.coordinator = key }
        let entry = Entry(mailbox: self, context: context.managedObjectContext)
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

    /// Tells the others what was saved.
    func tell(_ saved: SavedModels) {
        guard let key = state.withLock({ $0.coordinator }) else { return }
        let others = Self.members.withLock { members in
            (members[key] ?? []).compactMap { entry -> Member? in
                guard let mailbox = entry.mailbox, let context = entry.context, mailbox !== self else { return nil }
                return Member(mailbox: mailbox, context: context)
            }
        }
        for other in others {
            other.mailbox.state.withLock { $0.saves.append(saved) }
            if other.context.isUnbound { continue }
            other.context.perform { other.mailbox.deliver(to: other.context) }
        }
    }

    /// Merges what others have saved since the last time. On the context's queue.
    func deliver(to context: NSManagedObjectContext) {
        let saves = state.withLock { state in
            defer { state.saves = [] }
            return state.saves
        }
        for saved in saves {
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [
                    NSInsertedObjectIDsKey: saved.inserted, NSUpdatedObjectIDsKey: saved.updated,
                    NSDeletedObjectIDsKey: saved.deleted,
                ], into: [context])
        }
    }
}

extension ModelContext {
    /// Merges what other contexts of the container have saved. Called where the context is used: before it fetches, inserts, saves.
    package func takeSiblingChanges() { siblings.deliver(to: managedObjectContext) }
}
