import CoreDataStore

/// Reports that a value cannot be read: its bytes are in a file that does not exist, or are a corrupted archive.
enum UnreadableValues {
    /// Calls the context's listener, if it has one, else logs: `'photo' of Item 7 could not be read: …`.
    static func tell(_ error: any Error, _ what: String, _ context: NSManagedObjectContext?) {
        let reason = (error as? ExternalDataFailure)?.message ?? error.localizedDescription
        let message = "\(what) could not be read: \(reason)"
        if let listener = context?.unreadableValueListener { return listener(message) }
        CoreDataLog.general.error("\(message)")
    }
}
