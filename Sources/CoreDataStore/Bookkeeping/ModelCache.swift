import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// Reads the cached model of a store.
enum ModelCache {
    /// Returns the bytes in the file; `nil` if there are none.
    static func content(in connection: any SQLConnection) throws -> Data? {
        var query = SelectStatement(
            [.init(.column(nil, "Z_CONTENT"))], from: .init(BookkeepingSchema.modelCacheTable))
        query.limit = 1
        guard try StoreCatalog.read(connection).table(BookkeepingSchema.modelCacheTable) != nil,
            case .blob(let data)? = try connection.rows(query).first?.first,
            !data.isEmpty
        else { return nil }
        return data
    }

    /// Returns the document; its diagnostics contain its problems.
    static func document(in connection: any SQLConnection, path: String?) throws -> ModelDocument {
        guard let data = try content(in: connection) else {
            throw StoreFailure(
                .noCachedModel,
                "The store\(StoreFailure.quoted(path)) keeps no copy of its model, as stores made before 2015 do not. Give the model that it was made with."
            )
        }
        do {
            return try ModelArchive.document(fromModelCache: data)
        } catch {
            throw StoreFailure(
                .noCachedModel,
                "The copy of the model in the store\(StoreFailure.quoted(path)) cannot be read: \(error.diagnostics.rendered). Give the model that the store was made with."
            )
        }
    }
}
