import CoreData
import Foundation
import TestSupport
import Testing

/// Semantics E5, I5–I8, L4: after conflicts both sides of every relationship agree, in the contexts and in the store.
@Suite struct EvenRelationshipTests {
    static let policies: [NSMergePolicy] = [
        .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    /// Each policy without deletions and with them; half of these pairs in the short form, which takes two of the seeds.
    private static let trials = Trials.some(
        of: policies.flatMap { policy in [false, true].map { (policy, $0) } }, atLeast: 5)

    @Test("E5, I5: two contexts that edit the same rows leave even relationships", arguments: trials)
    func twoContexts(_ policy: NSMergePolicy, _ mayDelete: Bool) throws {
        for seed in Trials.some(of: Trials.seeds(25), atLeast: 2) {
            var pair = try Pair(policy, mayDelete, seed)
            for _ in 0..<12 where !pair.hasFailed { try pair.round() }
            if !pair.hasFailed { try pair.finish() }
        }
    }

    private struct Pair {
        let stack: LibraryStack
        let contexts: [NSManagedObjectContext]
        let mayDelete: Bool
        let what: String
        var numbers: SeededNumbers
        var count = 0
        var hasFailed = false
        /// What was done, for who looks for a mistake.
        var log: [String] = []

        init(_ policy: NSMergePolicy, _ mayDelete: Bool, _ seed: UInt64) throws {
            stack = try LibraryStack(model: Nodes.model())
            contexts = [stack.context, stack.newContext()]
            self.mayDelete = mayDelete
            what = "\(policy), deleting \(mayDelete), seed \(seed)"
            numbers = SeededNumbers(seed: seed)
            for context in contexts { context.performAndWait { context.mergePolicy = policy } }
            try stack.story { context in
                for name in ["a", "b", "c", "d", "e"] { _ = Nodes.insert(name, into: context) }
                try context.save()
            }
        }

        mutating func round() throws {
            let number = numbers.below(2)
            let context = contexts[number]
            for _ in 0...numbers.below(4) {
                count += 1
                try context.performAndWait {
                    try Nodes.edit(context, &numbers, name: "n\(count)", mayDelete: mayDelete)
                    if numbers.chance(2) { context.processPendingChanges() }
                }
            }
            if numbers.chance(4) {
                try context.performAndWait {
                    let nodes = try Nodes.all(in: context).filter { !$0.isInserted }
                    if !nodes.isEmpty { context.refresh(numbers.pick(nodes), mergeChanges: numbers.chance(2)) }
                }
            }
            if numbers.chance(2) { save(number) }
            if numbers.chance(3) { check(numbers.below(2)) }
        }

        mutating func save(_ number: Int) {
            let context = contexts[number]
            context.performAndWait {
                do {
                    do { try context.save() } catch let error as CocoaError where error.code == .managedObjectMerge {
                        context.refreshAllObjects()
                        context.processPendingChanges()
                        try context.save()
                    }
                } catch {
                    let error = error as NSError
                    // What is set here to lead to one that another has deleted is the user's to mend.
                    if mayDelete, [1550, 1560, 133020].contains(error.code) { return context.rollback() }
                    fail("save of \(number): \(error)")
                }
            }
            let fresh = stack.newContext()
            fresh.performAndWait {
                let differences = (try? Nodes.differences(in: fresh)) ?? ["cannot be read"]
                if !differences.isEmpty { fail("the store after a save of \(number): \(differences)") }
            }
        }

        mutating func check(_ number: Int) {
            let context = contexts[number]
            context.performAndWait {
                context.refreshAllObjects()
                context.processPendingChanges()
                // What is set here to lead to one that another has deleted is the user's to mend, or to give up.
                let differences = ((try? Nodes.differences(in: context)) ?? ["cannot be read"]).filter {
                    !mayDelete || !context.hasChanges || !$0.hasSuffix("gone")
                }
                if !differences.isEmpty { fail("context \(number): \(differences)") }
            }
        }

        mutating func fail(_ text: String) {
            hasFailed = true
            Issue.record("\(what): \(text)")
        }

        mutating func finish() throws {
            for number in [0, 1, 0] where !hasFailed {
                save(number)
                check(number)
            }
            guard !hasFailed else { return }
            let fresh = stack.newContext()
            let stored = try fresh.performAndWait { try Nodes.picture(of: fresh) }
            for (number, context) in contexts.enumerated() {
                check(number)
                let mine = try context.performAndWait { try Nodes.picture(of: context) }
                if mine != stored, !context.performAndWait({ context.hasChanges }) {
                    fail("context \(number) has\n\(mine)\nthe store\n\(stored)")
                }
            }
        }
    }
}
