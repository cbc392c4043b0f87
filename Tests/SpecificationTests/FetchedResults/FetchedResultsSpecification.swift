import CoreData
import CoreDataStore
import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// A list that does what a fetched results controller tells is the list that a new fetch would give (R3 to R7), whatever
/// happens to its objects and to those that its predicate, its order and its sections look at.
///
/// `COREDATA_SEEDS=40 swift test --filter FetchedResultsSpecification` makes 20,000 random edits and more.
@Suite struct FetchedResultsSpecification {
    /// How many random edits a seed is, half of them with an undo manager.
    static let stepsPerSeed = 125
    /// Whether what such stores give is compared with memory, too: `COREDATA_ASKS_MEMORY=1`.
    static let asksMemoryAlways = ProcessInfo.processInfo.environment["COREDATA_ASKS_MEMORY"] != nil
    /// Whether every list is looked at after every step, to find the step that was wrong: `COREDATA_EVERY_LIST=1`.
    static let looksAtAll = ProcessInfo.processInfo.environment["COREDATA_EVERY_LIST"] != nil

    /// Each store with each seed; in the short form two of the stores.
    static let trials: [(store: SpecifiedStore, seed: UInt64)] = {
        Trials.some(of: SpecifiedStore.all.flatMap { store in Trials.seeds(4).map { (store, $0) } }, atLeast: 2)
    }()

    @Test(arguments: trials)
    func whatDelegatesAreToldMakesTheListOfANewFetch(_ store: SpecifiedStore, _ seed: UInt64) throws {
        for undoes in [false, true] {
            try store.checkContexts { stack in
                let sibling = stack.newContext()
                try stack.story { context throws in
                    if undoes { context.undoManager = UndoManager() }
                    let edits = ListEdits(
                        seed: seed * 2 + (undoes ? 1 : 0), context: context, sibling: sibling,
                        batches: stack.rows.opened.source is StoreEngine)
                    // A store of a program's own may keep the two sides of a many-to-many apart.
                    try check(
                        edits, context, sibling, seed: seed * 2 + (undoes ? 1 : 0), undoes: undoes,
                        steps: Self.stepsPerSeed / (store.isOnServer ? 4 : 2),
                        asksMemory: store.attach == nil || Self.asksMemoryAlways)
                }
            }
        }
    }

    func check(
        _ edits: ListEdits, _ context: NSManagedObjectContext, _ sibling: NSManagedObjectContext, seed: UInt64,
        undoes: Bool, steps: Int = stepsPerSeed / 2, asksMemory: Bool
    ) throws {
        var edits = edits
        for _ in 0..<20 { try edits.step(undoes: false) }
        let lists = try FollowedList.kinds.flatMap { kind in
            let replays: [any ListReplay] =
                kind.section == nil
                ? [CallReplay(), SnapshotReplay(), DifferenceReplay()] : [CallReplay(), SnapshotReplay()]
            return try replays.map { try FollowedList(kind, $0, context, asksMemory: asksMemory) }
        }
        for step in 0..<steps {
            try edits.step(undoes: undoes)
            // Every list follows; to fetch anew for each after each step would take most of the time.
            let chosen = lists[edits.numbers.below(lists.count)]
            for list in step % 25 == 0 || Self.looksAtAll ? lists : [chosen] {
                guard let difference = try list.difference() else { continue }
                let values = try BookValues.text(context, sibling)
                Issue.record(
                    "seed \(seed), step \(step), \(list.kind)\n\(difference)\n\(values)\n\(edits.log.suffix(40))")
                return
            }
        }
        let counts = lists.compactMap { ($0.replay as? CallReplay)?.counts }
        for type in [NSFetchedResultsChangeType.insert, .delete, .move, .update] {
            #expect(counts.contains { $0[type, default: 0] > 0 }, "\(type) was not tried")
        }
    }
}

/// A controller, what was told of it, and what a new one finds.
final class FollowedList {
    struct Kind {
        var entity = "Book"
        var predicate: String?
        var sorts: [(key: String, ascending: Bool)]
        var section: String?
        var limit = 0
    }

    static let kinds = [
        Kind(sorts: [("title", true)]),
        Kind(predicate: "pages > 3", sorts: [("title", false), ("pages", true)], section: "title"),
        Kind(sorts: [("author.name", true), ("title", true)], section: "author.name"),
        Kind(
            predicate: "author.rating > 1 OR ANY tags.heft > 2", sorts: [("shelf", true), ("author.name", false)],
            section: "shelf"),
        Kind(predicate: "SUBQUERY(tags, $t, $t.heft > 1).@count > 0", sorts: [("author.rating", true)]),
        Kind(predicate: "pages < 6", sorts: [("pages", true)], section: "pages", limit: 7),
        // Authors' ratings say in which order authors' sections come.
        Kind(
            predicate: "author != nil", sorts: [("author.rating", true), ("author.name", true)], section: "author.name"),
        Kind(predicate: "ANY author.books.pages > 5", sorts: [("title", true)]),
        Kind(
            predicate: "author.books.@count > 2", sorts: [("author.name", true), ("title", true)],
            section: "author.name"),
        Kind(predicate: "author.rating > 1", sorts: [("author.name", true), ("title", false)], limit: 5),
        Kind(entity: "Author", predicate: "ANY books.pages > 4", sorts: [("rating", true)]),
        Kind(entity: "Author", predicate: "books.@count > 1", sorts: [("rating", false)], limit: 4),
    ]

    let kind: Kind
    let replay: any ListReplay
    private let controller: NSFetchedResultsController<NSManagedObject>
    /// Whether a new controller is to find what the predicate says of each object.
    private let asksMemory: Bool

    init(_ kind: Kind, _ replay: any ListReplay, _ context: NSManagedObjectContext, asksMemory: Bool) throws {
        self.kind = kind
        self.asksMemory = asksMemory
        self.replay = replay
        controller = Self.makeController(kind, context)
        controller.delegate = replay
        try controller.performFetch()
        replay.begin(controller)
    }

    private static func makeController(
        _ kind: Kind, _ context: NSManagedObjectContext
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: kind.entity)
        request.predicate = kind.predicate.map { NSPredicate(format: $0) }
        // Codes and names of authors are unique: no two rows are equal in the order.
        request.sortDescriptors = (kind.sorts + [(kind.entity == "Book" ? "code" : "name", true)]).map {
            NSSortDescriptor(key: $0.key, ascending: $0.ascending)
        }
        request.fetchLimit = kind.limit
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: kind.section, cacheName: nil)
    }

    /// What is not as a new controller has it; `nil` where nothing is.
    func difference() throws -> String? {
        let fresh = Self.makeController(kind, controller.managedObjectContext)
        try fresh.performFetch()
        if asksMemory, kind.limit == 0, let format = kind.predicate {
            let predicate = NSPredicate(format: format)
            let all = try controller.managedObjectContext.all(kind.entity)
            let members = Set(all.filter { predicate.evaluate(with: $0) }.map(\.objectID))
            let found = Set((fresh.fetchedObjects ?? []).map(\.objectID))
            if members != found { return "a new one has \(found), memory \(members)" }
        }
        let expected = ListPicture(fresh)
        let own = ListPicture(controller)
        if own != expected { return "the controller has\n\(own)\na new one\n\(expected)" }
        if replay.list != expected { return "told were\n\(replay.list)\nnot\n\(expected)" }
        for (index, object) in (controller.fetchedObjects ?? []).enumerated() where index % 5 == 0 {
            guard let path = controller.indexPath(forObject: object), controller.object(at: path) === object else {
                return "\(object.objectID) is not where it is said to be"
            }
        }
        return nil
    }
}
