import CoreDataSQL

// Describes a store for other programs. This library does not need the descriptions, so a role without permission skips
// them.
extension PostgreSQLConnection {
    func describe(_ comments: [SchemaComment]) throws {
        guard !comments.isEmpty else { return }
        try makeIfAllowed("the tables have no comments", ServerText.describe(comments, in: dialect))
    }

    func lacksHistoryView() throws -> Bool {
        try traits.describesTables && !rows(ServerText.lacksHistoryView).isEmpty
    }

    func makeHistoryView() throws {
        try makeIfAllowed("there is no view of the history", ServerText.makeHistoryView(in: dialect))
    }

    func dropHistoryView() throws {
        guard traits.describesTables else { return }
        try execute(ServerText.dropHistoryView)
    }

    private func makeIfAllowed(_ otherwise: String, _ sql: String) throws {
        guard traits.describesTables else { return }
        do { try attempting { try execute(sql) } } catch let failure as SQLFailure
            where !isBroken && !failure.isTemporaryFailure
        {
            observer?.note("\(otherwise): \(failure.message)")
        }
    }
}
