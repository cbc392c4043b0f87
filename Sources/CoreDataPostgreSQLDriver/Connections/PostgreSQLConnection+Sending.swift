import CPostgreSQL
import CoreDataSQL
import Foundation

// The steps before a statement is sent, and the preparation of texts.
extension PostgreSQLConnection {
    /// Performs the steps that are necessary before sending.
    func prepareToSend(_ purpose: PipelineState.Purpose) throws {
        while true {
            switch pipeline.nextStep(before: purpose, keepsSessions: traits.keepsSessions) {
            case .settleCancellation: try awaitCancellation()
            case .takeAnswers: try collect()
            case .sendNote(let note):
                try runLater(ServerText.noteCommit, [.integer(note.writer), .integer(note.number)], expecting: 1)
            case .begin(let sql): try sendBegin(sql)
            case .sendHeld: try sendHeld()
            case .send: return
            }
        }
    }

    private func sendBegin(_ text: String) throws {
        let sql = text == ServerText.beginWriting && traits.setsTransactions ? ServerText.begin : text
        try observer?.willRun(sql, bindings: [])
        try sendCommand(sql)
        pipeline.queue.append(PipelineEntry(kind: .command))
        pipeline.transaction.didBegin()
        if !traits.keepsSessions { try sendSettings() }
        observer?.didRun(sql, duration: .zero, rows: 0)
    }

    /// Applies the session's settings to the current transaction, because a pooler may switch sessions.
    private func sendSettings() throws {
        try observer?.willRun(ServerText.useSchemaInTransaction, bindings: settings)
        guard sendOnce(ServerText.useSchemaInTransaction, settings) else {
            throw broken(ServerText.useSchemaInTransaction)
        }
        pipeline.queue.append(PipelineEntry(kind: .command))
    }

    /// Sends a command that begins, locks or ends a transaction; the caller adds the entry for its answer.
    func sendCommand(_ sql: String) throws {
        let text = traits.keepsSessions ? known.command(sql) : nil
        let isSent: Int32
        if let text, text.state != .refused {
            try sendPreparation(text)
            isSent = PQsendQueryPrepared(handle, text.name, 0, nil, nil, nil, 1)
        } else {
            isSent = PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1)
        }
        guard isSent == 1 else { throw broken(sql) }
    }

    /// Makes the session prepare the text, unless it already has.
    func sendPreparation(_ text: NamedText) throws {
        guard text.state == .unknown else { return }
        let types = text.parameterTypes
        let isSent = types.withUnsafeBufferPointer {
            PQsendPrepare(handle, text.name, text.sql, Int32(types.count), $0.baseAddress)
        }
        guard isSent == 1 else { throw broken(text.sql) }
        text.state = .sent
        pipeline.queue.append(PipelineEntry(kind: .preparation, text: text))
    }

    /// Sends a command outside a transaction, or one for a savepoint.
    func sendHousekeeping(_ sql: String) throws {
        try prepareToSend(.command)
        guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw broken(sql) }
        pipeline.queue.append(PipelineEntry(kind: .command))
    }

    /// Sends an unprepared statement that runs once; its values are bound as text.
    func sendOnce(_ sql: String, _ values: [SQLValue]) -> Bool {
        let texts = values.map { value -> UnsafeMutablePointer<CChar>? in
            if case .text(let text) = value { strdup(text) } else { nil }
        }
        defer { for text in texts { free(text) } }
        return texts.map { UnsafePointer<CChar>($0) }.withUnsafeBufferPointer { places in
            PQsendQueryParams(handle, sql, Int32(places.count), nil, places.baseAddress, nil, nil, 1) == 1
        }
    }

    var pipelines: Bool { true }

    /// Completes the queued statements. In a writing transaction without a recorded identity, requests the transaction
    /// ID in the same round trip.
    func settle() throws {
        // Errors of a refused text must be known before the commit is sent.
        try sendHeld()
        switch pipeline.settling(tellsTransactions: traits.tellsTransactions) {
        case .nothing: break
        case .takeToken: try takeToken()
        case .checkSchema:
            if let check = try schemaCheckBehind() {
                try prepareToSend(.statement)
                try send(check)
            }
            try finish()
        case .takeAnswers: try finish()
        }
        // A cancel request that does not arrive in time makes the transaction fail here, before COMMIT. After COMMIT,
        // the outcome would be unknown.
        try prepareToSend(.command)
    }

    func expectPauses() throws { try rows(ServerText.allowPauses) }
}
