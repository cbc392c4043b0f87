import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// A note that a save writes in its own transaction, under a key that no other save has used.
package struct SaveNote: Hashable, Sendable {
    /// The key of a context's user info under which the note of its next save is.
    package static let key = "OpenCoreDataTransactionNote"
    /// The option of a store that keeps notes.
    package static let storeOption = "OpenCoreDataTransactionNotes"

    package var key: String
    package var content: Data

    package init(key: String, content: Data) {
        self.key = key
        self.content = content
    }
}

/// A save whose note has the key of a note that exists already; it wrote nothing.
package struct NoteExists: EngineFailure, CustomStringConvertible {
    package let key: String

    package var description: String {
        "The store has a transaction note with this key already: the save that wrote it was committed, and this one was not."
    }
}

extension BookkeepingSchema {
    /// The table of notes; only in stores that were opened with the option for them.
    package static let noteTable = "Z_TRANSACTIONNOTE"

    package static let notes: [SchemaStatement] = [
        .table(
            CreateTable(
                noteTable, columns: [.init("ZKEY", .text), .init("ZTIMESTAMP", .real), .init("ZCONTENT", .bytes)],
                primaryKey: ["ZKEY"], hasInnerSpaces: false)),
        .index(CreateIndex("Z_TRANSACTIONNOTE_TIMESTAMP_INDEX", on: noteTable, [.init("ZTIMESTAMP")])),
    ]
}
