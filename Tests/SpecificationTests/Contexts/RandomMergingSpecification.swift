import CoreData
import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// Two contexts beside each other that change, save and merge the same objects.
@Suite struct RandomMergingSpecification {
    @Test(arguments: SpecifiedStore.all, [true, false])
    func bothSidesAgreeOnceAllIsMerged(_ store: SpecifiedStore, automatically: Bool) throws {  // E5, L1, L4
        for policy in MergePolicySpecification.policies {
            for seed in store.seeds(4) {
                try store.checkContexts(
                    rules: [("Book", "chapters", .cascadeDeleteRule)]
                ) { stack in
                    let comment = "seed \(seed), \(policy), automatically \(automatically)"
                    var pair = try MergingPair(stack, policy, automatically, seed: seed, comment)
                    for _ in 0..<25 where !pair.hasFailed { try pair.round() }
                    if !pair.hasFailed { try pair.finish() }
                }
            }
        }
    }
}

/// The contexts, and what each has not merged yet.
private struct MergingPair {
    private final class Notes: @unchecked Sendable {
        // Safe because contexts save on the thread of the test.
        var waiting: [Notification] = []
    }

    private let stack: SpecifiedStack
    private let contexts: [NSManagedObjectContext]
    private let notes = [Notes(), Notes()]
    private let automatically: Bool
    private let comment: String
    private var numbers: SeededNumbers
    private var edits: [RandomEdits]
    private let tokens: [any NSObjectProtocol]
    private(set) var hasFailed = false

    init(
        _ stack: SpecifiedStack, _ policy: NSMergePolicy, _ automatically: Bool, seed: UInt64, _ comment: String
    ) throws {
        self.stack = stack
        self.automatically = automatically
        self.comment = comment
        numbers = SeededNumbers(seed: seed)
        let contexts = [stack.newContext(), stack.newContext()]
        self.contexts = contexts
        edits = contexts.enumerated().map { RandomEdits(seed: seed * 2 + UInt64($0), context: $1) }
        tokens = (0..<2).map { [notes] number in
            NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: contexts[number], queue: nil
            ) { notes[1 - number].waiting.append($0) }
        }
        try stack.story { context throws in
            for entity in ["Author", "Book", "Chapter", "Tag", "Person"] {
                let key = ["Book", "Chapter"].contains(entity) ? "title" : "name"
                for index in 1...3 { _ = context.insert(entity, [key: "\(entity) \(index)"]) }
            }
            try context.save()
        }
        for context in contexts {
            context.automaticallyMergesChangesFromParent = automatically
            context.performAndWait { context.mergePolicy = policy }
        }
    }

    mutating func round() throws {
        let number = numbers.below(2)
        try contexts[number].performAndWait { for _ in 0...numbers.below(3) { try edit(number) } }
        if numbers.chance(2) { save(number) }
        if automatically || numbers.chance(2) { merge(numbers.below(2)) }
    }

    private mutating func edit(_ number: Int) throws {
        let context = contexts[number]
        guard numbers.chance(3) else { return try edits[number].edit() }
        let entity = numbers.pick(["Author", "Book", "Chapter", "Tag", "Person"])
        let found = try context.all(entity).filter { !$0.isDeleted }
        guard !found.isEmpty else { return }
        let object = numbers.pick(found)
        if entity == "Author", numbers.chance(2) {
            let books = try context.all("Book").filter { !$0.isDeleted && numbers.chance(2) }
            return object.setValue(Set(books), forKey: "books")
        }
        // The value that it has.
        let keys = object.entity.propertiesByName.values.filter { !$0.isTransient }.map(\.name).sorted()
        let key = numbers.pick(keys)
        object.setValue(object.value(forKey: key), forKey: key)
    }

    private mutating func save(_ number: Int) {
        let context = contexts[number]
        let failure: NSError? = context.performAndWait {
            do {
                try context.save()
                return nil
            } catch {
                context.rollback()
                return error as NSError
            }
        }
        if let failure, failure.code != NSManagedObjectMergeError {
            hasFailed = true
            Issue.record("\(comment): \(failure)")
        }
        if failure != nil, !automatically { merge(number) }
    }

    /// Merges what waits, and looks at the context.
    private mutating func merge(_ number: Int) {
        let context = contexts[number]
        context.performAndWait {
            if !automatically {
                for note in notes[number].waiting { context.mergeChanges(fromContextDidSave: note) }
            }
            notes[number].waiting = []
            context.processPendingChanges()
        }
        let differences = context.performAndWait { Self.differences(in: context) }
        guard !differences.isEmpty else { return }
        hasFailed = true
        Issue.record("\(comment), context \(number):\n\(differences.joined(separator: "\n"))")
    }

    /// Where one side of a relationship does not say what the other says.
    private static func differences(in context: NSManagedObjectContext) -> [String] {
        var found: [String] = []
        for object in context.registeredObjects where object.managedObjectContext === context && !object.isDeleted {
            for (key, relationship) in object.entity.relationshipsByName {
                let targets = Self.objects(object.value(forKey: key))
                for target in targets {
                    if target.isDeleted || target.managedObjectContext !== context {
                        found.append("\(key) of \(object) leads to \(target), which is deleted")
                    } else if let inverse = relationship.inverseRelationship?.name,
                        !Self.objects(target.value(forKey: inverse)).contains(object)
                    {
                        found.append("\(key) of \(object) leads to \(target), whose \(inverse) does not lead back")
                    }
                }
            }
        }
        return found
    }

    private static func objects(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let object as NSManagedObject: [object]
        case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
        case let members as Set<NSManagedObject>: Array(members)
        default: []
        }
    }

    /// Everything is saved and merged: both contexts have what the store has.
    mutating func finish() throws {
        for _ in 0..<2 {
            for number in 0..<2 {
                save(number)
                merge(number)
            }
        }
        for number in 0..<2 { merge(number) }
        let stored = stack.story { GraphPicture.text(of: $0) }
        for context in contexts {
            let mine = context.performAndWait { GraphPicture.text(of: context) }
            #expect(mine == stored, "\(comment)")
        }
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }
}
