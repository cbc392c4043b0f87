import CPostgreSQL
import CoreDataSQL
import Foundation

/// One session on a server, in pipeline mode: what is sent waits until something is asked for.
///
/// ```
///  BEGIN, UPDATE …, UPDATE …, sync ──▶ server        one way there
///  what came of each, in order     ◀──               and one back
/// ```
final class PostgreSQLConnection: SQLConnection {
    private(set) var dialect: SQLDialect
    /// What is at the other end, and what that can.
    private(set) var engine: PostgreSQLEngine
    private(set) var traits: ServerTraits
    let handle: OpaquePointer
    /// Who is shown the statements.
    var observer: (any SQLObserver)?
    /// Whether the server is gone, or nobody knows what it will say next.
    private(set) var isBroken = false
    /// Cancels what the session waits for.
    let cancellation: PostgreSQLCancellation
    /// Where the time is had from.
    let clock: PostgreSQLClock
    /// The schema, and how long to wait for a lock.
    private let settings: [SQLValue]

    // Whoever has the connection has it alone, and what is marked is touched by nothing that it calls.
    @exclusivity(unchecked) private var statements = StatementTable()
    @exclusivity(unchecked) private var groups = StatementGroups()
    /// Statements that wait for others with which they can be sent.
    @exclusivity(unchecked) private var held: [HeldStatement] = []
    private var nameCount = 0
    private var companions: [AnyObject?] = []

    /// What was sent, in order.
    @exclusivity(unchecked) private var pending: [Sent] = []
    /// A transaction that begins with the next statement.
    @exclusivity(unchecked) private var owedBegin: String?
    /// What the transaction is to be known by: the writer and the number, which the next statement writes down, or brings with it.
    @exclusivity(unchecked) private var owedNote: Note?
    @exclusivity(unchecked) private var schemaCheck = SchemaCheck.none
    @exclusivity(unchecked) private(set) var isInTransaction = false
    private var isWriting = false
    /// Whether the commit can go with what is sent, which fails by itself where it does not find the rows that it counts on.
    @exclusivity(unchecked) private(set) var commitsAtOnce = false
    @exclusivity(unchecked) var runsInAnyOrder = false
    /// What begins and ends transactions, and has no values.
    @exclusivity(unchecked) private var transactionTexts: [NamedText] = []
    /// What locks the schema.
    private var locks: (alone: String, beside: String)?
    /// What the last transaction is known by.
    private(set) var token: CommitToken?
    /// What the server knows the session by.
    private(set) var session: ServerSession?
    /// Whether the store has the table in which transactions note that they are committed, as far as was looked.
    var hasCommits = false
    /// Whether the store has the row that is locked where nothing else can be, as far as was looked.
    var hasMetadata = false
    /// Whether the number of the schema is a function's, once that was looked at.
    private var hasSchemaNumber: Bool?

    /// How often somebody was told what the server answered.
    private(set) var answerCount = 0

    private var copying: (sql: String, observer: (any SQLObserver)?, start: ContinuousClock.Instant)?

    /// What triggers tell.
    let notices = Notices()

    private enum SchemaCheck {
        case none
        /// The next one is to go with what is read.
        case awaited
        /// Goes behind each statement that reads, which has the locks of its tables then: what it has waited for is seen.
        case owed(version: Int64, otherwise: () throws -> Void)
    }

    /// A transaction has met another schema than the one that it began with.
    struct SchemaHasChanged: Error {}

    private struct Note {
        var writer: Int64
        var number: Int64
    }

    /// What was sent, and what is to come of it.
    private struct Sent {
        enum Kind {
            case statement, preparation
            /// The look at the schema behind a statement.
            case check
            /// What nobody minds.
            case housekeeping
            case end
        }

        var kind: Kind
        /// How many rows a statement counts on; any for -1.
        var expected = -1
        /// Whether it fails by itself where there are others.
        var countsByItself = false
        var sql = ""
        var text: NamedText?
        /// What is done where there are other rows.
        var otherwise: (() throws -> Void)?
        var observation: Observation?
    }

    private final class Observation {
        let observer: any SQLObserver
        let start: ContinuousClock.Instant
        init(_ observer: any SQLObserver, start: ContinuousClock.Instant) {
            (self.observer, self.start) = (observer, start)
        }
    }

    private var observation: Observation? { observer.map { Observation($0, start: clock.now()) } }

