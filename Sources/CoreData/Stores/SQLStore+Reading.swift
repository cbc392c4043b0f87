import CoreDataModel
import CoreDataSQL
import CoreDataStore
import Foundation

extension SQLStore {
    /// Runs the body with options for reading a store that no coordinator has open; failures become the errors that
    /// users see.
    static func reading<R>(_ url: URL, _ body: (DatabaseOptions) throws -> R) throws -> R {
        let isOnServer = ServerStores.shared.driver(of: url) != nil
        if !isOnServer { try CoreDataErrors.checkIsStoreFile(url) }
        var options = StoreOptions(path: isOnServer ? nil : url.path).database
        if isOnServer { options.server = url }
        options.isReadOnly = true
        options.leavesNothing = true
        do { return try body(options) } catch let failure as StoreFailure {
            throw CoreDataErrors.store(failure, url: ServerStores.shared.shown(url))
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }

    /// Returns the copy of its model that a store keeps.
    static func cachedModel(of url: URL) throws -> ModelDocument {
        try reading(url) { options in
            try StoreEngine.cachedModelDocument(options: options, makeDatabase: { try makeDatabase($0) })
        }
    }
}
