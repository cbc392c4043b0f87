import CoreData
import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import TestSupport
import Testing

@testable import CoreData

/// Generated predicates through a context: what a fetch finds is what the predicate says of the objects in memory.
///
/// With unsaved changes an object that has some counts as it is now, and every other as it is stored, with what it leads to
/// (M7, M16, F6).
@Suite struct ContextPredicateSpecification {
    static let predicatesPerRound = 120
    static let rounds = 3

    @Test(
        arguments: Trials.some(of: SpecifiedStore.having(.rows), atLeast: 2), Trials.some(of: [UInt64(31), 32, 33, 34]))
    func aFetchFindsWhatThePredicateSaysOfTheObjects(_ store: SpecifiedStore, _ seed: UInt64) throws {
        try store.checkContexts(Bookshop.document) { stack in
            let trial = try ContextTrial(stack, seed: seed)
            try trial.context.performAndWait {
                for _ in 0..<Self.rounds {
                    for _ in 0..<Self.predicatesPerRound { try trial.check() }
                    // In the next round some objects have unsaved changes; the last one is of saved ones again.
                    if trial.context.hasChanges { try trial.context.save() } else { try trial.change() }
                    try trial.readStored()
                }
            }
            #expect(trial.comparedCount > Self.rounds * Self.predicatesPerRound * 3 / 4)
            #expect(trial.selectiveCount > Self.rounds * Self.predicatesPerRound / 5)
        }
    }
}

/// One context, and the predicates that are tried on it.
private final class ContextTrial {
    let context: NSManagedObjectContext
    private let seed: UInt64
    private let stack: SpecifiedStack
    private var stored: BookshopGraph
    private var generator: PredicateGenerator
    private(set) var comparedCount = 0
    private(set) var selectiveCount = 0
    private var failureCount = 0

    init(_ stack: SpecifiedStack, seed: UInt64) throws {
        self.stack = stack
        self.seed = seed
        var numbers = SeededNumbers(seed: seed)
        try stack.rows.fillBookshop(&numbers, hasObjects: true)
        context = stack.newContext()
        let stored = try BookshopGraph(stack.rows.source)
        self.stored = stored
        generator = PredicateGenerator(numbers: numbers) { stored.objects(of: $0) }
    }

    /// What is stored now; to be called after a save.
    func readStored() throws {
        let stored = try BookshopGraph(stack.rows.source)
        self.stored = stored
        generator = PredicateGenerator(numbers: generator.numbers) { stored.objects(of: $0) }
    }

    // MARK: Changes

    /// Inserts, changes and deletes some objects, and gives some other relations.
    func change() throws {
        // Keys are given to new objects by the store, after those of the rows that were put there.
        func all(_ entity: String) throws -> [NSManagedObject] { try context.all(entity, by: "self") }
        func pick(_ entity: String) throws -> NSManagedObject { generator.numbers.pick(try all(entity)) }
        func text() -> Any? {
            generator.numbers.chance(4) ? nil : generator.numbers.pick(PredicateGenerator.texts)
        }
        for _ in 0..<5 {
            let book = try pick("Book")
            book.setValue(text(), forKey: "title")
            book.setValue(generator.numbers.below(8) - 2, forKey: "pages")
            if generator.numbers.chance(2) { book.setValue(try pick("Author"), forKey: "author") }
            if generator.numbers.chance(3) { book.setValue(nil, forKey: "author") }
            try pick("Author").setValue(Double(generator.numbers.below(12) - 3) / 2, forKey: "rating")
            try pick("Tag").setValue(text(), forKey: "name")
            try pick("Chapter").setValue(generator.numbers.below(5), forKey: "length")
        }
        for entity in ["Book", "Comic", "Tag", "Author", "Chapter"] {
            let object = context.insert(entity)
            if let key = ["title", "name"].first(where: { object.entity.attributesByName[$0] != nil }) {
                object.setValue(text(), forKey: key)
            }
            if entity == "Book" || entity == "Comic" {
                object.setValue(try pick("Author"), forKey: "author")
                object.setValue(Set([try pick("Tag")]), forKey: "tags")
            }
        }
        context.delete(try pick("Chapter"))
        context.delete(try pick("Comic"))
        let shelf = try pick("Shelf")
        let books = (shelf.value(forKey: "books") as? NSOrderedSet)?.array ?? []
        shelf.setValue(NSOrderedSet(array: books.reversed()), forKey: "books")
        context.processPendingChanges()
    }