    /// Opens a session.
    ///
    /// - Throws: ``SQLFailure`` that names the server, never the password.
    init(_ options: PostgreSQLOptions) throws {
        var address = options.address
        if !address.hasPassword, let password = try options.password?() { address.setPassword(password) }
        handle = try Self.open(address, timeout: options.connectTimeout)
        engine = address.engine ?? (PQparameterStatus(handle, "crdb_version") == nil ? .postgreSQL : .cockroachDB)
        traits = options.traits(of: engine)
        dialect = traits.dialect(options.dialect)
        settings = [.text(address.schema), .text(String(options.lockMilliseconds))]
        clock = options.clock
        cancellation = PostgreSQLCancellation(handle, limit: options.cancelTimeout, clock: options.clock)
        PQsetNoticeReceiver(handle, Notices.receive, Unmanaged.passUnretained(notices).toOpaque())
        guard PQenterPipelineMode(handle) == 1 else {
            let failure = SQLFailure.lost(handle)
            close()
            throw failure
        }
        do { try meet(address, options) } catch {
            close()
            throw error
        }
    }

    /// Tells the server what the session is to be, and looks who it is.
    private func meet(_ address: PostgreSQLAddress, _ options: PostgreSQLOptions) throws {
        // A pooler makes numbers of its own up, which may be negative.
        let number: Int64? = address.pooler == nil && traits.knowsSessions ? Int64(PQbackendPID(handle)) : nil
        let expected = number ?? (address.pooler == .transaction ? -1 : 0)
        let row = try once(
            ServerText.useSchema(
                knowsSessions: traits.knowsSessions, locksByNumber: traits.locksByNumber,
                setsTransactions: traits.setsTransactions),
            [settings[0], .text(String(expected)), settings[1]])
        guard row.count > 9 else { throw broken(nil) }
        // Such a schema looks as if nothing were in it.
        if row[5] == .integer(0) { throw Self.forbidden(address) }
        if address.engine == nil, case .text(let version) = row[6] {
            engine = .of(version: version)
            traits = options.traits(of: engine)
            dialect = traits.dialect(options.dialect)
        }
        if case .integer(let number) = row[7] {
            locks = (ServerText.lockAlone(number), ServerText.lockBeside(number))
        }
        guard traits.knowsSessions, let session = ServerSession(process: row[8], start: row[9]) else { return }
        if let number, session.process != number { throw Self.poolerInTheWay(address) }
        if traits.keepsSessions { self.session = session }
    }

    /// Ends the session; called once.
    func close() {
        statements.removeAll()
        companions.removeAll()
        PQfinish(handle)
    }

