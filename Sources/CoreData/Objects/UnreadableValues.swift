import CoreDataStore

/// Where it is told that a value cannot be read: its bytes are in a file that is not there, or are no archive though they should be.
enum UnreadableValues {
    /// Tells the context's listener, if it has one, else the log: `'photo' of Item 7 could not be read: …`.
    static func tell(_ error: any Error, _ what: String, _ context: NSManagedObjectContext?) {
        let reason = (error as? ExternalDataFailure)?.message ?? error.localizedDescription
        let message = "\(what) could not be read: \(reason)"
        if let listener = context?.unreadableValueListener { return listener(message) }
        CoreDataLog.general.error("\(message)")
    }
}
