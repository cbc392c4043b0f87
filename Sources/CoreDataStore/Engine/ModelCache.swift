import CoreDataModel
import CoreDataSQL
import Foundation

/// The copy of the model that a store keeps (store-format §11).
enum ModelCache {
    /// The bytes in the file, `nil` where there are none.
    static func content(in connection: any SQLConnection) throws -> Data? {
        guard try StoreCatalog.read(connection).table(BookkeepingSchema.modelCacheTable) != nil,
            case .blob(let data)? = try connection.rows("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1").first?.first,
            !data.isEmpty
        else { return nil }
        return data
    }

    static func data(_ document: ModelDocument) throws -> Data? { nil }

    static func document(in connection: any SQLConnection, path: String?) throws -> ModelDocument {
        throw StoreFailure(.noCachedModel, "The store\(StoreFailure.quoted(path)) keeps no copy of its model.")
    }
}

enum StoreModelDifference {
    static func sentences(_ database: any SQLDatabase, options: StoreOptions) throws -> [String] { [] }
}
