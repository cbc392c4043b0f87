import CoreDataPrimitives
import CoreDataSQL

// Reads, checks and changes the schema version.
extension PostgreSQLConnection {
    /// A transaction found another schema than the one that it began with.
    struct SchemaHasChanged: EngineFailure {}

    /// A prepared schema check, ready to be sent.
    typealias ReadySchemaCheck = (statement: PostgreSQLStatement, otherwise: () throws -> Void)

    // MARK: Checks

    func expectSchemaVersion(_ version: Int64, otherwise: @escaping () throws -> Void) throws {
        switch pipeline.expectSchema(version, otherwise: otherwise) {
        case .sendNote(let note): try send(note, expecting: version, otherwise: otherwise)
        case .later: return
        case .now:
            let statement = try ownStatement(ServerText.schemaVersionIs)
            defer { statement.reset() }
            try statement.bind(version, at: 0)
            try statement.runLater(expecting: 1, otherwise: otherwise)
        }
    }

    /// Records the transaction's identity, and verifies the schema version, in one statement.
    private func send(
        _ note: TransactionState.Note, expecting version: Int64, otherwise: @escaping () throws -> Void
    ) throws {
        // In an unprepared text, the server would look up the function each time.
        let asksFunction = hasSchemaNumber == true && traits.keepsSessions
        let statement = try ownStatement(
            asksFunction ? ServerText.noteCommitToSchemaNumber : ServerText.noteCommitToSchema)
        defer { statement.reset() }
        try statement.bind(note.writer, at: 0)
        try statement.bind(note.number, at: 1)
        try statement.bind(version, at: 2)
        if commitsAtOnce {
            // The next statements may be sent in the same group.
            runsInAnyOrder = true
            defer { runsInAnyOrder = false }
            return try statement.runLater(expecting: 1, otherwise: otherwise)
        }
        try statement.runLater(expecting: 1) { [unowned self] in
            // The record must exist before the commit is sent.
            try rows(ServerText.noteCommit, [.integer(note.writer), .integer(note.number)])
            try otherwise()
            if asksFunction { forgetSchemaNumber() }
        }
    }

    /// Runs a statement that returns the schema version in an additional column. `body` receives the expected version,
    /// or `nil` if no check is pending.
    func withOwnSchemaCheck<R>(
        _ body: ((version: Int64, otherwise: () throws -> Void)?) throws -> R
    ) throws -> R {
        // Inside a transaction, the column would show the version of the transaction's snapshot.
        guard !pipeline.transaction.isBegun, case .pending(let version, let otherwise) = pipeline.schemaCheck else {
            return try body(nil)
        }
        return try withoutSchemaCheck { try body((version, otherwise)) }
    }

    /// Combines the reads of `body` with the schema check that `check` requests.
    func withSchemaCheck<R>(_ check: () throws -> Void, _ body: () throws -> R) throws -> R {
        pipeline.schemaCheck = .awaited
        defer { pipeline.schemaCheck = .none }
        try check()
        if case .awaited = pipeline.schemaCheck { pipeline.schemaCheck = .none }
        return try body()
    }

    func withoutSchemaCheck<R>(_ body: () throws -> R) throws -> R {
        let check = pipeline.schemaCheck
        pipeline.schemaCheck = .none
        defer { pipeline.schemaCheck = check }
        return try body()
    }

    /// Returns the check to send after a statement. It uses the function, which returns the current version; the table
    /// shows the version of the transaction's snapshot.
    func schemaCheckBehind() throws -> ReadySchemaCheck? {
        guard case .pending(let version, let otherwise) = pipeline.schemaCheck else { return nil }
        let statement = try ownStatement(
            hasSchemaNumber == true ? ServerText.schemaNumberIs : ServerText.schemaVersionIs)
        try statement.bind(version, at: 0)
        return (statement, otherwise)
    }

    func send(_ check: ReadySchemaCheck) throws {
        defer { check.statement.reset() }
        let isInTransaction = pipeline.transaction.isOpen
        try sendAlone(check.statement, as: .schemaCheck, expecting: 1) { [unowned self] in
            if isInTransaction { throw SchemaHasChanged() }
            try check.otherwise()
            // The function reported a change that did not happen or is already known.
            forgetSchemaNumber()
        }
    }

    // MARK: Version

    func schemaVersion() throws -> Int64 {
        guard case .integer(let version)? = try rows(ServerText.schemaVersion).first?.first else { return 0 }
        return version
    }

    /// Returns whether statements can read the version from the function. Call it on a session without a transaction.
    @discardableResult
    func callsSchemaNumber() throws -> Bool {
        if let hasSchemaNumber { return hasSchemaNumber }
        guard traits.plansAnew, !pipeline.transaction.isBegun else { return false }
        let count = answerCount
        let found = try betweenTransactions(beginning: ServerText.beginReading) {
            try !rows(ServerText.hasSchemaNumber).isEmpty
        }
        // Do not count answers that no reader received.
        answerCount = count
        hasSchemaNumber = found
        return found
    }

    /// Reads the version from its table from now on: the function is missing or outdated.
    func forgetSchemaNumber() { hasSchemaNumber = false }

    func changeSchemaVersion(rowsOf tables: [String]) throws {
        // With the lock, clients with a planned query learn of the new version before or after the change, not during
        // it.
        if traits.plansAnew, !tables.isEmpty { try execute(ServerText.lock(tables: tables)) }
        try execute(ServerText.changeSchemaVersion)
        guard traits.plansAnew, try !rows(ServerText.hasSchemaNumber).isEmpty else { return }
        let constant: SQLValue?
        do { constant = try attempting { try rows(ServerText.selectSchemaNumber).first?.first } } catch is SQLFailure
            where !isBroken
        { constant = nil }
        // The trigger is missing or disabled.
        if try constant != .integer(schemaVersion()) { try execute(ServerText.dropSchemaNumber) }
    }

    /// If the role has no permission to create functions, the version is read from its table.
    func keepSchemaVersion() throws {
        guard traits.plansAnew else { return }
        do { try attempting { try ServerText.keepSchemaNumber.forEach(execute) } } catch let failure as SQLFailure
            where !isBroken
        {
            observer?.note("the number of the schema is no function's: \(failure.message)")
        }
    }
}
