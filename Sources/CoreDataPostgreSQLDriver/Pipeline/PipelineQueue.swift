import CoreDataSQL

/// The entries of a pipeline that wait for answers, in the order in which they were sent.
///
/// ```
///             append                receive, one a call              end
///  empty ───────────────▶ sent ─────────────────────────▶ answered ───────▶ empty
///                           │ receive → outOfStep            what came of all: a failure, or mismatches
///                           ▼
///                        the session is of no more use
/// ```
/// The caller reads an answer from the connection, tells its kind by ``receive(_:)``, and does what that returns.
struct PipelineQueue {
    /// What the server answers to one entry.
    enum Answer: Hashable, CaseIterable {
        case success
        case failure
        /// The entry was not done, since one in front of it has failed.
        case skipped
        case synchronization
    }

    /// What the caller does with the answer.
    enum Receipt: Hashable {
        /// Keeps the result in place of the one before; calls ``count(_:)`` if rows are counted.
        case keepResult(countsRows: Bool)
        /// Calls ``count(_:)`` with the number of rows.
        case countRows
        case dropResult
        /// Calls ``fail(_:)`` with the failure that the result describes.
        case readFailure
        /// Closes the session: the answer belongs to something else.
        case outOfStep
    }

    /// What came of all entries.
    enum Outcome {
        case success
        /// The statements succeeded, and some found another number of rows than expected: these are run in order.
        case mismatches([() throws -> Void])
        /// The first failure.
        case failure(SQLFailure)
    }

    private var entries: [PipelineEntry] = []
    /// The entry that the next answer belongs to.
    private var position = 0
    private var failure: SQLFailure?
    private var mismatches: [() throws -> Void] = []

    // MARK: Looking

    /// Whether an answer is still to come.
    var awaitsAnswer: Bool { position < entries.count }

    /// Whether the last entry ends a batch.
    var endsWithSynchronization: Bool { entries.last?.kind == .synchronization }

    /// Whether the result of a statement is still to come.
    var awaitsStatement: Bool { entries.contains { $0.kind == .statement } }

    /// Whether something is still to come that is not the end of a batch.
    var awaitsMoreThanSynchronization: Bool { entries.contains { $0.kind != .synchronization } }

    // MARK: Sending

    mutating func append(_ entry: PipelineEntry) { entries.append(entry) }

    /// Has nobody be told what came of the statements: the transaction that they are a part of is rolled back.
    mutating func ignoreStatements() {
        for index in entries.indices where entries[index].kind == .statement || entries[index].kind == .schemaCheck {
            entries[index] = PipelineEntry(kind: .command)
        }
    }

    // MARK: Receiving

    // Entries are read in place: a copy of one would count its references.

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

    /// The text that ``fail(_:)`` is about.
    var failedSQL: String {
        entries[position].kind == .preparation ? entries[position].text?.sql ?? "" : entries[position].sql
    }

    /// Takes the failure of the entry. One of a statement that fails by itself, or of a text that is prepared for such a one, is an
    /// ``SQLFailure/Kind/expectation``: the caller runs the statements again, one by one, and learns the reason from them.
    mutating func fail(_ failure: SQLFailure) {
        let entry = entries[position]
        position += 1
        var failure = failure
        switch entry.kind {
        case .statement, .schemaCheck:
            guard entry.failsByItself, !failure.isOfTheMoment else { break }
            if failure.isOfAnUnknownFeature { entry.text?.state = .refused }
            failure.kind = .expectation
        case .preparation:
            entry.text?.state = failure.isOfAnUnknownFeature ? .refused : .unknown
            if !failure.isOfTheMoment { failure.kind = .expectation }
        case .command, .synchronization: break
        }
        if self.failure == nil { self.failure = failure }
    }

    /// Empties the queue, and tells what came of its entries.
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

    /// Empties the queue of a session whose answers nobody reads any more.
    mutating func abandon() {
        removeAll()
        failure = nil
        mismatches.removeAll()
    }

    private mutating func removeAll() {
        // The array's memory serves the next entries.
        entries.removeAll(keepingCapacity: true)
        position = 0
    }
}