    /// Whether the server has ended the session, as far as can be seen from here.
    func looksAlive() -> Bool {
        guard !isBroken, PQstatus(handle) == CONNECTION_OK else { return false }
        // What is still to come of the last transaction; or what the server says as it leaves, and then the end.
        for _ in 0..<8 {
            var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return true }
            guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return false }
        }
        return true
    }

    // MARK: Statements

    func statement(_ sql: String) throws -> any SQLStatement { try ownStatement(sql) }

    private func ownStatement(_ sql: String) throws -> PostgreSQLStatement {
        if let entry = statements.entry(sql) {
            // Whoever still has a reference keeps the statement and the cache gets another.
            if isKnownUniquelyReferenced(&entry.statement) {
                entry.statement.reset()
                return entry.statement
            }
            let other = PostgreSQLStatement(entry.statement.prepared, self)
            entry.statement = other
            return other
        }
        let made = PostgreSQLStatement(try prepare(sql), self)
        if let oldest = statements.add(made) { try forget(oldest.prepared) }
        return made
    }

    private func forget(_ prepared: PreparedStatement) throws {
        prepared.isForgotten = true
        guard traits.keepsSessions else { return }
        try sendHousekeeping(ServerText.forget(prepared.name))
        if let text = prepared.ofOneRow { try forget(text) }
        for group in groups.remove(with: prepared) { try forget(group.text) }
    }

    private func forget(_ text: NamedText) throws {
        guard traits.keepsSessions, text.state == .sent || text.state == .prepared else { return }
        try sendHousekeeping(ServerText.forget(text.name))
    }

    /// Has the server take the text apart. Where sessions are not kept it forgets that again, and what is known of the text is
    /// what it takes and gives.
    func prepare(_ sql: String) throws -> PreparedStatement {
        // The protocol counts them with 16 bits, and what the server says of more is not understood.
        if sql.utf8.count > 400_000, sql.contains("$65536") {
            throw SQLFailure(
                kind: .other, code: 0, message: "a statement on a server takes 65,535 values, and this one has more")
        }
        try beginIfOwed()
        nameCount += 1
        let name = traits.keepsSessions ? "s\(nameCount)" : ""
        guard PQsendPrepare(handle, name, sql, 0, nil) == 1, PQsendDescribePrepared(handle, name) == 1 else {
            throw broken(sql)
        }
        pending.append(Sent(kind: .statement, sql: sql))
        pending.append(Sent(kind: .statement, sql: sql))
        guard let description = try finish() else { throw broken(sql) }
        return PreparedStatement(sql, name: name, description: description.pointer)
    }

    func keyedStatement(_ select: SelectStatement, key: String) -> any SQLKeyedStatement {
        PostgreSQLKeyedStatement(select, key: key, self)
    }

    func execute(_ sql: String) throws {
        try beginIfOwed()
        try observer?.willRun(sql, bindings: [])
        guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw broken(sql) }
        pending.append(Sent(kind: .statement, sql: sql, observation: observation))
        try finish()
        answerCount += 1
    }

    /// Runs the statement, and all that was sent before.
    func query(_ statement: PostgreSQLStatement) throws -> QueryResult {
        try beginIfOwed()
        let check = try schemaCheckBehind()
        try sendAlone(statement, expecting: nil, otherwise: nil)
        if let check { try send(check) }
        guard let result = try finish() else { throw broken(statement.sql) }
        answerCount += 1
        return result
    }

    /// Sends the statement, or has it wait for others that go with it.
    func send(_ statement: PostgreSQLStatement, expecting count: Int?, otherwise: (() throws -> Void)?) throws {
        if try hold(statement, expecting: count, otherwise: otherwise) { return }
        try beginIfOwed()
        try sendAlone(statement, expecting: count, otherwise: otherwise)
    }

    private func sendAlone(
        _ statement: PostgreSQLStatement, expecting count: Int?, otherwise: (() throws -> Void)?
    ) throws {
        if let observer { try observer.willRun(statement.sql, bindings: statement.observedBindings) }
        let prepared = statement.prepared
        let counting = try counting(prepared, count)
        let isSent = statement.withBindings { count, values, lengths, formats in
            if traits.keepsSessions {
                return PQsendQueryPrepared(
                    handle, counting?.name ?? prepared.name, count, values, lengths, formats, 1)
            }
            return prepared.parameterTypes.withUnsafeBufferPointer { types in
                PQsendQueryParams(
                    handle, counting?.sql ?? prepared.sql, count, types.baseAddress, values, lengths, formats, 1)
            }
        }
        guard isSent == 1 else { throw broken(statement.sql) }
        pending.append(
            Sent(
                kind: .statement, expected: count ?? -1, countsByItself: counting != nil, sql: statement.sql,
                text: counting, otherwise: counting == nil ? otherwise : nil, observation: observation))
    }

    /// What is sent in place of a statement that counts on so many rows, so that the commit can go with it.
    private func counting(_ prepared: PreparedStatement, _ count: Int?) throws -> NamedText? {
        guard commitsAtOnce, let count else { return nil }
        let text = prepared.makeOfOneRow()
        guard count == 1, text.state != .refused else {
            commitsAtOnce = false
            return nil
        }
        if traits.keepsSessions { try sendPreparation(text) }
        return text
    }

    // MARK: Groups

    /// As many statements, with as many values, are sent together at most.
    private static let groupLimit = (statements: 8, values: 256)

    /// Has the statement wait for others with which it can be sent, where the commit goes with them and they may run in any order.
    private func hold(
        _ statement: PostgreSQLStatement, expecting count: Int?, otherwise: (() throws -> Void)?
    ) throws -> Bool {
        guard commitsAtOnce, runsInAnyOrder, count == nil || count == 1, statement.arrays == nil,
            statement.prepared.parameterTypes.count <= Self.groupLimit.values
        else { return false }
        let isFull =
            held.count == Self.groupLimit.statements
            || held.reduce(statement.prepared.parameterTypes.count) { $0 + $1.statement.prepared.parameterTypes.count }
                > Self.groupLimit.values
        try beginIfOwed(sendsHeld: isFull)
        statement.isHeld = true
        held.append(HeldStatement(statement: statement, isOfOneRow: count == 1, otherwise: otherwise))
        return true
    }

    /// Sends what waits.
    func sendHeld() throws {
        guard !held.isEmpty else { return }
        defer { letGo() }
        let (group, removed) = held.count > 1 ? groups.group(of: held) : (nil, nil)
        if let removed { try forget(removed.text) }
        if let group, group.text.state != .refused { return try send(group) }
        for one in held {
            try sendAlone(one.statement, expecting: one.isOfOneRow ? 1 : nil, otherwise: one.otherwise)
        }
    }

    private func letGo() {
        for one in held {
            one.statement.isHeld = false
            one.statement.reset()
        }
        held.removeAll(keepingCapacity: true)
    }

    private func send(_ group: StatementGroup) throws {
        let text = group.text
        if traits.keepsSessions { try sendPreparation(text) }
        if let observer {
            try observer.willRun(text.sql, bindings: held.flatMap(\.statement.observedBindings))
        }
        let count = text.parameterTypes.count
        let isSent = withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: max(count, 1)) { values in
            withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * max(count, 1)) { numbers -> Int32 in
                guard let values = values.baseAddress, let lengths = numbers.baseAddress else { return 0 }
                let formats = lengths + count
                var first = 0
                for one in held {
                    one.statement.parameters.append(to: values + first, lengths + first, formats + first)
                    first += one.statement.parameters.types.count
                }
                if traits.keepsSessions {
                    return PQsendQueryPrepared(handle, text.name, Int32(count), values, lengths, formats, 1)
                }
                return text.parameterTypes.withUnsafeBufferPointer { types in
                    PQsendQueryParams(handle, text.sql, Int32(count), types.baseAddress, values, lengths, formats, 1)
                }
            }
        }
        guard isSent == 1 else { throw broken(text.sql) }
        pending.append(
            Sent(kind: .statement, countsByItself: true, sql: text.sql, text: text, observation: observation))
    }

    // MARK: Texts that are prepared on the way

    private func sendPreparation(_ text: NamedText) throws {
        guard text.state == .unknown else { return }
        let types = text.parameterTypes
        let isSent = types.withUnsafeBufferPointer {
            PQsendPrepare(handle, text.name, text.sql, Int32(types.count), $0.baseAddress)
        }
        guard isSent == 1 else { throw broken(text.sql) }
        text.state = .sent
        pending.append(Sent(kind: .preparation, text: text))
    }

    /// Sends what begins, locks or ends a transaction; the caller notes what is to come of it.
    private func sendTransaction(_ sql: String) throws {
        let text = traits.keepsSessions ? transactionText(sql) : nil
        let isSent: Int32
        if let text, text.state != .refused {
            try sendPreparation(text)
            isSent = PQsendQueryPrepared(handle, text.name, 0, nil, nil, nil, 1)
        } else {
            isSent = PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1)
        }
        guard isSent == 1 else { throw broken(sql) }
    }

    /// Keeps others out until the transaction ends: all that write, or who does that.
    func lock(alone: Bool) throws {
        guard traits.locksByNumber, let locks else {
            guard hasMetadata else { return }
            return try runLater(alone ? ServerText.lockRowAlone : ServerText.lockRowBeside, [])
        }
        let sql = alone ? locks.alone : locks.beside
        try beginIfOwed()
        try observer?.willRun(sql, bindings: [])
        try sendTransaction(sql)
        pending.append(Sent(kind: .statement, sql: sql, observation: observation))
    }

    private func transactionText(_ sql: String) -> NamedText {
        if let text = transactionTexts.first(where: { $0.sql == sql }) { return text }
        let text = NamedText(sql, name: sql)
        transactionTexts.append(text)
        return text
    }

    var putsOffResults: Bool { true }

    /// In a transaction that writes and could not note what it is known by, that is asked for on the same way.
    func settle() throws {
        // What a table does not take so is found out before the commit is on its way.
        try sendHeld()
        if commitsAtOnce { return }
        if isInTransaction, isWriting, token == nil, traits.tellsTransactions { return try takeToken() }
        if case .owed = schemaCheck {
            try beginIfOwed()
            if let check = try schemaCheckBehind() { try send(check) }
        }
        guard pending.contains(where: { $0.kind != .end }) else { return }
        try finish()
    }

    func expectPauses() throws { try rows(ServerText.allowPauses) }

    func companion(_ number: Int) -> AnyObject? { number < companions.count ? companions[number] : nil }

    func keep(_ companion: AnyObject, as number: Int) {
        while companions.count <= number { companions.append(nil) }
        companions[number] = companion
    }

    var derivedAttributeReports: [DerivedAttributeReport] { notices.reports }

    // MARK: Transactions

    /// Has a transaction begin with the next statement.
    ///
    /// - Parameter commitsAtOnce: whether nobody needs to know what the statements gave before they are committed.
    func begin(_ sql: String, commitsAtOnce: Bool = false) {
        self.commitsAtOnce = commitsAtOnce
        runsInAnyOrder = false
        owedBegin = sql
        owedNote = nil
        schemaCheck = .none
        isWriting = sql == ServerText.beginWriting
        token = nil
        notices.reports.removeAll()
    }

    private func beginIfOwed(sendsHeld: Bool = true) throws {
        try awaitCancellation()
        try awaitEnd()
        try sendOwed()
        if let owed = owedBegin {
            owedBegin = nil
            let sql = owed == ServerText.beginWriting && traits.setsTransactions ? ServerText.begin : owed
            try observer?.willRun(sql, bindings: [])
            try sendTransaction(sql)
            pending.append(Sent(kind: .housekeeping))
            if !traits.keepsSessions { try sendSettings() }
            isInTransaction = true
            observer?.didRun(sql, duration: .zero, rows: 0)
        }
        if sendsHeld { try sendHeld() }
    }

    /// Has names and the like mean in this transaction what they do in a session of one's own.
    private func sendSettings() throws {
        try observer?.willRun(ServerText.useSchemaInTransaction, bindings: settings)
        guard sendOnce(ServerText.useSchemaInTransaction, settings) else {
            throw broken(ServerText.useSchemaInTransaction)
        }
        pending.append(Sent(kind: .housekeeping))
    }

    /// Runs what is asked for between transactions: where sessions are not kept, in one of its own.
    func betweenTransactions<R>(
        beginning text: String = ServerText.beginWriting, _ body: () throws -> R
    ) throws -> R {
        guard !traits.keepsSessions, !isInTransaction, owedBegin == nil else { return try body() }
        begin(text)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Has the transaction write down what it is known by, as a part of it: with the look at the schema that comes next, or by itself.
    func note(_ number: Int64, of writer: Int64) {
        owedNote = Note(writer: writer, number: number)
        token = .noted(number)
    }

    /// What goes with the next statement, and has not found one that it can be a part of.
    private func sendOwed() throws {
        if let note = owedNote {
            owedNote = nil
            try runLater(ServerText.noteCommit, [.integer(note.writer), .integer(note.number)], expecting: 1)
        }
    }

    /// Runs a statement that brings the look at the schema with it as a column; `body` is given what to expect, `nil` where nobody looks.
    func withOwnSchemaCheck<R>(
        _ body: ((version: Int64, otherwise: () throws -> Void)?) throws -> R
    ) throws -> R {
        // In a transaction the column would be of the state that it has seen first.
        guard !isInTransaction, owedBegin == nil, case .owed(let version, let otherwise) = schemaCheck else {
            return try body(nil)
        }
        let check = schemaCheck
        schemaCheck = .none
        defer { schemaCheck = check }
        return try body((version, otherwise))
    }

    /// Has what `body` reads go with a look at the schema that `check` asks for.
    func withSchemaCheck<R>(_ check: () throws -> Void, _ body: () throws -> R) throws -> R {
        schemaCheck = .awaited
        defer { schemaCheck = .none }
        try check()
        if case .awaited = schemaCheck { schemaCheck = .none }
        return try body()
    }

    /// What goes behind a statement, ready to be sent: by the function, which tells of now, where the table tells a transaction of the state that it has
    /// seen first.
    private func schemaCheckBehind() throws -> (statement: PostgreSQLStatement, otherwise: () throws -> Void)? {
        guard case .owed(let version, let otherwise) = schemaCheck else { return nil }
        let statement = try ownStatement(
            hasSchemaNumber == true ? ServerText.schemaNumberIs : ServerText.schemaVersionIs)
        try statement.bind(version, at: 0)
        return (statement, otherwise)
    }

    private func send(_ check: (statement: PostgreSQLStatement, otherwise: () throws -> Void)) throws {
        defer { check.statement.reset() }
        let isInTransaction = isInTransaction
        try sendAlone(check.statement, expecting: 1) { [unowned self] in
            if isInTransaction { throw SchemaHasChanged() }
            try check.otherwise()
            // Which tells of no change that there was, or of one that is known by now.
            forgetSchemaNumber()
        }
        pending[pending.count - 1].kind = .check
    }

    /// Commits, and learns whether that was done.
    func commit() throws {
        if owedBegin != nil {
            owedBegin = nil
            return
        }
        guard isInTransaction else { return }
        let tag = try run(commit: ServerText.commit)
        isInTransaction = false
        // What the server says where a statement has failed, which nobody minded.
        guard tag == ServerText.commit else {
            throw SQLFailure.misuse("a statement of the transaction has failed, so that nothing was committed")
        }
    }

    private func run(commit sql: String) throws -> String {
        try sendHeld()
        try observer?.willRun(sql, bindings: [])
        try sendTransaction(sql)
        pending.append(Sent(kind: .statement, sql: sql, observation: observation))
        guard let result = try finish(), let tag = PQcmdStatus(result.pointer) else { throw broken(sql) }
        return String(cString: tag)
    }

    /// Ends a transaction that only read; what comes of that nobody waits for.
    func endReading() {
        owedBegin = nil
        guard isInTransaction else { return }
        isInTransaction = false
        if let observer { try? observer.willRun(ServerText.commit, bindings: []) }
        guard !isBroken, cancellation.settle(), (try? sendTransaction(ServerText.commit)) != nil,
            PQpipelineSync(handle) == 1
        else {
            isBroken = true
            return
        }
        pending.append(Sent(kind: .housekeeping))
        pending.append(Sent(kind: .end))
        if PQflush(handle) != 0 { isBroken = true }
        observer?.didRun(ServerText.commit, duration: .zero, rows: 0)
    }

    func rollBack() {
        owedBegin = nil
        owedNote = nil
        schemaCheck = .none
        letGo()
        guard isInTransaction, !isBroken else {
            isInTransaction = false
            return
        }
        isInTransaction = false
        observer = nil
        // What was sent and not asked for yet comes to nothing with it.
        for index in pending.indices where pending[index].kind == .statement || pending[index].kind == .check {
            pending[index] = Sent(kind: .housekeeping)
        }
        do {
            try awaitCancellation()
            try sendTransaction(ServerText.rollback)
            pending.append(Sent(kind: .housekeeping))
            try finish()
        } catch { isBroken = true }
    }

    /// Has the transaction be told again later; see ``ServerText/transactionStatus``.
    private func takeToken() throws {
        if case .integer(let value)? = try rows(ServerText.transactionToken).first?.first {
            token = .transaction(value)
        }
    }

    // MARK: Copies

    func copy(_ statement: CopyStatement) throws -> (any SQLRowCopy)? {
        guard traits.copies, let description = try self.statement(statement.description) as? PostgreSQLStatement,
            description.prepared.columnTypes.allSatisfy(PostgreSQLRowCopy.takes)
        else { return nil }
        let sql = statement.text(in: dialect).sql
        try beginIfOwed()
        try observer?.willRun(sql, bindings: [])
        // What was put off is told of now; between that and the end of the copy the session is in no pipeline.
        try finish()
        try awaitCancellation()
        // Until the copy ends.
        cancellation.begin()
        guard PQexitPipelineMode(handle) == 1, let result = PQexec(handle, sql).map(QueryResult.init) else {
            throw broken(sql)
        }
        copying = (sql, observer, clock.now())
        guard PQresultStatus(result.pointer) == PGRES_COPY_IN else {
            defer { cancellation.end() }
            if PQstatus(handle) != CONNECTION_OK { throw broken(sql) }
            let failure = naming(SQLFailure.of(result.pointer, sql: sql))
            try backToPipeline()
            throw failure
        }
        return PostgreSQLRowCopy(self, description.prepared.columnTypes)
    }

    func sendCopy(_ bytes: UnsafeRawBufferPointer) throws {
        var first = 0
        while first < bytes.count {
            let count = min(bytes.count - first, 1 << 30)
            let part = bytes.baseAddress.map { ($0 + first).assumingMemoryBound(to: CChar.self) }
            guard PQputCopyData(handle, part, Int32(count)) == 1 else { throw broken(copying?.sql) }
            first += count
        }
    }

    func endCopy() throws {
        defer { cancellation.end() }
        guard PQputCopyEnd(handle, nil) == 1, let result = PQgetResult(handle).map(QueryResult.init) else {
            throw broken(copying?.sql)
        }
        while let more = PQgetResult(handle) { PQclear(more) }
        if PQstatus(handle) != CONNECTION_OK { throw broken(copying?.sql) }
        let copied = copying
        try backToPipeline()
        guard PQresultStatus(result.pointer) == PGRES_COMMAND_OK else {
            throw naming(SQLFailure.of(result.pointer, sql: copied?.sql ?? ""))
        }
        if let copied {
            copied.observer?.didRun(
                copied.sql, duration: copied.start.duration(to: clock.now()), rows: result.changeCount)
        }
    }

    func giveUpCopy() {
        defer { cancellation.end() }
        guard !isBroken else { return }
        guard PQputCopyEnd(handle, "given up") == 1 else {
            isBroken = true
            return
        }
        while let result = PQgetResult(handle) { PQclear(result) }
        do { try backToPipeline() } catch { isBroken = true }
    }

    private func backToPipeline() throws {
        let sql = copying?.sql
        copying = nil
        guard PQenterPipelineMode(handle) == 1 else { throw broken(sql) }
    }

    // MARK: Attempts: parts of a transaction that may fail without it

    /// Runs a part of a transaction that may fail without it: what the server cannot compute is tried again in memory. Where there
    /// is no transaction a statement fails by itself.
    func attempting<R>(_ body: () throws -> R) throws -> R {
        guard isInTransaction || owedBegin != nil else { return try body() }
        // What was put off is told of now: its surprises are none of the attempt's.
        if pending.contains(where: { $0.kind == .statement }) { try finish() }
        try beginAttempt()
        do {
            let result = try body()
            try endAttempt()
            return result
        } catch {
            giveUpAttempt()
            throw error
        }
    }

    func beginAttempt() throws {
        try beginIfOwed()
        try sendHousekeeping(ServerText.beginAttempt)
    }

    func endAttempt() throws { try sendHousekeeping(ServerText.endAttempt) }

    func giveUpAttempt() {
        guard !isBroken else { return }
        do {
            try sendHousekeeping(ServerText.giveUpAttempt)
            try sendHousekeeping(ServerText.endAttempt)
            try finish()
        } catch { isBroken = true }
    }

    private func sendHousekeeping(_ sql: String) throws {
        try awaitCancellation()
        try sendHeld()
        guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw broken(sql) }
        pending.append(Sent(kind: .housekeeping))
    }

    // MARK: Results

    private func broken(_ sql: String?) -> SQLFailure {
        isBroken = true
        return .lost(handle, sql: sql)
    }

    /// Waits for a request to cancel that is on its way, and gives the connection up if it does not arrive in time.
    func settleCancellation() { if !isBroken, !cancellation.settle() { isBroken = true } }

    /// Waits for a request to cancel that is on its way: it would cancel what is sent next.
    private func awaitCancellation() throws {
        guard cancellation.settle() else {
            isBroken = true
            throw SQLFailure(
                kind: .disconnected, code: 0,
                message:
                    "a request to cancel a statement has not reached the server in time; the connection is closed, since the request would cancel the next statement"
            )
        }
    }

    /// Waits for the end of the last transaction where sessions are not kept: a pooler gives the session to others when the server says that the
    /// transaction has ended, and some do so with a part of the next one on its way to it.
    private func awaitEnd() throws {
        guard !traits.keepsSessions, !isInTransaction, pending.last?.kind == .end else { return }
        try collect()
    }

    /// Has the server do all that was sent and takes what came of it: the last result.
    ///
    /// - Throws: the first failure; what was sent behind it was not done.
    @discardableResult
    private func finish() throws -> QueryResult? {
        try sendHeld()
        cancellation.begin()
        defer { cancellation.end() }
        guard PQpipelineSync(handle) == 1 else { throw broken(nil) }
        pending.append(Sent(kind: .end))
        return try collect()
    }

    /// Takes what came of all that was sent, the end of which was sent, too.
    @discardableResult
    private func collect() throws -> QueryResult? {
        var sent: [Sent] = []
        swap(&sent, &pending)
        // The array's memory serves the next ones.
        defer {
            if pending.isEmpty {
                sent.removeAll(keepingCapacity: true)
                swap(&sent, &pending)
            }
        }
        var last: OpaquePointer?
        defer { if let last { PQclear(last) } }
        var failure: SQLFailure?
        var surprises: [() throws -> Void] = []
        // In place: to take an entry in hand would count its references.
        for index in sent.indices {
            guard let result = PQgetResult(handle) else { throw broken(nil) }
            var isKept = false
            defer { if !isKept { PQclear(result) } }
            let status = PQresultStatus(result)
            let kind = sent[index].kind
            if kind == .end {
                guard status == PGRES_PIPELINE_SYNC else { throw broken(nil) }
                continue
            }
            while let more = PQgetResult(handle) { PQclear(more) }
            switch status {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: break
            case PGRES_PIPELINE_ABORTED:
                if kind == .preparation { sent[index].text?.state = .unknown }
                continue
            default:
                if PQstatus(handle) != CONNECTION_OK { isBroken = true }
                let own = self.failure(result, sent[index])
                if own.kind == .disconnected { isBroken = true }
                if failure == nil { failure = own }
                continue
            }
            if kind == .preparation { sent[index].text?.state = .prepared }
            guard kind == .statement || kind == .check else { continue }
            if kind == .statement {
                if let last { PQclear(last) }
                (last, isKept) = (result, true)
            }
            let expected = sent[index].expected
            let isObserved = sent[index].observation != nil
            guard isObserved || expected >= 0 else { continue }
            let count = status == PGRES_TUPLES_OK ? Int(PQntuples(result)) : QueryResult.changeCount(result)
            if let observation = sent[index].observation {
                observation.observer.didRun(
                    sent[index].sql, duration: observation.start.duration(to: clock.now()), rows: count)
            }
            if expected >= 0, count != expected, let otherwise = sent[index].otherwise { surprises.append(otherwise) }
        }
        if let failure {
            // A COMMIT that nobody waited for was cancelled: the failed transaction is still open.
            if !isInTransaction, PQtransactionStatus(handle) == PQTRANS_INERROR { isBroken = true }
            throw failure
        }
        if !surprises.isEmpty { try withoutSchemaCheck { for surprise in surprises { try surprise() } } }
        defer { last = nil }
        return last.map { QueryResult($0) }
    }

    private func withoutSchemaCheck(_ body: () throws -> Void) throws {
        let check = schemaCheck
        schemaCheck = .none
        defer { schemaCheck = check }
        try body()
    }

    private func failure(_ result: OpaquePointer, _ sent: Sent) -> SQLFailure {
        switch sent.kind {
        case .statement, .check:
            if isBroken, PQresultStatus(result) != PGRES_FATAL_ERROR { return .lost(handle, sql: sent.sql) }
            var failure = naming(SQLFailure.of(result, sql: sent.sql))
            // What it was is told when its statements run by themselves.
            if sent.countsByItself, !failure.isOfTheMoment {
                if failure.isOfAnUnknownFeature { sent.text?.state = .refused }
                failure.kind = .expectation
            }
            return failure
        case .preparation:
            var failure = naming(SQLFailure.of(result, sql: sent.text?.sql ?? ""))
            sent.text?.state = failure.isOfAnUnknownFeature ? .refused : .unknown
            if !failure.isOfTheMoment { failure.kind = .expectation }
            return failure
        case .housekeeping, .end: return naming(SQLFailure.of(result, sql: ""))
        }
    }

    /// Tells a statement that this program cancelled from one that the server cancelled after its time limit: both have the same state.
    private func naming(_ failure: SQLFailure) -> SQLFailure {
        guard failure.kind == .timedOut, cancellation.isMeant else { return failure }
        var interrupted = failure
        interrupted.kind = .interrupted
        return interrupted
    }

    // MARK: Probes

    /// Sends a statement whose result nobody waits for: it shows whether the server still answers.
    func sendProbe(_ sql: String) throws {
        guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1, PQpipelineSync(handle) == 1,
            PQflush(handle) == 0
        else { throw broken(sql) }
        pending.append(Sent(kind: .statement, sql: sql))
        pending.append(Sent(kind: .end))
    }

    /// Takes the result of a probe.
    ///
    /// - Returns: whether it has arrived.
    func takeProbe() throws -> Bool {
        guard PQisBusy(handle) == 0 else { return false }
        try collect()
        return true
    }

    // MARK: Schema

    func schemaVersion() throws -> Int64 {
        guard case .integer(let version)? = try rows(ServerText.schemaVersion).first?.first else { return 0 }
        return version
    }

    /// Whether a statement may ask the function for the number; to be asked of a session that is in no transaction.
    @discardableResult
    func callsSchemaNumber() throws -> Bool {
        if let hasSchemaNumber { return hasSchemaNumber }
        guard traits.plansAnew, !isInTransaction, owedBegin == nil else { return false }
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

    func expectSchemaVersion(_ version: Int64, otherwise: @escaping () throws -> Void) throws {
        if let note = owedNote {
            owedNote = nil
            return try self.note(note, expecting: version, otherwise: otherwise)
        }
        if case .awaited = schemaCheck {
            schemaCheck = .owed(version: version, otherwise: otherwise)
            return
        }
        try sendSchemaCheck(version, otherwise)
    }

    /// Writes down what the transaction is known by, and sees that the schema is the known one, by one statement.
    private func note(_ note: Note, expecting version: Int64, otherwise: @escaping () throws -> Void) throws {
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

    private func sendSchemaCheck(_ version: Int64, _ otherwise: @escaping () throws -> Void) throws {
        let statement = try ownStatement(ServerText.schemaVersionIs)
        defer { statement.reset() }
        try statement.bind(version, at: 0)
        try statement.runLater(expecting: 1, otherwise: otherwise)
    }

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

    /// The one row of a statement that runs once, without that it is prepared; its values are bound as text.
    private func once(_ sql: String, _ values: [SQLValue]) throws -> [SQLValue] {
        guard sendOnce(sql, values) else { throw broken(sql) }
        pending.append(Sent(kind: .statement, sql: sql))
        guard let result = try finish(), result.rowCount == 1 else { return [] }
        let types = (0..<PQnfields(result.pointer)).map { PQftype(result.pointer, $0) }
        return types.withUnsafeBufferPointer { types in
            let row = WireValues(result.pointer, row: 0, types: types)
            return types.indices.map { row.value($0) }
        }
    }

    private func sendOnce(_ sql: String, _ values: [SQLValue]) -> Bool {
        let texts = values.map { value -> UnsafeMutablePointer<CChar>? in
            if case .text(let text) = value { strdup(text) } else { nil }
        }
        defer { for text in texts { free(text) } }
        return texts.map { UnsafePointer<CChar>($0) }.withUnsafeBufferPointer { places in
            PQsendQueryParams(handle, sql, Int32(places.count), nil, places.baseAddress, nil, nil, 1) == 1
        }
    }

    /// Every row of a statement of ``ServerText``.
    @discardableResult
    func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
        let statement = try statement(sql)
        defer { statement.reset() }
        if !values.isEmpty { try statement.bind(values, at: 0) }
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append((0..<statement.columnCount).map(statement.value)) }
        return rows
    }

    /// As ``rows(_:_:)``, of which nobody waits for what comes.
    func runLater(_ sql: String, _ values: [SQLValue], expecting count: Int? = nil) throws {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values, at: 0)
        try statement.runLater(expecting: count, otherwise: {})
    }
}
