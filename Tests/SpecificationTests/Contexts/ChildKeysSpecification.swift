import CoreData
import Foundation
import StoreTestSupport
import Testing

/// What a child context knows by temporary IDs when an ancestor has saved it.
@Suite struct ChildKeysSpecification {
    private func story(
        _ store: SpecifiedStore,
        _ body: (SpecifiedStack, _ root: NSManagedObjectContext, _ child: NSManagedObjectContext) throws -> Void
    ) throws {
        try store.checkContexts { stack in
            let (root, child) = (stack.newContext(), NSManagedObjectContext(.privateQueue))
            child.parent = root
            try child.performAndWait { try body(stack, root, child) }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func undoLeadsToTheOneInstance(_ store: SpecifiedStore) throws {  // A1, J3
        for reads in [true, false] {
            try story(store) { _, root, child in
                let manager = UndoManager()
                manager.groupsByEvent = false
                child.undoManager = manager
                defer { child.undoManager = nil }
                func step(_ body: () -> Void) {
                    manager.beginUndoGrouping()
                    body()
                    child.processPendingChanges()
                    manager.endUndoGrouping()
                }
                let mentor = child.insert("Person", ["name": "mentor"])
                let pupil = child.insert("Person", ["name": "pupil", "mentor": mentor])
                try child.save()
                try root.performAndWait { try root.save() }
                step { pupil.setValue(nil, forKey: "mentor") }
                step { child.delete(mentor) }
                if reads { _ = try child.all("Person") }
                child.undo()
                child.undo()
                #expect(pupil.object("mentor") === mentor && mentor.names(of: "pupils") == ["pupil"])
                #expect(try child.all("Person", "name == 'mentor'") == [mentor])
                #expect(child.registeredObjects.count == 2 && !mentor.objectID.isTemporaryID)
                #expect(!pupil.hasPersistentChangedValues)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues), [true, false])
    func aNewObjectThatBecameARowsIsThatRows(_ store: SpecifiedStore, isRowKnown: Bool) throws {  // K2, P4
        try story(store) { stack, root, child in
            try root.performAndWait {
                root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                _ = root.insert("Author", ["name": "row", "email": "e", "rating": 1.5])
                try root.save()
            }
            let known = isRowKnown ? try child.one("Author") : nil
            let new = child.insert("Author", ["name": "new", "email": "e"])
            let book = child.insert("Book", ["title": "One", "author": new])
            let temporary = new.objectID
            try child.save()
            try root.performAndWait { try root.save() }
            if isRowKnown { new.setValue("later", forKey: "name") }
            let found = try child.existingObject(with: temporary)
            #expect(!found.objectID.isTemporaryID && found === (known ?? new))
            #expect(try child.all("Author") == [found])
            #expect(book.object("author") === found)
            if isRowKnown {
                #expect(new.managedObjectContext == nil)
                #expect(found.text("name") == "later")
            } else {
                #expect(found.text("name") == "new" && found.value(forKey: "rating") as? Double == 1.5)
                found.setValue("later", forKey: "name")
            }
            try child.save()
            try root.performAndWait { try root.save() }
            try stack.story { fresh throws in
                #expect(try fresh.names("Author") == ["later"])
                #expect(try fresh.one("Author").names(of: "books", by: "title") == ["One"])
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func aChildLearnsWhatItsParentMadeOfItsNewObjects(_ store: SpecifiedStore) throws {  // L3
        try store.checkContexts { stack in
            let (root, child) = (stack.newContext(), NSManagedObjectContext(.privateQueue))
            child.parent = root
            child.automaticallyMergesChangesFromParent = true
            let (author, book) = try child.performAndWait {
                let author = child.insert("Author", ["name": "child", "email": "e"])
                let book = child.insert("Book", ["title": "One", "author": author])
                try child.save()
                #expect(author.names(of: "books", by: "title") == ["One"])
                return (author, book)
            }
            try root.performAndWait {
                let author = try root.one("Author")
                author.setValue("root", forKey: "name")
                _ = root.insert("Book", ["title": "Two", "author": author])
                try root.one("Book", "title == 'One'").setValue(nil, forKey: "author")
                try root.save()
            }
            child.performAndWait {
                #expect(author.text("name") == "root" && book.object("author") == nil)
                #expect(author.names(of: "books", by: "title") == ["Two"])
                #expect(!child.hasChanges)
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func conflictsSayWhatTheyAreOf(_ store: SpecifiedStore) throws {
        try store.checkContexts { stack in
            try stack.story { context throws in
                let author = context.insert("Author", ["name": "a", "email": "e"])
                try context.save()
                try stack.story { other throws in
                    try other.one("Author").setValue("b", forKey: "name")
                    try other.save()
                }
                author.setValue("c", forKey: "name")
                let error = #expect(throws: CocoaError.self) { try context.save() }
                let text = (error as NSError?)?.localizedDescription ?? ""
                #expect(text.contains("\(author.objectID) was changed from version 1 to 2 by somebody else"))
                context.rollback()
                context.refreshAllObjects()
                let twin = context.insert("Author", ["name": "twin", "email": "e"])
                let conflict = NSConstraintConflict(
                    constraint: ["email"], database: author, databaseSnapshot: nil, conflicting: [twin],
                    conflictingSnapshots: [])
                #expect(conflict.description.contains("email") && conflict.description.contains("\(twin.objectID)"))
            }
        }
    }
}
