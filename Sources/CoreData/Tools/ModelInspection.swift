import CoreDataModel
import CoreDataStore
import Foundation

/// What the model tools ask of stores.
package enum ModelInspection {
    /// The model that a store keeps a copy of, as it is written there.
    package static func cachedModel(ofStoreAt url: URL) throws -> ModelDocument {
        try StoreTools.run(url) { options in
            try StoreEngine.cachedModelDocument(options: options, makeDatabase: { try SQLStore.makeDatabase($0) })
        }
    }

    /// A model that fits the tables of a store, for looking into stores whose model nobody has.
    ///
    /// Its version hashes are not the store's: it opens for whoever asks to ignore them.
    ///
    /// - Returns: the model, and the columns of which nothing tells what they lead to.
    package static func inferredModel(ofStoreAt url: URL) throws -> (document: ModelDocument, doubts: [String]) {
        let inference = try StoreTools.run(url) { options in
            try StoreEngine.inferredModel(options: options, makeDatabase: { try SQLStore.makeDatabase($0) })
        }
        return (inference.document, inference.doubts)
    }
}
