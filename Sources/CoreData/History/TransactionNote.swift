import CoreDataStore
import Foundation

/// A note that a save writes in its own transaction, under a key that no other save has used.
///
///     context.transactionNote = TransactionNote(key: requestID, content: answer)
///     try context.save()                                          // the changes and the note, or neither
///     try coordinator.transactionNote(forKey: requestID)          // was this request done already?
///
/// A server thus does a request once, whatever fails: if a client repeats the request because it got no answer, the
/// note tells that the changes were committed. A save whose key exists throws and writes nothing, also if another
/// process wrote the note at the same time.
///
/// The store needs the option ``NSPersistentStore/transactionNotesOption``. Cost: two statements for a save with a
/// note. Not in Apple's API; stores have one table more, which Apple's framework ignores.
public struct TransactionNote: Hashable, Sendable {
    /// The key, unique in the store.
    public var key: String
    /// Anything that the program needs to answer again.
    public var content: Data

    /// Makes a note.
    public init(key: String, content: Data) {
        self.key = key
        self.content = content
    }
}

extension NSPersistentStore {
    /// Option, Bool: the store keeps a ``TransactionNote`` of each save that has one. Only for SQL stores.
    public static let transactionNotesOption = SaveNote.storeOption
}

extension NSManagedObjectContext {
    /// The note that the next save writes; set it to `nil` after the save.
    ///
    /// A save without changes writes no note. A save of several stores writes it to each store that keeps notes. A
    /// child context passes its changes to its parent without the note.
    public final var transactionNote: TransactionNote? {
        get { (userInfo[SaveNote.key] as? SaveNote).map { TransactionNote(key: $0.key, content: $0.content) } }
        set {
            guard let newValue else { return userInfo.removeObject(forKey: SaveNote.key) }
            userInfo[SaveNote.key] = SaveNote(key: newValue.key, content: newValue.content)
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// Returns the note with the key, of any store that keeps notes; `nil` if no save that wrote it was committed.
    public final func transactionNote(forKey key: String) throws -> TransactionNote? {
        for source in notingSources {
            if let content = try CoreDataErrors.converting({ try source.note(key) }) {
                return TransactionNote(key: key, content: content)
            }
        }
        return nil
    }

    /// Deletes the notes of saves before the date; returns their number.
    ///
    /// Call it from time to time: the store never deletes a note by itself.
    @discardableResult
    public final func purgeTransactionNotes(before date: Date) throws -> Int {
        try notingSources.reduce(0) { count, source in
            try count
                + CoreDataErrors.converting { try source.deleteNotes(before: date.timeIntervalSinceReferenceDate) }
        }
    }

    private var notingSources: [any NotingSource] {
        attachedStores.compactMap { $0.target as? any NotingSource }.filter(\.keepsNotes)
    }
}
