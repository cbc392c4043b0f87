import CoreData
import Foundation
import TestSupport
import Testing

/// Semantics F2, I4, I8: a save that met conflicts, and is tried again once the objects in conflict were refreshed.
@Suite struct RetriedSaveTests {
    private struct Failure: Error { let text: String }

    /// Refreshes what the error names, and nothing else, and saves again.
    private func saveRefreshing(_ context: NSManagedObjectContext) throws {
        for _ in 0..<20 {
            do {
                return try context.save()
            } catch let error as NSError where error.code == NSManagedObjectMergeError {
                let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
                guard !conflicts.isEmpty else { throw error }
                for conflict in conflicts { context.refresh(conflict.sourceObject, mergeChanges: true) }
            }
        }
        throw Failure(text: "the conflicts never end")
    }

    @Test("F2, I8: a refused deletion takes along, or lets go of, what came to it meanwhile", arguments: [-1, 0])
    func newMembersOfTheDeleted(_ staleness: TimeInterval) throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        let (tag, chapter, book) = try stack.story { context in
            let (tag, chapter, book) = (Tag(context: context), Chapter(context: context), Book(context: context))
            (tag.name, chapter.title, book.title) = ("t", "c", "b")
            try context.save()
            return (tag.objectID, chapter.objectID, book.objectID)
        }
        try stack.story { context in
            context.stalenessInterval = staleness
            let mine = try #require(try context.existingObject(with: book) as? Book)
            #expect(mine.chapters.isEmpty && mine.tags.isEmpty)
            context.delete(mine)
            context.processPendingChanges()
            try other.performAndWait {
                let same = try #require(try other.existingObject(with: book) as? Book)
                same.chapters = [try #require(try other.existingObject(with: chapter) as? Chapter)]
                same.tags = [try #require(try other.existingObject(with: tag) as? Tag)]
                try other.save()
            }
            #expect(throws: NSError.self) { try context.save() }
            context.refresh(mine, mergeChanges: true)
            #expect(mine.isDeleted)
            try saveRefreshing(context)
        }
        let fresh = stack.newContext()
        try fresh.performAndWait { () throws in
            #expect(try fresh.all(Chapter.self, "Chapter").isEmpty, "its chapters go with it")
            #expect(try fresh.all(Tag.self, "Tag").map(\.books) == [[]])
        }
    }

    @Test("I4, I8: what the remedy of a conflict leaves in the store is even", arguments: [-1, 0], [false, true])
    func randomEdits(_ staleness: TimeInterval, _ mayDelete: Bool) throws {
        for seed in Trials.seeds(25) {
            let stack = try LibraryStack(model: Nodes.model())
            let contexts = [stack.context, stack.newContext()]
            var numbers = SeededNumbers(seed: seed)
            try stack.story { context in
                for name in ["a", "b", "c", "d", "e"] { _ = Nodes.insert(name, into: context) }
                try context.save()
            }
            for context in contexts { context.performAndWait { context.stalenessInterval = staleness } }
            for round in 0..<16 {
                let context = contexts[numbers.below(2)]
                try context.performAndWait { () throws in
                    for _ in 0...numbers.below(3) {
                        try Nodes.edit(context, &numbers, name: "n\(round)", mayDelete: mayDelete)
                    }
                    if numbers.chance(2) { context.processPendingChanges() }
                }
                guard numbers.chance(2) else { continue }
                try context.performAndWait { () throws in
                    do { try saveRefreshing(context) } catch let error as CocoaError {
                        // What is set here to lead to one that another has deleted is the user's to mend.
                        guard mayDelete, [1550, 1560, 133000, 133020].contains(error.errorCode) else { throw error }
                        context.rollback()
                    }
                }
                let fresh = stack.newContext()
                let differences = try fresh.performAndWait { try Nodes.differences(in: fresh) }
                #expect(differences.isEmpty, "seed \(seed), round \(round)")
                if !differences.isEmpty { return }
            }
        }
    }
}
