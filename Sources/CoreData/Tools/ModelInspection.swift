import CoreDataModel
import CoreDataStore
import Foundation

/// The facts about stores that the model tools need.
package enum ModelInspection {
    /// Returns the copy of its model that a store keeps.
    package static func cachedModel(ofStoreAt url: URL) throws -> ModelDocument {
        try SQLStore.cachedModel(of: url)
    }

    /// Returns a model that fits the tables of a store, for inspecting stores whose model is not available.
    ///
    /// Its version hashes are not the store's: the store opens only with the option that ignores them.
    ///
    /// - Returns: the model, and the columns whose destinations are not known.
    package static func inferredModel(ofStoreAt url: URL) throws -> (document: ModelDocument, doubts: [String]) {
        let inference = try SQLStore.reading(url) { options in
            try StoreEngine.inferredModel(options: options, makeDatabase: { try SQLStore.makeDatabase($0) })
        }
        return (inference.document, inference.doubts)
    }
}
