import CoreDataPrimitives
import CoreDataStore
import Foundation

extension NSManagedObjectContext {
    /// Fetches the IDs of the saved objects of a request whose primary keys lie in a range, such as those behind the
    /// last row of a page.
    ///
    ///     let next = try context.objectIDs(of: request, keys: (last + 1)...Int64.max)
    ///     // SELECT t0.Z_PK FROM ZITEM t0 WHERE t0.Z_PK BETWEEN ? AND ? ORDER BY t0.Z_PK LIMIT 50
    ///
    /// Predicate, order, limit and subentities of the request count; unsaved changes do not.
    ///
    /// - Throws: the errors of a fetch.
    package nonisolated final func objectIDs(
        of request: AnyFetchRequest, keys: ClosedRange<Int64>
    ) throws -> [NSManagedObjectID] {
        let coordinator = try coordinatorForRequest()
        let copy = NSFetchRequest<NSDictionary>(request)
        copy.resultType = .dictionaryResultType
        copy.propertiesToFetch = ["objectID"]
        var translation = try FetchTranslation(copy, in: coordinator.runtime, clock: coordinator.clock)
        translation.keys = keys
        let fetch = try DictionaryFetch(translation, coordinator: coordinator, context: self)
        let stores = try readStores(for: translation.entity, affected: request.affectedStores)
        return try fetch.run(in: stores).compactMap { $0["objectID"] as? NSManagedObjectID }
    }
}
