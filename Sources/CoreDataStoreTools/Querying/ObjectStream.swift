import CoreData
import Foundation

/// The objects of a fetch in chunks, so that a large store need not fit into memory.
///
/// It runs one statement for the IDs; then, per chunk, one for its rows and one for each prefetched relationship.
package struct ObjectStream {
    package let context: NSManagedObjectContext
    package let entity: NSEntityDescription
    package var predicate: NSPredicate?
    package var sortDescriptors: [NSSortDescriptor] = []
    package var limit = 0
    package var offset = 0
    package var includesSubentities = true
    /// The key paths of relationships to prefetch with each chunk.
    package var prefetched: [String] = []
    private static let chunkSize = 500

    package init(_ context: NSManagedObjectContext, entity: NSEntityDescription) {
        self.context = context
        self.entity = entity
    }

    /// Returns the request with another result type.
    package func request<T>(_ type: T.Type) -> NSFetchRequest<T> {
        let request = NSFetchRequest<T>(entityName: entity.name ?? "")
        request.predicate = predicate
        request.sortDescriptors = sortDescriptors
        request.fetchLimit = limit
        request.fetchOffset = offset
        request.includesSubentities = includesSubentities
        return request
    }

    /// Calls the body with each object in order, its index and the total number of objects; returns that number.
    @discardableResult
    package func forEach(_ body: (_ object: NSManagedObject, _ index: Int, _ count: Int) throws -> Void) throws -> Int {
        try context.performAndWait {
            let idRequest = request(NSManagedObjectID.self)
            idRequest.resultType = .managedObjectIDResultType
            let ids = try context.fetch(idRequest)
            var index = 0
            while index < ids.count {
                let chunk = Array(ids[index..<min(index + Self.chunkSize, ids.count)])
                // The objects of a chunk are released before the next is read.
                let objects = try self.objects(chunk)
                for id in chunk {
                    defer { index += 1 }
                    // Another process may have deleted it since the IDs were read.
                    guard let object = objects[id] else { continue }
                    try body(object, index, ids.count)
                }
                context.reset()
            }
            return ids.count
        }
    }

    private func objects(_ ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSPredicate(format: "self IN %@", argumentArray: [ids])
        request.relationshipKeyPathsForPrefetching = prefetched
        request.returnsObjectsAsFaults = false
        return Dictionary(
            try context.fetch(request).map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
