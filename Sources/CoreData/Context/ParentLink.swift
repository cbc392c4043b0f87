/// The parent of a context; without one, the context reads from its coordinator.
///
/// Invariants:
/// - It is replaced as a whole, and only while the context has no objects. After that, descendants read it from their
///   own queues: the variable holds nothing that changes later.
/// - The chain of parents ends: no context is its own ancestor.
/// - A context with a parent has the parent's coordinator.
struct ParentLink {
    // Variables, not constants: the compiler may read a constant through a copy of the whole value, which counts a
    // reference to the parent.

    /// The context from which this one reads, and to which it saves.
    var parent: NSManagedObjectContext?
    /// Whether there is a parent: a test for each object, which counts no reference.
    var isChild: Bool

    init(_ parent: NSManagedObjectContext? = nil) {
        self.parent = parent
        isChild = parent != nil
    }
}
