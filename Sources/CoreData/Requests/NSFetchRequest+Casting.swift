extension NSFetchRequest {
    /// Returns the request with this result type: itself if it has the type already, else a copy; `nil` if it is no
    /// fetch request.
    ///
    ///     func all<T: NSManagedObject>(_ type: T.Type) -> NSFetchRequest<T>? {
    ///         NSFetchRequest<T>.cast(T.fetchRequest())        // there: T.fetchRequest() as? NSFetchRequest<T>
    ///     }
    ///
    /// `coredata port` writes it for casts of requests, which only Apple's platforms have.
    ///
    /// Differs from Apple: a cast there returns the same object. Set the copy's properties, not the original's.
    public static func cast(_ request: Any?) -> NSFetchRequest<ResultType>? {
        if let same = request as? NSFetchRequest<ResultType> { return same }
        return (request as? AnyFetchRequest).map { NSFetchRequest<ResultType>($0) }
    }
}
