import CoreData
import Foundation
import Synchronization

extension ModelContext {
    /// Saves, if the context does that by itself and there is something to save.
    func autosave() {
        guard autosaveEnabled, managedObjectContext.hasChanges else { return }
        do { try save() } catch {
            if let autosaveFailureHandler { return autosaveFailureHandler(error) }
            ModelLog.error(
                "The context cannot save by itself; its changes are there still. Call save() or rollback(). \(error)")
        }
    }
}

/// Main contexts save when the program exits.
enum Autosave {
    private struct Entry: @unchecked Sendable {
        // Safe because the context is used on the main thread only.
        weak var context: ModelContext?
    }

    private static let contexts = Mutex<[Entry]>([])
    /// Registered once, with the first main context.
    private static let isRegistered: Bool = {
        atexit { Autosave.saveAll() }
        return true
    }()

    static func saveAtExit(_ context: ModelContext) {
        _ = isRegistered
        let entry = Entry(context: context)
        contexts.withLock { contexts in
            contexts.removeAll { $0.context == nil }
            contexts.append(entry)
        }
    }

    private static func saveAll() {
        guard Thread.isMainThread else { return }
        for entry in contexts.withLock({ $0 }) { entry.context?.autosave() }
    }
}
