import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// Writes the note of each save that has one, in the transaction of the save.
///
///     SELECT ZCONTENT FROM Z_TRANSACTIONNOTE WHERE ZKEY = ?
///     INSERT INTO Z_TRANSACTIONNOTE (ZKEY, ZTIMESTAMP, ZCONTENT) VALUES (?, ?, ?)
package struct NoteParticipant: SaveParticipant {
    package init() {}

    package func prepare(_ engine: StoreEngine) throws {
        guard !engine.isReadOnly else { return }
        let exists = try engine.database.read { try StoreCatalog.read($0).table(BookkeepingSchema.noteTable) != nil }
        guard !exists else { return }
        try engine.write { connection in
            // Another process may have made it meanwhile.
            guard try StoreCatalog.read(connection).table(BookkeepingSchema.noteTable) == nil else { return }
            try BookkeepingCreation.make(BookkeepingSchema.notes, in: connection)
        }
    }

    package func begin(_ transaction: SaveTransaction) throws -> (any SaveParticipation)? {
        NoteParticipation(transaction: transaction)
    }
}

private struct NoteParticipation: SaveParticipation {
    let transaction: SaveTransaction

    func willWrite(_ portion: SavePortion) throws {
        guard let note = portion.changes.note else { return }
        guard try StoreEngine.note(note.key, transaction.connection) == nil else { throw NoteExists(key: note.key) }
        try transaction.connection.run(
            InsertStatement(
                into: BookkeepingSchema.noteTable, columns: ["ZKEY", "ZTIMESTAMP", "ZCONTENT"],
                rows: [
                    [
                        .bind(.text(note.key)), .bind(.real(transaction.engine.clock.now)), .bind(.blob(note.content)),
                    ]
                ]))
    }
}

extension StoreEngine: NotingSource {
    package func note(_ key: String) throws -> Data? { try database.read { try Self.note(key, $0) } }

    package func deleteNotes(before time: Double) throws -> Int {
        try write {
            try $0.run(
                DeleteStatement(
                    from: BookkeepingSchema.noteTable,
                    where: .comparison(.less, .column(nil, "ZTIMESTAMP"), .bind(.real(time)))))
        }
    }

    package var keepsNotes: Bool { participants.contains { $0 is NoteParticipant } }

    static func note(_ key: String, _ connection: any SQLConnection) throws -> Data? {
        var query = SelectStatement([.init(.column(nil, "ZCONTENT"))], from: .init(BookkeepingSchema.noteTable))
        query.condition = .comparison(.equal, .column(nil, "ZKEY"), .bind(.text(key)))
        guard let row = try connection.rows(query).first else { return nil }
        if case .blob(let content)? = row.first { return content }
        return Data()
    }
}
