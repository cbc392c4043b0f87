extension NSManagedObjectContext {
    /// What would undo changes: always nil, which is also what it can be set to.
    ///
    ///     let context = container.newBackgroundContext()
    ///     context.undoManager = nil           // as on Apple's platforms, where it costs memory otherwise
    ///
    /// Differs from Apple: there is no undo yet, so nothing else can be set; the type says so.
    public var undoManager: Never? {
        get { nil }
        set {}
    }
}
