extension NSManagedObject {
    /// The version of the row that the object was read from: each save that changes the row adds one.
    ///
    ///     let tag = item.storedVersion                        // 3
    ///     context.detectConflicts(for: item)                  // the save fails if the row is no longer of that version
    ///
    /// `nil` for an object that was never saved, and for a fault that was not read. Use it to recognise a row that has
    /// not changed, for example as an HTTP entity tag. Apple's framework has the number, but no API for it.
    public final var storedVersion: Int? { rowView.map { Int($0.version) } }
}
