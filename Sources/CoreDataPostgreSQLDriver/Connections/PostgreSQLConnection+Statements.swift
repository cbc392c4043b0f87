import CPostgreSQL
import CoreDataSQL

// Prepares, executes and queries statements.
extension PostgreSQLConnection {
    func statement(_ sql: String) throws -> any SQLStatement { try ownStatement(sql) }

    func ownStatement(_ sql: String) throws -> PostgreSQLStatement {
        if let entry = known.table.entry(sql) {
            // A client with a reference keeps the statement; the cache prepares another.
            if isKnownUniquelyReferenced(&entry.statement) {
                entry.statement.reset()
                return entry.statement
            }
            let other = PostgreSQLStatement(entry.statement.prepared, self)
            entry.statement = other
            return other
        }
        let made = PostgreSQLStatement(try prepare(sql), self)
        if let oldest = known.table.add(made) { try forget(oldest.prepared) }
        return made
    }

    private func forget(_ prepared: PreparedStatement) throws {
        prepared.isForgotten = true
        guard traits.keepsSessions else { return }
        try sendHousekeeping(ServerText.forget(prepared.name))
        if let text = prepared.ofOneRow { try forget(text) }
        for group in known.groups.remove(with: prepared) { try forget(group.text) }
    }

    func forget(_ text: NamedText) throws {
        guard traits.keepsSessions, text.state == .sent || text.state == .prepared else { return }
        try sendHousekeeping(ServerText.forget(text.name))
    }

    /// Makes the server prepare the text. Without persistent sessions, the server forgets it again, and only the types
    /// of its parameters and results are kept.
    func prepare(_ sql: String) throws -> PreparedStatement {
        // The protocol counts parameters with 16 bits, and the server's error for more is unclear.
        if sql.utf8.count > 400_000, sql.contains("$65536") {
            throw SQLFailure(
                kind: .other, code: 0, message: "a statement on a server takes 65,535 values, and this one has more")
        }
        try prepareToSend(.statement)
        let name = traits.keepsSessions ? known.newName() : ""
        guard PQsendPrepare(handle, name, sql, 0, nil) == 1, PQsendDescribePrepared(handle, name) == 1 else {
            throw broken(sql)
        }
        // One entry for the text, and one for its description.
        for _ in 0..<2 { pipeline.queue.append(PipelineEntry(kind: .statement, sql: sql)) }
        guard let description = try finish() else { throw broken(sql) }
        return PreparedStatement(sql, name: name, description: description.pointer)
    }

    func keyedStatement(_ select: SelectStatement, key: String) -> any SQLKeyedStatement {
        PostgreSQLKeyedStatement(select, key: key, self)
    }

    func execute(_ sql: String) throws {
        try prepareToSend(.statement)
        try observer?.willRun(sql, bindings: [])
        guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw broken(sql) }
        pipeline.queue.append(PipelineEntry(kind: .statement, sql: sql, observation: observation))
        try finish()
        answerCount += 1
    }

    /// Runs the statement, and everything that was sent before it.
    func query(_ statement: PostgreSQLStatement) throws -> QueryResult {
        // Prepare the check first, since preparing may wait for an answer, and a wait requires further steps before
        // sending.
        let check = try schemaCheckBehind()
        try prepareToSend(.statement)
        try sendAlone(statement, expecting: nil, otherwise: nil)
        if let check { try send(check) }
        guard let result = try finish() else { throw broken(statement.sql) }
        answerCount += 1
        return result
    }

    /// Sends the statement, or holds it back for a group.
    func send(_ statement: PostgreSQLStatement, expecting count: Int?, otherwise: (() throws -> Void)?) throws {
        if try hold(statement, expecting: count, otherwise: otherwise) { return }
        try prepareToSend(.statement)
        try sendAlone(statement, expecting: count, otherwise: otherwise)
    }

    /// Sends the statement by itself; call ``prepareToSend(_:)`` before.
    func sendAlone(
        _ statement: PostgreSQLStatement, as kind: PipelineEntry.Kind = .statement, expecting count: Int?,
        otherwise: (() throws -> Void)?
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
        pipeline.queue.append(
            PipelineEntry(
                kind: kind, expectedRowCount: count ?? -1, failsByItself: counting != nil, sql: statement.sql,
                text: counting, mismatch: counting == nil ? otherwise : nil, observation: observation))
    }

    /// Returns a variant of the statement that fails unless it finds the expected number of rows, so that the commit
    /// can be sent with it.
    private func counting(_ prepared: PreparedStatement, _ count: Int?) throws -> NamedText? {
        guard let count, pipeline.transaction.commitsAtOnce else { return nil }
        let text = prepared.makeOfOneRow()
        guard pipeline.transaction.commitsAtOnce(counting: count, isRefused: text.state == .refused) else {
            return nil
        }
        if traits.keepsSessions { try sendPreparation(text) }
        return text
    }

    // MARK: Statements of ServerText

    /// Returns the single row of an unprepared statement; its values are bound as text.
    func once(_ sql: String, _ values: [SQLValue]) throws -> [SQLValue] {
        guard sendOnce(sql, values) else { throw broken(sql) }
        pipeline.queue.append(PipelineEntry(kind: .statement, sql: sql))
        guard let result = try finish(), result.rowCount == 1 else { return [] }
        let types = (0..<PQnfields(result.pointer)).map { PQftype(result.pointer, $0) }
        return types.withUnsafeBufferPointer { types in
            let row = WireValues(result.pointer, row: 0, types: types)
            return types.indices.map { row.value($0) }
        }
    }

    /// Returns every row of a statement of ``ServerText``.
    @discardableResult
    func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
        let statement = try statement(sql)
        defer { statement.reset() }
        if !values.isEmpty { try statement.bind(values, at: 0) }
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append((0..<statement.columnCount).map(statement.value)) }
        return rows
    }

    /// Runs a statement like ``rows(_:_:)``, without waiting for its result.
    func runLater(_ sql: String, _ values: [SQLValue], expecting count: Int? = nil) throws {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values, at: 0)
        try statement.runLater(expecting: count, otherwise: {})
    }
}
