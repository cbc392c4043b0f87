import CoreData
import Foundation
import Measuring

extension CoreDataSide {
    /// A context for the reader and one for the writer, on one container.
    package func sharedWork(store: URL, rows: Int) throws -> SharedWork {
        let container = try open(store)
        let reader = container.newBackgroundContext()
        let writer = container.newBackgroundContext()
        let places = try writer.performAndWait { try Places(writer) }
        let samples = Samples.items(from: rows + 1, count: SharedWork.savedRows, rows: rows)
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.fetchLimit = SharedWork.readRows
        return SharedWork(
            read: { try reader.performAndWait { Digest(try reader.fetch(request)) } },
            write: {
                try writer.performAndWait {
                    for sample in samples { places.insert(sample, into: writer) }
                    try writer.save()
                }
            },
            finish: { try Self.close(container) })
    }
}
