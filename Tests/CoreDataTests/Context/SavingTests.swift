import CoreData
import Foundation
import Testing

// semantics H and I: saving, conflicts, failures
@Suite struct SavingTests {
    @Test("H1: a save without changes runs no statement and posts nothing")
    func nothingToSave() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let log = NotificationLog(.NSManagedObjectContextWillSave, context)
            let statements = try stack.statements { try context.save() }
            #expect(statements.isEmpty)
            #expect(log.userInfos.isEmpty)
        }
    }

    @Test("H2–H4: hooks run, what they set is saved, the object is clean afterwards")
    func hooks() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Book"
            try context.save()
            #expect(book.events == ["awakeFromInsert", "willSave", "didSave"])
            #expect(!book.hasChanges)
        }
    }

    @Test("H5: the notifications of a save tell objects and permanent IDs")
    func notifications() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let will = NotificationLog(.NSManagedObjectContextWillSave, context)
            let did = NotificationLog(.NSManagedObjectContextDidSave, context)
            let ids = NotificationLog(.NSManagedObjectContextDidSaveObjectIDs, context)
            let kept = Book(context: context)
            kept.title = "kept"
            let doomed = Book(context: context)
            doomed.title = "doomed"
            try context.save()
            #expect(will.userInfos.count == 1)
            #expect(did.userInfos[0][NSInsertedObjectsKey] as? Set<NSManagedObject> == [kept, doomed])
            let inserted = ids.userInfos[0][NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>
            #expect(inserted == [kept.objectID, doomed.objectID])
            #expect(inserted?.allSatisfy { !$0.isTemporaryID } == true)
            kept.pages = 3
            let doomedID = doomed.objectID
            context.delete(doomed)
            try context.save()
            #expect(did.userInfos[1][NSUpdatedObjectsKey] as? Set<NSManagedObject> == [kept])
            #expect(did.userInfos[1][NSDeletedObjectsKey] as? Set<NSManagedObject> == [doomed])
            #expect(ids.userInfos[1][NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [doomedID])
        }
    }

    @Test("I1, I4: a row that somebody else changed is a conflict, error 133020, and nothing is written")
    func conflicts() throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Book"
            try context.save()
            try other.performAndWait {
                let same = try #require(try other.existingObject(with: book.objectID) as? Book)
                same.title = "Theirs"
                try other.save()
            }
            book.title = "Mine"
            let new = Tag(context: context)
            new.name = "new"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectMerge)
            let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
            #expect(conflict.sourceObject === book)
            #expect(conflict.oldVersionNumber == 1)
            #expect(conflict.newVersionNumber == 2)
            #expect(conflict.cachedSnapshot?["title"] as? String == "Theirs")
            #expect(conflict.persistedSnapshot == nil)
            #expect(new.isInserted)
            #expect(new.objectID.isTemporaryID)
            #expect(book.title == "Mine")
            #expect(try stack.newContext().performAndWaitCount("Tag") == 0)
            context.refresh(book, mergeChanges: true)
            try context.save()
            #expect(try stack.newContext().performAndWaitCount("Tag") == 1)
        }
    }

    @Test("I2: a row that somebody else deleted is a conflict with version 0")
    func conflictWithDeletion() throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Book"
            try context.save()
            try other.performAndWait {
                other.delete(other.object(with: book.objectID))
                try other.save()
            }
            book.title = "Mine"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.persistentStoreSaveConflicts?.first?.newVersionNumber == 0)
        }
    }

    @Test("I9, I10, I12: a uniqueness constraint is error 133021; nil never conflicts")
    func constraints() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for _ in 0..<2 {
                let book = Book(context: context)
                book.title = "no isbn"
            }
            let first = Book(context: context)
            first.title = "first"
            first.isbn = "1"
            try context.save()
            let second = Book(context: context)
            second.title = "second"
            second.isbn = "1"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectConstraintMerge)
            let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
            #expect(conflict?.constraint == ["isbn"])
            #expect(conflict?.databaseObject === first)
            #expect(conflict?.conflictingObjects == [second])
            second.isbn = "2"
            try context.save()
            // Values that only change places are no conflict.
            first.isbn = "2"
            second.isbn = "1"
            try context.save()
        }
    }

    @Test("H6: a save that fails at any statement leaves store and context as they were")
    func failuresAtEveryStatement() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "A"
            let doomed = Book(context: context)
            doomed.title = "doomed"
            doomed.author = author
            let kept = Book(context: context)
            kept.title = "kept"
            kept.tags = [tag("old", context)]
            try context.save()
            let before = try dump(stack)

            kept.title = "changed"
            kept.tags = [tag("new", context)]
            kept.author = author
            let new = Book(context: context)
            new.title = "new"
            new.sequels = [kept]
            let temporary = new.objectID
            context.delete(doomed)
            var number = 0
            while true {
                number += 1
                let (didFail, error) = stack.failing(statement: number) { try context.save() }
                guard didFail else {
                    #expect(error == nil)
                    break
                }
                #expect(error != nil, "statement \(number)")
                #expect(try dump(stack) == before, "statement \(number)")
                #expect(context.insertedObjects.count == 2)
                #expect(context.deletedObjects == [doomed])
                #expect(context.updatedObjects.contains(kept))
                #expect(new.objectID == temporary)
                #expect(kept.title == "changed" && kept.tags.count == 1 && kept.author === author)
            }
            #expect(number > 8)
            context.reset()
            let saved = try #require(try context.all(Book.self, "Book", "title == 'changed'").first)
            #expect(saved.tags.map(\.name) == ["new"])
            #expect(saved.prequels.map(\.title) == ["new"])
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 2)
        }
    }

    private func tag(_ name: String, _ context: NSManagedObjectContext) -> Tag {
        let tag = Tag(context: context)
        tag.name = name
        return tag
    }

    /// Every object of the store as text, from a stack of its own.
    private func dump(_ stack: LibraryStack) throws -> [String] {
        let other = try LibraryStack(opening: stack.url)
        return try other.story { context in
            try ["Author", "Book", "Chapter", "Tag"].flatMap { entity in
                try context.all(NSManagedObject.self, entity).map { object in
                    let values = object.committedValues(forKeys: nil).map { key, value -> String in
                        let text: String =
                            switch value {
                            case let objects as NSSet:
                                objects.compactMap { ($0 as? NSManagedObject)?.objectID.description }.sorted()
                                    .joined(separator: ",")
                            case let objects as NSOrderedSet:
                                objects.compactMap { ($0 as? NSManagedObject)?.objectID.description }
                                    .joined(separator: ",")
                            case let object as NSManagedObject: object.objectID.description
                            default: "\(value)"
                            }
                        return "\(key)=\(text)"
                    }
                    return "\(object.objectID): \(values.sorted().joined(separator: "; "))"
                }
            }.sorted()
        }
    }
}

extension NSManagedObjectContext {
    func performAndWaitCount(_ entity: String) throws -> Int {
        try performAndWait { try count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) }
    }
}
