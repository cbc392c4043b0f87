import CoreData
import Foundation
import Measuring

/// The product: a container with its default stack, a background context for each run.
///
/// What is timed includes giving the objects back, since whoever fetches them pays for that as well.
package struct CoreDataSide: Side {
    package let name = SideName.ours
    private let model: NSManagedObjectModel

    package init(uniqueNames: Bool = false) { model = GroceryModel.make(uniqueNames: uniqueNames) }

    package func open(_ store: URL, isRecorded: Bool = false) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Grocery", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: store)
        description.setValue("WAL" as NSString, forPragmaNamed: "journal_mode")
        description.setValue("NORMAL" as NSString, forPragmaNamed: "synchronous")
        description.setValue("-65536" as NSString, forPragmaNamed: "cache_size")
        if isRecorded { description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey) }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    package static func close(_ container: NSPersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    package func trial(_ workload: Workload, store: URL, rows: Int) throws -> Trial? {
        if workload == .open { return openingTrial(store) }
        let container = try open(store, isRecorded: workload.isRecorded)
        switch workload.plain {
        case .insert, .update, .delete, .saveEach:
            return try WritingTrials(container: container, rows: rows).trial(workload.plain)
        default:
            return try ReadingTrials(container: container, rows: rows).trial(workload)
        }
    }

    private func openingTrial(_ store: URL) -> Trial {
        var opened: NSPersistentContainer?
        return Trial(
            run: {
                let container = try open(store)
                opened = container
                let context = container.newBackgroundContext()
                return try context.performAndWait {
                    let request = NSFetchRequest<Item>(entityName: "Item")
                    request.fetchLimit = 20
                    return Digest(try context.fetch(request))
                }
            },
            reset: {
                if let opened { try Self.close(opened) }
                opened = nil
            },
            finish: {})
    }

    package func hold(_ kind: ObjectKind, store: URL, rows: Int) throws -> Holding? {
        let container = try open(store)
        let context = container.newBackgroundContext()
        var items: [Item] = []
        return Holding(
            make: {
                try context.performAndWait {
                    let request = NSFetchRequest<Item>(entityName: "Item")
                    switch kind {
                    case .realised: request.returnsObjectsAsFaults = false
                    case .faults: request.includesPropertyValues = false
                    case .batches: request.fetchBatchSize = 1000
                    }
                    items = try context.fetch(request)
                    if kind == .faults { return items.count }
                    return Digest(items).rows
                }
            },
            letGo: { context.performAndWait { items = [] } })
    }
}

extension Digest {
    /// Reads what every fetch of items reads: name, quantity, listed.
    package init(_ items: [Item]) {
        self.init()
        for item in items { add(item) }
    }

    package mutating func add(_ item: Item) {
        rows += 1
        number += Double(item.quantity) + (item.listed ? 1 : 0)
        bytes += item.name?.utf8.count ?? 0
    }
}
