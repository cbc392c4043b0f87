import CPostgreSQL
import CoreDataSQL

// Holds statements back and sends several of them as one.
extension PostgreSQLConnection {
    /// Holds the statement back for a group, if the commit is sent with it and the statements may run in any order.
    func hold(
        _ statement: PostgreSQLStatement, expecting count: Int?, otherwise: (() throws -> Void)?
    ) throws -> Bool {
        guard statement.arrays == nil else { return false }
        let valueCount = statement.prepared.parameterTypes.count
        switch pipeline.holding(valueCount: valueCount, expecting: count) {
        case .none: return false
        case .join: try prepareToSend(.waitingStatement)
        case .joinAfterSending: try prepareToSend(.statement)
        }
        statement.isHeld = true
        known.held.append(HeldStatement(statement: statement, isOfOneRow: count == 1, otherwise: otherwise))
        pipeline.didHold(valueCount: valueCount)
        return true
    }

    /// Sends the held statements.
    func sendHeld() throws {
        guard !known.held.isEmpty else { return }
        if let removed = try sendGroup() { try forget(removed.text) }
    }

    /// - Returns: the group that was evicted from the cache.
    private func sendGroup() throws -> StatementGroup? {
        defer { discardHeld() }
        let (group, removed) = known.held.count > 1 ? known.groups.group(of: known.held) : (nil, nil)
        if let group, group.text.state != .refused {
            try send(group)
        } else {
            for one in known.held {
                try sendAlone(one.statement, expecting: one.isOfOneRow ? 1 : nil, otherwise: one.otherwise)
            }
        }
        return removed
    }

    /// Discards the held statements.
    func discardHeld() {
        for one in known.held {
            one.statement.isHeld = false
            one.statement.reset()
        }
        known.held.removeAll(keepingCapacity: true)
        pipeline.didSendHeld()
    }

    private func send(_ group: StatementGroup) throws {
        let text = group.text
        if traits.keepsSessions { try sendPreparation(text) }
        if let observer {
            try observer.willRun(text.sql, bindings: known.held.flatMap(\.statement.observedBindings))
        }
        let count = text.parameterTypes.count
        let isSent = withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: max(count, 1)) { values in
            withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * max(count, 1)) { numbers -> Int32 in
                guard let values = values.baseAddress, let lengths = numbers.baseAddress else { return 0 }
                let formats = lengths + count
                var first = 0
                for one in known.held {
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
        pipeline.queue.append(
            PipelineEntry(
                kind: .statement, failsByItself: true, sql: text.sql, text: text, observation: observation))
    }
}
