import CoreData

/// A reference to a context that does not keep it alive; `nil` once the context is being deallocated.
///
/// A `weak` reference would give the context a side table: from then on each reference count of the context is several
/// times slower, and every model holds its context. See ``FadingReference``.
struct ContextReference<Context: AnyObject> {
    private var reference = FadingReference()

    init(_ context: Context) { reference.set(context) }

    /// The context, while it exists.
    var context: Context? {
        // Safe because the initialiser sets an instance of the class.
        reference.object.map { unsafeDowncast($0, to: Context.self) }
    }
}
