import CoreData
import Foundation
import Synchronization

extension ModelContext {
    /// Saves, if automatic saving is enabled and there are changes.
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
        let reference: ContextReference<ModelContext>

        var context: ModelContext? { reference.context }
    }

    private static let contexts = Mutex<[Entry]>([])
    /// Registered once, with the first main context.
    private static let isRegistered: Bool = {
        atexit { Autosave.saveAll() }
        return true
    }()

    static func saveAtExit(_ context: ModelContext) {
        _ = isRegistered
        let entry = Entry(reference: ContextReference(context))
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
