/// The stores of a context's coordinator as the context reads them: directly, through its parent, in a pinned
/// generation, or restricted.
///
/// Invariants:
/// - ``stores`` is empty for a context that reads its coordinator's stores directly. A new parent empties it, and so
///   does the end of ``generationReader``.
/// - A context with a parent has no ``generationReader``: it reads the parent's generation.
/// - ``restriction`` is set once, before the first use. Then parent and coordinator stay.
/// - Only code on the context's queue uses the value.
struct StoreView {
    /// The stores that the context has used through its parent, ``generationReader`` or ``restriction``, by index.
    var stores: [Int32: AttachedStore] = [:]
    /// The reader of the generation that the context is pinned to; `nil` until a generation was set.
    var generationReader: GenerationReader?
    /// Restricts what the context reads and writes; `nil` for most contexts.
    var restriction: (any ContextRestriction)?
    /// Whether the context reads the coordinator's stores as they are, unless it has a parent.
    var isDirect: Bool { generationReader == nil && restriction == nil }
    /// The sum of the ancestors' ``ChildContexts/permanentKeyCount`` when the context last adopted their keys.
    var adoptedKeyCount = 0
}
