import CoreDataSQL

/// Updates search indexes in the transaction that changes their rows; triggers have recorded the keys.
struct SearchParticipant: SaveParticipant {
    let indexes: [SearchIndex]

    func begin(_ transaction: SaveTransaction) throws -> (any SaveParticipation)? {
        Participation(indexes: indexes, connection: transaction.connection)
    }

    private struct Participation: SaveParticipation {
        let indexes: [SearchIndex]
        let connection: any SQLConnection

        func willEnd() throws { try SearchIndexes.update(indexes, in: connection) }
    }
}
