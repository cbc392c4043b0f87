import CoreData
import Foundation

#if PostgreSQL
    import CoreDataPostgreSQL
#endif

/// Opens the store of a service: makes it, migrates an older one, and turns on what a service needs.
package enum StoreOpening {
    /// A store that cannot be served, with what to do.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The place that a user has typed: a file, or a database on a server.
    package static func url(_ text: String) throws -> URL {
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
            return URL(fileURLWithPath: text)
        }
        #if PostgreSQL
            PostgreSQLStore.register()
            guard let url = URL(string: text) else {
                throw Failure(description: "--store: that is no URL of a database")
            }
            return url
        #else
            throw Failure(
                description: "This program was built without PostgreSQL: build it with --traits PostgreSQL.")
        #endif
    }

    /// The place as it may be shown: without a password.
    package static func shown(_ url: URL) -> String {
        guard !url.isFileURL, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
            return url.path
        }
        parts.password = nil
        parts.queryItems = parts.queryItems?.filter { !$0.name.hasSuffix("password") }
        return parts.string ?? "on a server"
    }

    /// Opens the store.
    ///
    /// - Parameter migrates: whether a store of an older version of the model is migrated; otherwise it is refused. Only
    ///   one of several processes that start at once migrates, and the others wait.
    package static func open(
        _ model: NSManagedObjectModel, at url: URL, migrates: Bool
    ) async throws -> (coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore) {
        let passed = Passed(model)
        let opened = try await Task.detached { () -> Passed<(NSPersistentStoreCoordinator, NSPersistentStore)> in
            let coordinator = try NSPersistentStoreCoordinator(validating: passed.value)
            var options: [String: Any] = [
                NSPersistentHistoryTrackingKey: NSNumber(value: true),
                NSPersistentStore.transactionNotesOption: NSNumber(value: true),
                NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: migrates),
                NSInferMappingModelAutomaticallyOption: NSNumber(value: migrates),
                // A store of another model is not emptied: only versions in the model's folder may lose what they drop.
                NSMigratePersistentStoresAllowingLossOption: NSNumber(value: false),
            ]
            // A request that waits longer for another writer is answered by 503. An acknowledged change survives a loss
            // of power. Servers know no pragmas.
            if url.isFileURL {
                options[NSSQLitePragmasOption] = ["busy_timeout": "3000", "synchronous": "FULL"]
            }
            do {
                let store = try coordinator.addPersistentStore(
                    type: .sqlite, configuration: nil, at: url, options: options)
                return Passed((coordinator, store))
            } catch let error as CocoaError
                where error.code.rawValue == NSPersistentStoreIncompatibleVersionHashError && !migrates
            {
                throw Failure(
                    description:
                        "The store was made with another version of the model, and --no-migration forbids to migrate it: "
                        + error.localizedDescription)
            }
        }.value
        guard !opened.value.1.isReadOnly else {
            throw Failure(description: "\(shown(url)) can only be read: a service writes to its store.")
        }
        return (opened.value.0, opened.value.1)
    }
}
