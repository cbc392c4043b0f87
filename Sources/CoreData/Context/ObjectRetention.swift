/// The strong references of a context with `retainsRegisteredObjects`.
///
/// Invariants:
/// - ``objects`` is empty while ``isEnabled`` is `false`.
/// - While it is `true`, each object that is registered is appended. Objects that leave the context stay until
///   `reset()`.
struct ObjectRetention {
    /// Whether the context keeps its registered objects alive; otherwise it keeps changed ones alive only.
    var isEnabled = false
    /// The objects that are kept alive.
    var objects: [NSManagedObject] = []
}