    // MARK: Predicates

    func check() throws {
        let names = ["Book", "Book", "Author", "Tag", "Chapter", "Shelf", "Comic"]
        let entity = generator.numbers.pick(names)
        let predicate = generator.predicate(on: Bookshop.ordinal(entity))
        guard let difference = try difference(predicate, entity) else { return }
        failureCount += 1
        guard failureCount <= 5 else { return }
        Issue.record("seed \(seed), \(entity): \(predicate.predicateFormat)\n\(difference)")
    }

    private func difference(_ predicate: PredicateNode, _ entity: String) throws -> String? {
        guard let expected = try expected(predicate, Bookshop.ordinal(entity)) else { return nil }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate.make(node: predicate.mapExpressions { $0.mapConstants(object) })
        let found: Set<NSManagedObject>
        do {
            found = Set(try context.fetch(request))
        } catch {
            // Types are checked for all rows at once: memory may never have met the operands.
            return nil
        }
        comparedCount += 1
        if !found.isEmpty && found.count < stored.objects(of: Bookshop.ordinal(entity)).count { selectiveCount += 1 }
        #expect(try context.count(for: request) == found.count)
        guard found != expected else { return nil }
        func keys(_ objects: Set<NSManagedObject>) -> [String] {
            objects.map { "\($0.objectID.uriRepresentation().lastPathComponent)\($0.hasChanges ? "*" : "")" }.sorted()
        }
        return
            "only in memory: \(keys(expected.subtracting(found))), only fetched: \(keys(found.subtracting(expected)))"
    }

    /// The objects that the predicate selects; `nil` where it has no answer.
    private func expected(_ predicate: PredicateNode, _ entity: Int) throws -> Set<NSManagedObject>? {
        var expected: Set<NSManagedObject> = []
        let ofRows = PredicateEvaluator(predicate)
        let ofObjects = PredicateEvaluator(predicate.mapExpressions { $0.mapConstants(object) })
        let changed = context.updatedObjects.union(context.insertedObjects)
        do {
            for row in stored.objects(of: entity) {
                let object = self.object(row.row.key)
                guard !context.deletedObjects.contains(object), !changed.contains(object) else { continue }
                if try ofRows.evaluate(.object(row)) { expected.insert(object) }
            }
            for object in changed where isOf(entity, object) {
                if try ofObjects.evaluate(.object(object)) { expected.insert(object) }
            }
        } catch is PredicateFailure {
            return nil
        }
        return expected
    }

    private func isOf(_ entity: Int, _ object: NSManagedObject) -> Bool {
        let name = object.entity.name ?? ""
        return Bookshop.model.entities[entity].subtree.contains(Bookshop.ordinal(name))
    }

    private func object(_ key: RowKey) -> NSManagedObject {
        let name = Bookshop.model.entities[key.entity].name
        let identifier = stack.rows.source.identifier
        let uri = URL(string: "x-coredata://\(identifier)/\(name)/p\(key.primaryKey)")
        guard let id = uri.flatMap({ stack.coordinator.managedObjectID(forURIRepresentation: $0) }) else {
            preconditionFailure("no ID for \(key)")
        }
        return context.object(with: id)
    }

    /// The managed object in the place of a row.
    private func object(_ constant: Constant) -> Constant {
        switch constant {
        case .object(let object as BookshopObject): .object(self.object(object.row.key))
        case .collection(let members, let isOrdered): .collection(members.map(object), isOrdered: isOrdered)
        case .value, .key, .object, .dictionary, .symbol: constant
        }
    }
}

extension ExpressionNode {
    fileprivate func mapConstants(_ transform: (Constant) -> Constant) -> ExpressionNode {
        guard case .constant(let constant) = self else { return self }
        return .constant(transform(constant))
    }
}
