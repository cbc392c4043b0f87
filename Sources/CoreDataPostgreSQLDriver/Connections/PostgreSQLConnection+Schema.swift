import CoreDataPrimitives
import CoreDataSQL

// The number of the schema, and what goes with it.
extension PostgreSQLConnection {
    /// A transaction has met another schema than the one that it began with.
    struct SchemaHasChanged: EngineFailure {}

    /// The check of a schema, ready to be sent.
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

    /// Writes down what the transaction is known by, and sees that the schema is the known one, by one statement.
    private func send(
        _ note: TransactionState.Note, expecting version: Int64, otherwise: @escaping () throws -> Void
    ) throws {
        // A text that is not prepared would have the function looked into each time.
        let asksFunction = hasSchemaNumber == true && traits.keepsSessions
        let statement = try ownStatement(
            asksFunction ? ServerText.noteCommitToSchemaNumber : ServerText.noteCommitToSchema)
        defer { statement.reset() }
        try statement.bind(note.writer, at: 0)
        try statement.bind(note.number, at: 1)
        try statement.bind(version, at: 2)
        if commitsAtOnce {
            // What comes next may go with it.
            runsInAnyOrder = true
            defer { runsInAnyOrder = false }
            return try statement.runLater(expecting: 1, otherwise: otherwise)
        }
        try statement.runLater(expecting: 1) { [unowned self] in
            // It is to be there before the commit is on its way.
            try rows(ServerText.noteCommit, [.integer(note.writer), .integer(note.number)])
            try otherwise()
            if asksFunction { forgetSchemaNumber() }
        }
    }

    /// Runs a statement that brings the look at the schema with it as a column; `body` is given what to expect, `nil` where nobody looks.
    func withOwnSchemaCheck<R>(
        _ body: ((version: Int64, otherwise: () throws -> Void)?) throws -> R
    ) throws -> R {
        // In a transaction the column would be of the state that it has seen first.
        guard !pipeline.transaction.isBegun, case .pending(let version, let otherwise) = pipeline.schemaCheck else {
            return try body(nil)
        }
        return try withoutSchemaCheck { try body((version, otherwise)) }
    }

    /// Has what `body` reads go with a look at the schema that `check` asks for.
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

    /// What goes behind a statement, ready to be sent: by the function, which tells of now, where the table tells a transaction of the state that it has
    /// seen first.
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
            // Which tells of no change that there was, or of one that is known by now.
            forgetSchemaNumber()
        }
    }

    // MARK: The number

    func schemaVersion() throws -> Int64 {
        guard case .integer(let version)? = try rows(ServerText.schemaVersion).first?.first else { return 0 }
        return version
    }

    /// Whether a statement may ask the function for the number; to be asked of a session that is in no transaction.
    @discardableResult
    func callsSchemaNumber() throws -> Bool {
        if let hasSchemaNumber { return hasSchemaNumber }
        guard traits.plansAnew, !pipeline.transaction.isBegun else { return false }
        let count = answerCount
        let found = try betweenTransactions(beginning: ServerText.beginReading) {
            try !rows(ServerText.hasSchemaNumber).isEmpty
        }
        // None that a reader was told.
        answerCount = count
        hasSchemaNumber = found
        return found
    }

    /// Reads the number from its table from now on: the function has gone, or is behind.
    func forgetSchemaNumber() { hasSchemaNumber = false }

    func changeSchemaVersion(rowsOf tables: [String]) throws {
        // Who has planned a query hears of the other number with the lock, or after all else.
        if traits.plansAnew, !tables.isEmpty { try execute(ServerText.lock(tables: tables)) }
        try execute(ServerText.changeSchemaVersion)
        guard traits.plansAnew, try !rows(ServerText.hasSchemaNumber).isEmpty else { return }
        let constant: SQLValue?
        do { constant = try attempting { try rows(ServerText.selectSchemaNumber).first?.first } } catch is SQLFailure
            where !isBroken
        { constant = nil }
        // Its trigger has gone, or is switched off.
        if try constant != .integer(schemaVersion()) { try execute(ServerText.dropSchemaNumber) }
    }

    /// Where the role may not make functions the number is read from its table.
    func keepSchemaVersion() throws {
        guard traits.plansAnew else { return }
        do { try attempting { try ServerText.keepSchemaNumber.forEach(execute) } } catch let failure as SQLFailure
            where !isBroken
        {
            observer?.note("the number of the schema is no function's: \(failure.message)")
        }
    }
}
