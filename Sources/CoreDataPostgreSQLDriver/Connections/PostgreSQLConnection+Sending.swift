import CPostgreSQL
import CoreDataSQL
import Foundation

// What goes before a statement, and texts that are prepared on the way.
extension PostgreSQLConnection {
    /// Does what is to be done before something of that kind is sent.
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

    /// Has names and the like mean in this transaction what they do in a session of one's own.
    private func sendSettings() throws {
        try observer?.willRun(ServerText.useSchemaInTransaction, bindings: settings)
        guard sendOnce(ServerText.useSchemaInTransaction, settings) else {
            throw broken(ServerText.useSchemaInTransaction)
        }
        pipeline.queue.append(PipelineEntry(kind: .command))
    }

    /// Sends what begins, locks or ends a transaction; the caller adds the entry of what is to come of it.
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

    /// Has the session prepare the text, unless it has.
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

    /// Sends what belongs to no transaction, or to a part of one that may fail without it.
    func sendHousekeeping(_ sql: String) throws {
        try prepareToSend(.command)
        guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw broken(sql) }
        pipeline.queue.append(PipelineEntry(kind: .command))
    }

    /// Sends a statement that runs once, without that it is prepared; its values are bound as text.
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

    /// In a transaction that writes and could not note what it is known by, that is asked for on the same way.
    func settle() throws {
        // What a table does not take so is found out before the commit is on its way.
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
        // A request to cancel that does not arrive in time costs the transaction here, before COMMIT, whose outcome nobody would know.
        try prepareToSend(.command)
    }

    func expectPauses() throws { try rows(ServerText.allowPauses) }
}
