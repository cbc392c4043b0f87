extension NSFetchRequest {
    /// The request with this result type: itself where it has it already, else a copy; `nil` where it is no fetch request.
    ///
    ///     func all<T: NSManagedObject>(_ type: T.Type) -> NSFetchRequest<T>? {
    ///         NSFetchRequest<T>.cast(T.fetchRequest())        // there: T.fetchRequest() as? NSFetchRequest<T>
    ///     }
    ///
    /// `coredata port` writes it for casts of requests, which no other platform than Apple's has.
    ///
    /// Differs from Apple: a cast there gives the same object; set the copy's properties, not the original's.
    public static func cast(_ request: Any?) -> NSFetchRequest<ResultType>? {
        if let same = request as? NSFetchRequest<ResultType> { return same }
        return (request as? AnyFetchRequest).map { NSFetchRequest<ResultType>($0) }
    }
}
