import CoreData
import Foundation
import TestSupport
import Testing

/// A parent that deletes what its child has, before anything is saved.
@Suite struct UnsavedDeletionTests {
    private let stack: LibraryStack
    private let child = NSManagedObjectContext(.privateQueue)
    private var parent: NSManagedObjectContext { stack.context }

    init() throws {
        stack = try LibraryStack()
        child.parent = stack.context
    }

    /// A saved book with two chapters, by an author.
    private func bookID() throws -> NSManagedObjectID {
        try parent.performAndWait {
            let book = Book(context: parent)
            book.title = "One"
            book.author = Author(context: parent)
            book.author?.name = "Ann"
            for title in ["a", "b"] {
                let chapter = Chapter(context: parent)
                (chapter.title, chapter.book) = (title, book)
            }
            try parent.save()
            return book.objectID
        }
    }

    private func count(_ entity: String, in context: NSManagedObjectContext) throws -> Int {
        try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) }
    }

    @Test("K2, K6: a change of what the parent is to delete is a conflict; both contexts stay as they are")
    func changesOfWhatTheParentDeletes() throws {
        let id = try bookID()
        let policies = [
            NSMergePolicy.error, .overwrite, .rollback, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump,
        ]
        for policy in policies {
            child.mergePolicy = policy
            try child.performAndWait {
                let book = try #require(child.object(with: id) as? Book)
                book.title = "Two"
                let tag = Tag(context: child)
                tag.name = "t"
                parent.performAndWait {
                    parent.delete(parent.object(with: id))
                    parent.processPendingChanges()
                }
                let error = #expect(throws: CocoaError.self) { try child.save() }
                #expect(error?.errorCode == NSManagedObjectMergeError)
                let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
                #expect(conflicts?.map(\.sourceObject) == [book] && conflicts?.first?.newVersionNumber == 0)
                #expect(book.isUpdated && book.title == "Two" && tag.isInserted)
                parent.performAndWait {
                    #expect(parent.deletedObjects.count == 3 && parent.insertedObjects.isEmpty)
                    parent.rollback()
                }
                child.rollback()
            }
        }
        #expect(try count("Chapter", in: parent) == 2)
    }

    @Test("K7: who gives the change up, or deletes too, can save; what only lost a relationship does not matter")
    func waysOutOfIt() throws {
        for way in 0..<3 {
            let id = try bookID()
            try child.performAndWait {
                let book = try #require(child.object(with: id) as? Book)
                let author = try #require(book.author)
                let reader = Reader(context: child)
                reader.name = "Rob"
                if way == 2 { child.delete(author) } else { book.title = "Two" }
                parent.performAndWait {
                    parent.delete(parent.object(with: id))
                    parent.processPendingChanges()
                }
                if way == 0 { child.refresh(book, mergeChanges: false) }
                if way == 1 { child.delete(book) }
                try child.save()
            }
            try parent.performAndWait { try parent.save() }
            let other = stack.newContext()
            #expect(try count("Book", in: other) == 0 && count("Chapter", in: other) == 0, "way \(way)")
            #expect(try count("Reader", in: other) == way + 1, "way \(way)")
        }
    }

    @Test("J3, K2: a deletion that the child has undone comes back in the parent, with what it had taken along")
    func deletionsThatAreUndone() throws {
        let id = try bookID()
        let undo = UndoManager()
        undo.groupsByEvent = false
        try child.performAndWait {
            child.undoManager = undo
            undo.beginUndoGrouping()
            child.delete(child.object(with: id))
            child.processPendingChanges()
            undo.endUndoGrouping()
            try child.save()
            #expect(try count("Chapter", in: parent) == 0)
            undo.undo()
            try child.save()
        }
        try parent.performAndWait { try parent.save() }
        let other = stack.newContext()
        #expect(try count("Book", in: other) == 1 && count("Chapter", in: other) == 2)
    }

    @Test(
        "J3, K2: what a child has emptied or ordered anew of an object whose deletion it then undoes stays so in the parent",
        arguments: [false, true])
    func relationshipsOfUndoneDeletions(_ refreshes: Bool) throws {
        let stack = try LibraryStack(model: Nodes.model())
        let (parent, child) = (stack.context, NSManagedObjectContext(.privateQueue))
        child.parent = parent
        let id = try parent.performAndWait {
            let node = Nodes.insert("node", into: parent)
            let others = ["a", "b", "c"].map { Nodes.insert($0, into: parent) }
            for key in ["owner", "shelf", "teacher", "pupil", "spouse"] { node.setValue(others[0], forKey: key) }
            node.setValue(NSOrderedSet(array: others), forKey: "likes")
            node.setValue(Set(others), forKey: "friends")
            node.setValue(Set(others[1...]), forKey: "children")
            node.setValue(NSOrderedSet(array: Array(others[1...])), forKey: "items")
            try parent.save()
            return node.objectID
        }
        let undo = UndoManager()
        undo.groupsByEvent = false
        let wanted = try child.performAndWait {
            child.undoManager = undo
            let node = child.object(with: id)
            undo.beginUndoGrouping()
            for key in ["owner", "shelf", "teacher", "pupil", "spouse"] { node.setValue(nil, forKey: key) }
            for key in ["likes", "items"] {
                let members = Nodes.targets(node.value(forKey: key))
                node.setValue(NSOrderedSet(array: members.reversed()), forKey: key)
            }
            let friends = Nodes.targets(node.value(forKey: "friends")).sorted { Nodes.name($0) < Nodes.name($1) }
            node.setValue(Set(friends[...0]), forKey: "friends")
            child.processPendingChanges()
            undo.endUndoGrouping()
            let wanted = try Nodes.picture(of: child)
            undo.beginUndoGrouping()
            child.delete(node)
            child.processPendingChanges()
            undo.endUndoGrouping()
            try child.save()
            undo.undo()
            #expect(try Nodes.picture(of: child) == wanted)
            try child.save()
            return wanted
        }
        try parent.performAndWait {
            if refreshes { for object in parent.registeredObjects { parent.refresh(object, mergeChanges: true) } }
            #expect(try Nodes.picture(of: parent) == wanted)
            try parent.save()
        }
        let fresh = stack.newContext()
        try fresh.performAndWait { () throws in
            #expect(try Nodes.picture(of: fresh) == wanted)
            #expect(try Nodes.differences(in: fresh) == [])
        }
    }

    @Test("K3: a child that merges by itself learns of its new objects that the parent gives up", arguments: 0..<5)
    func newObjectsThatTheParentGivesUp(_ way: Int) async throws {
        child.automaticallyMergesChangesFromParent = true
        let (child, parent) = (child, parent)
        if way == 3 { await parent.perform { parent.undoManager = UndoManager() } }
        nonisolated(unsafe) let (book, other): (Book, Book) = try await child.perform {
            let (book, other) = (Book(context: child), Book(context: child))
            (book.title, other.title) = ("One", "Other")
            try child.save()
            return (book, other)
        }
        let ids = await child.perform { [book.objectID, other.objectID] }
        try await parent.perform {
            let book = parent.object(with: ids[0])
            switch way {
            case 0: parent.delete(book)
            case 1:
                // Nothing is left to save.
                parent.delete(book)
                parent.delete(parent.object(with: ids[1]))
            case 2: parent.rollback()
            case 3: parent.undo()
            default:
                try parent.obtainPermanentIDs(for: [book])
                parent.delete(book)
            }
            try parent.save()
        }
        try await child.perform { () throws in
            #expect(book.managedObjectContext == nil && child.registeredObject(for: ids[0]) == nil)
            let isOtherThere = way == 0 || way == 4
            #expect((other.managedObjectContext != nil) == isOtherThere)
            #expect(try child.all(Book.self, "Book").map(\.title) == (isOtherThere ? ["Other"] : []))
            #expect(!child.hasChanges)
        }
    }

    @Test("I10, K3: what a unique value gives to a row is not told as given up")
    func upsertsAreNoDeletions() async throws {
        let (child, parent) = (child, parent)
        child.automaticallyMergesChangesFromParent = true
        child.retainsRegisteredObjects = true
        try await parent.perform {
            parent.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let tag = Tag(context: parent)
            tag.name = "same"
            try parent.save()
            parent.reset()
        }
        try await child.perform {
            let tag = Tag(context: child)
            tag.name = "same"
            try child.save()
        }
        try await parent.perform { try parent.save() }
        try await child.perform { () throws in
            #expect(try child.all(Tag.self, "Tag").map(\.name) == ["same"])
            child.retainsRegisteredObjects = false
        }
    }
}
