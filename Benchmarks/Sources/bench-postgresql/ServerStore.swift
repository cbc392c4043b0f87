#if PostgreSQL
    import CoreData
    import Foundation
    import Measuring
    import Sides

    /// The product: a container whose store is on the server, a background context for each run.
    struct ServerStore {
        let url: URL
        private let model = GroceryModel.make()

        init(url: URL) { self.url = url }

        func open() throws -> NSPersistentContainer {
            let container = NSPersistentContainer(name: "Grocery", managedObjectModel: model)
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
            var failure: (any Error)?
            container.loadPersistentStores { _, error in failure = error }
            if let failure { throw failure }
            return container
        }

        func close(_ container: NSPersistentContainer) throws {
            let coordinator = container.persistentStoreCoordinator
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }

        func trial(_ kind: ServerWorkload, rows: Int) throws -> Trial {
            let container = try open()
            let context = container.newBackgroundContext()
            let work = try context.performAndWait { try self.work(kind, context, rows: rows) }
            return Trial(
                run: { try context.performAndWait(work) },
                finish: { try close(container) })
        }

        private func work(
            _ kind: ServerWorkload, _ context: NSManagedObjectContext, rows: Int
        ) throws -> () throws -> Digest {
            let request = NSFetchRequest<Item>(entityName: "Item")
            switch kind {
            case .insert, .saveEach, .saveEachNoted: return try inserting(kind, context, rows: rows)
            case .fetchAll: return { Digest(try context.fetch(request)) }
            case .fetchKeys: return try byID(context, rows: rows)
            case .prefetch, .siblings, .copy:
                if kind == .prefetch { request.relationshipKeyPathsForPrefetching = ["locationAtHome"] }
                return {
                    var digest = Digest()
                    for item in try context.fetch(request) {
                        digest.rows += 1
                        digest.bytes += item.locationAtHome?.storedIn?.utf8.count ?? 0
                    }
                    return digest
                }
            case .update:
                request.returnsObjectsAsFaults = false
                let items = try context.fetch(request)
                return {
                    for item in items { item.quantity += 1 }
                    try context.save()
                    return Digest()
                }
            }
        }

        private func inserting(
            _ kind: ServerWorkload, _ context: NSManagedObjectContext, rows: Int
        ) throws -> () throws -> Digest {
            let places = try Places(context)
            let first = kind == .insert ? 1 : rows + 1
            let samples = Samples.items(from: first, count: kind.count(rows: rows), rows: rows)
            return {
                for sample in samples {
                    places.insert(sample, into: context)
                    if kind != .insert { try context.save() }
                }
                try context.save()
                return Digest()
            }
        }

        private func byID(_ context: NSManagedObjectContext, rows: Int) throws -> () throws -> Digest {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
            request.resultType = .managedObjectIDResultType
            request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
            let ids = try context.fetch(request)
            let wanted = Samples.shuffledPositions(ids.count).prefix(ServerWorkload.fetchKeys.count(rows: rows))
                .map { ids[$0] }
            return {
                var digest = Digest()
                for id in wanted {
                    guard let item = context.object(with: id) as? Item else {
                        throw MeasuringFailure("\(id) is no item.")
                    }
                    digest.add(item)
                }
                return digest
            }
        }
    }
#endif
