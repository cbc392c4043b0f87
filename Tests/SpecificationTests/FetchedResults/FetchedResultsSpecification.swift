import CoreData
import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// A list that does what a fetched results controller tells is the list that a new fetch would give (R3 to R7), whatever
/// happens to its objects and to those that its predicate, its order and its sections look at.
///
/// `COREDATA_SEEDS=10 swift test --filter FetchedResultsSpecification` makes 20,000 random edits and more.
@Suite struct FetchedResultsSpecification {
    static let stepsPerSeed = 500

    static let trials: [(store: SpecifiedStore, seed: UInt64)] = {
        let asked = ProcessInfo.processInfo.environment["COREDATA_SEEDS"].flatMap(UInt64.init)
        let first = ProcessInfo.processInfo.environment["COREDATA_FIRST_SEED"].flatMap(UInt64.init) ?? 1
        return SpecifiedStore.all.flatMap { store in (first...max(first, asked ?? 1)).map { (store, $0) } }
    }()

    @Test(arguments: trials)
    func whatDelegatesAreToldMakesTheListOfANewFetch(_ store: SpecifiedStore, _ seed: UInt64) throws {
        for undoes in [false, true] {
            try store.checkContexts { stack in
                let sibling = stack.newContext()
                try stack.story { context throws in
                    if undoes { context.undoManager = UndoManager() }
                    try check(context, sibling, seed: seed * 2 + (undoes ? 1 : 0), undoes: undoes)
                }
            }
        }
    }

    private func check(
        _ context: NSManagedObjectContext, _ sibling: NSManagedObjectContext, seed: UInt64, undoes: Bool
    ) throws {
        var edits = ListEdits(seed: seed, context: context, sibling: sibling)
        for _ in 0..<20 { try edits.step(undoes: false) }
        let lists = try FollowedList.kinds.flatMap { kind in
            let replays: [any ListReplay] =
                kind.section == nil
                ? [CallReplay(), SnapshotReplay(), DifferenceReplay()] : [CallReplay(), SnapshotReplay()]
            return try replays.map { try FollowedList(kind, $0, context) }
        }
        for step in 0..<Self.stepsPerSeed / 2 {
            try edits.step(undoes: undoes)
            // Every list follows; to fetch anew for each after each step would take most of the time.
            let chosen = lists[edits.numbers.below(lists.count)]
            for list in step % 25 == 0 ? lists : [chosen] {
                guard let difference = try list.difference() else { continue }
                let values = try BookValues.text(context, sibling)
                Issue.record(
                    "seed \(seed), step \(step), \(list.kind)\n\(difference)\n\(values)\n\(edits.log.suffix(12))")
                return
            }
        }
        let counts = lists.compactMap { ($0.replay as? CallReplay)?.counts }
        for type in [NSFetchedResultsChangeType.insert, .delete, .move, .update] {
            #expect(counts.contains { $0[type, default: 0] > 20 }, "\(type) was not tried")
        }
    }
}

/// A controller, what was told of it, and what a new one finds.
final class FollowedList {
    struct Kind {
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
    ]

    let kind: Kind
    let replay: any ListReplay
    private let controller: NSFetchedResultsController<NSManagedObject>

    init(_ kind: Kind, _ replay: any ListReplay, _ context: NSManagedObjectContext) throws {
        self.kind = kind
        self.replay = replay
        controller = Self.makeController(kind, context)
        controller.delegate = replay
        try controller.performFetch()
        replay.begin(controller)
    }

    private static func makeController(
        _ kind: Kind, _ context: NSManagedObjectContext
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = kind.predicate.map { NSPredicate(format: $0) }
        // Codes are unique: no two rows are equal in the order.
        request.sortDescriptors = (kind.sorts + [("code", true)]).map {
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
