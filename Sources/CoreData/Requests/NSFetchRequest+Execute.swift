import Foundation

extension NSFetchRequest {
    /// Fetches in the context whose block the calling thread runs.
    ///
    ///     let books = try await context.perform { try request.execute() }
    ///
    /// - Throws: an error outside of a context's `perform` or `performAndWait`, and the errors of `fetch(_:)`.
    public final func execute() throws -> [ResultType] {
        guard let context = Confinement.current else {
            throw CoreDataErrors.invalidRequest(
                "execute() works only inside perform or performAndWait of a context; or call context.fetch(request).")
        }
        return try context.fetch(self)
    }
}
