import CoreData
import Foundation
import TestSupport
import Testing

/// Semantics L2, L3, L7, N3: what a context has once it has learnt that objects are gone.
@Suite struct MergedDeletionTests {
    /// How the context is told.
    enum Way: CaseIterable { case remote, notification, child }

    @Test("After a batch delete was merged nothing leads to what is gone", arguments: Way.allCases, [false, true])
    func batchDelete(_ way: Way, _ edits: Bool) throws {
        for seed in Trials.seeds(12) {
            let stack = try LibraryStack(model: Nodes.model())
            var numbers = SeededNumbers(seed: seed)
            try stack.story { context in
                for name in ["a", "b", "c", "d", "e", "f"] { _ = Nodes.insert(name, into: context) }
                for _ in 0..<25 { try Nodes.edit(context, &numbers, name: "n") }
                try context.save()
            }
            let context = way == .child ? child(of: stack.context) : stack.newContext()
            try context.performAndWait { () throws in
                let known = try Nodes.all(in: context)
                // Some of what can be read has been.
                for node in known {
                    for key in node.entity.relationshipsByName.keys.sorted() where numbers.chance(2) {
                        _ = Nodes.targets(node.value(forKey: key))
                    }
                }
                if edits { for _ in 0..<3 { try Nodes.edit(context, &numbers, name: "n") } }
                let gone = known.filter { _ in numbers.chance(3) }
                try tell(way, context, stack, deleting: gone.map(\.objectID))
                for node in gone {
                    #expect(node.managedObjectContext == nil)
                    context.delete(node)
                }
                let differences = try Nodes.differences(in: context).filter { !edits || !$0.hasSuffix("gone") }
                #expect(differences.isEmpty, "\(way), seed \(seed)")
                if !edits { #expect(!context.hasChanges, "\(way), seed \(seed)") }
                guard way != .child, !edits else { return }
                for node in known where !gone.contains(node) { node.setValue(1, forKey: "note") }
                try context.save()
            }
            let fresh = stack.newContext()
            #expect(try fresh.performAndWait { try Nodes.differences(in: fresh) }.isEmpty, "\(way), seed \(seed)")
        }
    }

    private func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        child.automaticallyMergesChangesFromParent = true
        return child
    }

    private func tell(
        _ way: Way, _ context: NSManagedObjectContext, _ stack: LibraryStack, deleting ids: [NSManagedObjectID]
    ) throws {
        let other = stack.newContext()
        try other.performAndWait { _ = try other.execute(NSBatchDeleteRequest(objectIDs: ids)) }
        let told = [NSDeletedObjectsKey: ids]
        switch way {
        case .remote: NSManagedObjectContext.mergeChanges(fromRemoteContextSave: told, into: [context])
        case .notification:
            context.mergeChanges(
                fromContextDidSave: Notification(
                    name: .NSManagedObjectContextDidSave, object: nil, userInfo: [NSDeletedObjectIDsKey: Set(ids)]))
        case .child:
            let parent = stack.context
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: told, into: [parent])
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: told, into: [context])
        }
    }

    @Test("L2: an object that was deleted elsewhere is a member of nothing here, also of what its deleter did not know")
    func membersUnknownToTheDeleter() throws {
        let stack = try LibraryStack(model: Nodes.model())
        let (deleting, watching) = (stack.newContext(), stack.newContext())
        let (tagID, ownerID) = try stack.story { context in
            let (tag, owner) = (Nodes.insert("tag", into: context), Nodes.insert("owner", into: context))
            try context.save()
            return (tag.objectID, owner.objectID)
        }
        try deleting.performAndWait { () throws in
            deleting.mergePolicy = NSMergePolicy.overwrite
            let tag = try deleting.existingObject(with: tagID)
            _ = tag.value(forKey: "fans")
            _ = tag.value(forKey: "likers")
            deleting.delete(tag)
            deleting.processPendingChanges()
        }
        try stack.story { context in
            let (tag, owner) = (context.object(with: tagID), context.object(with: ownerID))
            owner.mutableSetValue(forKey: "friends").add(tag)
            owner.mutableOrderedSetValue(forKey: "likes").add(tag)
            try context.save()
        }
        let members = { (owner: NSManagedObject) in
            Nodes.targets(owner.value(forKey: "friends")) + Nodes.targets(owner.value(forKey: "likes"))
        }
        let owner = watching.performAndWait { watching.object(with: ownerID) }
        #expect(watching.performAndWait { members(owner).count } == 2)
        let saves = NotificationSaves(deleting)
        try deleting.performAndWait { try deleting.save() }
        let saved = try #require(saves.last)
        watching.performAndWait {
            watching.mergeChanges(fromContextDidSave: saved)
            #expect(members(owner).isEmpty)
        }
    }

    @Test("I7, L2: of a row that a merge policy brought back there is one object, however late its deletion is told")
    func broughtBackBeforeItsDeletionIsMerged() throws {
        let stack = try LibraryStack()
        let (deleting, watching) = (stack.newContext(), stack.newContext())
        try stack.story { context in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let (author, book) = (Author(context: context), Book(context: context))
            (author.name, book.title, book.author) = ("Jane", "Emma", author)
            try context.save()
            let (authorID, bookID) = (author.objectID, book.objectID)
            let deletions = NotificationSaves(deleting)
            let watched = watching.performAndWait { watching.object(with: authorID) as? Author }
            watching.performAndWait { #expect(watched?.books.count == 1) }
            try deleting.performAndWait { () throws in
                deleting.delete(try deleting.existingObject(with: bookID))
                try deleting.save()
            }
            let deletion = try #require(deletions.last)
            watching.performAndWait {
                watching.mergeChanges(fromContextDidSave: deletion)
                #expect(watched?.books.count == 0)
            }
            let returns = NotificationSaves(context)
            book.pages = 7
            try context.save()
            let saved = try #require(returns.last)
            let updated = saved.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>
            #expect(updated == [author], "its author has it again")
            context.mergeChanges(fromContextDidSave: deletion)
            #expect(book.managedObjectContext === context && !book.isDeleted)
            #expect(try context.all(Book.self, "Book").map(ObjectIdentifier.init) == [ObjectIdentifier(book)])
            #expect(author.books == [book])
            watching.performAndWait {
                watching.mergeChanges(fromContextDidSave: saved)
                #expect(watched?.books.map(\.pages) == [7])
            }
            book.pages = 8
            try context.save()
        }
    }
}
