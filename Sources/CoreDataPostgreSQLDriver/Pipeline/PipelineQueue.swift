import CoreDataSQL

/// The pending entries of a pipeline, in the order in which they were sent.
///
/// ```
///             append                receive, one a call              end
///  empty ───────────────▶ sent ─────────────────────────▶ answered ───────▶ empty
///                           │ receive → outOfStep            outcome: a failure, or mismatches
///                           ▼
///                        the session is unusable
/// ```
/// The caller reads an answer from the connection, passes its kind to ``receive(_:)``, and performs the returned
/// action.
struct PipelineQueue {
    /// The server's answer to one entry.
    enum Answer: Hashable, CaseIterable {
        case success
        case failure
        /// The server skipped the entry, since an earlier one failed.
        case skipped
        case synchronization
    }

    /// The action for the answer.
    enum Receipt: Hashable {
        /// Keeps the result instead of the previous one; calls ``count(_:)`` if rows are counted.
        case keepResult(countsRows: Bool)
        /// Calls ``count(_:)`` with the number of rows.
        case countRows
        case dropResult
        /// Calls ``fail(_:)`` with the failure in the result.
        case readFailure
        /// Closes the session: the answer does not match the entry.
        case outOfStep
    }

    /// The outcome of all entries.
    enum Outcome {
        case success
        /// The statements succeeded, but some found another number of rows than expected: run these closures in order.
        case mismatches([() throws -> Void])
        /// The first failure.
        case failure(SQLFailure)
    }

    private var entries: [PipelineEntry] = []
    /// The index of the entry that the next answer belongs to.
    private var position = 0
    private var failure: SQLFailure?
    private var mismatches: [() throws -> Void] = []

    // MARK: State

    /// Whether an answer is pending.
    var awaitsAnswer: Bool { position < entries.count }

    /// Whether the last entry ends a batch.
    var endsWithSynchronization: Bool { entries.last?.kind == .synchronization }

    /// Whether the result of a statement is pending.
    var awaitsStatement: Bool { entries.contains { $0.kind == .statement } }

    /// Whether anything except the end of a batch is pending.
    var awaitsMoreThanSynchronization: Bool { entries.contains { $0.kind != .synchronization } }

    // MARK: Sending

    mutating func append(_ entry: PipelineEntry) { entries.append(entry) }

    /// Ignores the outcome of the statements: their transaction rolls back.
    mutating func ignoreStatements() {
        for index in entries.indices where entries[index].kind == .statement || entries[index].kind == .schemaCheck {
            entries[index] = PipelineEntry(kind: .command)
        }
    }

    // MARK: Receiving

    // Entries are accessed in place: copying one would count its references.

    mutating func receive(_ answer: Answer) -> Receipt {
        guard position < entries.count else { return .outOfStep }
        let kind = entries[position].kind
        if kind == .synchronization || answer == .synchronization {
            guard kind == .synchronization, answer == .synchronization else { return .outOfStep }
            position += 1
            return .dropResult
        }
        switch answer {
        case .success: return succeed(kind)
        case .failure: return .readFailure
        case .skipped, .synchronization:
            if kind == .preparation { entries[position].text?.state = .unknown }
            position += 1
            return .dropResult
        }
    }

    private mutating func succeed(_ kind: PipelineEntry.Kind) -> Receipt {
        switch kind {
        case .statement:
            let countsRows = entries[position].countsRows
            if !countsRows { position += 1 }
            return .keepResult(countsRows: countsRows)
        case .schemaCheck where entries[position].countsRows: return .countRows
        case .preparation: entries[position].text?.state = .prepared
        case .schemaCheck, .command, .synchronization: break
        }
        position += 1
        return .dropResult
    }

    /// Compares the number of rows with the expected one.
    ///
    /// - Returns: the observer to notify, if there is one.
    mutating func count(_ rows: Int) -> (sql: String, observation: StatementObservation)? {
        defer { position += 1 }
        let expected = entries[position].expectedRowCount
        if expected >= 0, rows != expected, let mismatch = entries[position].mismatch { mismatches.append(mismatch) }
        return entries[position].observation.map { (entries[position].sql, $0) }
    }

    /// The text that the failure for ``fail(_:)`` refers to.
    var failedSQL: String {
        entries[position].kind == .preparation ? entries[position].text?.sql ?? "" : entries[position].sql
    }

    /// Records the failure of the entry. If a statement that fails by itself, or the preparation of its text, has
    /// failed, the failure is an ``SQLFailure/Kind/expectation``. The caller then runs the statements again one by one
    /// to find the reason.
    mutating func fail(_ failure: SQLFailure) {
        let entry = entries[position]
        position += 1
        var failure = failure
        switch entry.kind {
        case .statement, .schemaCheck:
            guard entry.failsByItself, !failure.isTemporaryFailure else { break }
            if failure.isUnsupportedFeature { entry.text?.state = .refused }
            failure.kind = .expectation
        case .preparation:
            entry.text?.state = failure.isUnsupportedFeature ? .refused : .unknown
            if !failure.isTemporaryFailure { failure.kind = .expectation }
        case .command, .synchronization: break
        }
        if self.failure == nil { self.failure = failure }
    }

    /// Empties the queue and returns the outcome.
    mutating func end() -> Outcome {
        removeAll()
        if let failure {
            self.failure = nil
            mismatches.removeAll()
            return .failure(failure)
        }
        guard !mismatches.isEmpty else { return .success }
        defer { mismatches.removeAll() }
        return .mismatches(mismatches)
    }

    /// Empties the queue of a session whose answers are no longer read.
    mutating func abandon() {
        removeAll()
        failure = nil
        mismatches.removeAll()
    }

    private mutating func removeAll() {
        // The array's memory is reused for the next entries.
        entries.removeAll(keepingCapacity: true)
        position = 0
    }
}
