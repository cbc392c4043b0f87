import Synchronization

/// The child contexts of a context, and the facts about the context that they read from their own queues.
///
/// Invariants:
/// - Any thread may use the object: a lock guards the list, the other variables are atomic.
/// - The list holds no strong reference: a child lives as long as the program holds it.
/// - ``mayExist`` and ``hasBeenPinned`` never become `false` again. ``permanentKeyCount`` only grows.
final class ChildContexts: Sendable {
    private struct Child {
        weak var context: NSManagedObjectContext?
    }

    private struct State: @unchecked Sendable {
        // Safe because the contexts are only compared and asked for what guards itself.
        var children: [Child] = []
    }

    /// Guards the list, which children change from their own queues.
    private let state = Mutex(State())
    private let hasHad = Atomic<Bool>(false)
    /// The number of times that objects got permanent keys whose temporary keys a child may know.
    let permanentKeyCount = Atomic<Int>(0)
    /// Whether the context has ever been pinned to a generation, or is restricted.
    let hasBeenPinned = Atomic<Bool>(false)

    /// Whether there is a child, or was one.
    var mayExist: Bool { hasHad.load(ordering: .relaxed) }

    /// Whether no child exists.
    var isEmpty: Bool { state.withLock { state in state.children.allSatisfy { $0.context == nil } } }

    /// The children that exist.
    var contexts: [NSManagedObjectContext] { state.withLock { $0.children.compactMap(\.context) } }

    /// Adds a child.
    func add(_ context: NSManagedObjectContext) {
        hasHad.store(true, ordering: .relaxed)
        state.withLock { state in
            state.children.removeAll { $0.context == nil }
            state.children.append(Child(context: context))
        }
    }

    /// Removes a child that gets another parent.
    func remove(_ context: NSManagedObjectContext) {
        state.withLock { $0.children.removeAll { $0.context == nil || $0.context === context } }
    }

    /// Makes children replace temporary keys, when they next read, by the permanent keys that objects have got.
    func notePermanentKeys() { permanentKeyCount.wrappingAdd(1, ordering: .releasing) }
}
