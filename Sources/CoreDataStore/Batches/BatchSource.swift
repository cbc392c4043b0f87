/// A source that writes many rows at once, without contexts; see ``BatchWriter``.
package protocol BatchSource: RowSource {
    /// Runs a batch request in one transaction: all of it is written, or nothing.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether `body` may be called again after a write conflict or a lost connection.
    ///   - check: makes the caller's part in the transaction; see ``SecuredSource``.
    func batch<R>(
        origin: ChangeOrigin, isRepeatable: Bool, checkedBy check: ((any TransactionReading) -> any SaveParticipation)?,
        _ body: (BatchWriter) throws -> R
    ) throws -> R
}
