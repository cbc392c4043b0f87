import CoreData
import Foundation
import StoreTestSupport
import TestSupport
import Testing

@testable import CoreData

/// Contexts on contexts, whatever the rows of the last one stand on.
@Suite struct ChildContextSpecification {
    @Test(arguments: SpecifiedStore.all)
    func aChildSeesWhatItsParentHasNotSaved(_ store: SpecifiedStore) throws {
        // K1
        try story(store) { family throws in
            try family.parent { parent throws in
                let ann = parent.insert("Author", ["name": "Ann"])
                for index in 1...3 { _ = parent.insert("Book", ["title": "b\(index)", "pages": index, "author": ann]) }
                try parent.save()
                let book = try parent.one("Book", "title == 'b1'")
                book.setValue("changed", forKey: "title")
                parent.delete(try parent.one("Book", "title == 'b2'"))
                _ = parent.insert("Novel", ["title": "new", "pages": 9, "author": ann])
            }
            let child = family.child
            #expect(try child.all("Book", by: "pages").map { $0.text("title") } == ["changed", "b3", "new"])
            #expect(try child.all("Book", "pages > 1", by: "-pages", limit: 1).map { $0.text("title") } == ["new"])
            #expect(try child.count(for: request("Book")) == 3)
            let ann = try child.one("Author")
            #expect(ann.names(of: "books", by: "title") == ["b3", "changed", "new"])
            let new = try child.one("Novel")
            #expect(new.objectID.isTemporaryID && new.object("author") === ann && !new.isInserted)
            #expect(try child.all("Book", "author == %@ AND title == 'new'", [ann]) == [new])
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func aSaveGoesOneLevelUp(_ store: SpecifiedStore) throws {
        // K2
        try story(store) { family throws in
            let child = family.child
            let ann = child.insert("Author", ["name": "Ann"])
            let book = child.insert("Book", ["title": "One", "author": ann, "note": "transient"])
            book.setValue(
                NSOrderedSet(array: ["y", "x"].map { child.insert("Tag", ["name": $0]) }), forKey: "tags")
            for title in ["2", "1"] { _ = child.insert("Chapter", ["title": title, "book": book]) }
            let shelf = child.insert("Shelf", ["label": "S"])
            shelf.setValue(NSOrderedSet(array: [book]), forKey: "row")
            shelf.setValue(book.value(forKey: "tags").flatMap { ($0 as? NSOrderedSet)?.set }, forKey: "picks")
            try child.save()
            #expect(!child.hasChanges && book.objectID.isTemporaryID)
            #expect(try family.stored("Book", by: "title") == [])
            try family.parent { parent throws in
                #expect(parent.insertedObjects.count == 7)
                let book = try parent.one("Book")
                #expect(book.text("note") == "transient" && book.object("author")?.text("name") == "Ann")
                #expect(book.names(of: "tags") == ["y", "x"])
                #expect(book.names(of: "chapters", by: "title") == ["2", "1"])
                #expect(try parent.one("Shelf").names(of: "row", by: "title") == ["One"])
                #expect(try parent.one("Shelf").names(of: "picks") == ["x", "y"])
                try parent.save()
            }
            try family.stack.story { other throws in
                let book = try other.one("Book")
                #expect(book.object("author")?.text("name") == "Ann" && book.names(of: "tags") == ["y", "x"])
                #expect(book.names(of: "chapters", by: "title") == ["2", "1"])
                #expect(try other.one("Shelf").names(of: "row", by: "title") == ["One"])
                #expect(try other.one("Shelf").names(of: "picks") == ["x", "y"])
            }
            #expect(book.names(of: "chapters", by: "title") == ["2", "1"] && shelf.names(of: "picks") == ["x", "y"])
        }
    }

    /// What a child has saved and changes again is of the row that was saved, also where the parent has let go of its object: what others wrote since is a
    /// conflict, unless the child has read that.
    @Test(arguments: SpecifiedStore.all, [true, false])
    func whatOthersWriteBetweenTwoSavesIsAConflict(_ store: SpecifiedStore, isNew: Bool) throws {
        // K2, E1
        try story(store) { family throws in
            let child = family.child
            if !isNew {
                try family.parent { parent throws in
                    _ = parent.insert("Author", ["name": "old"])
                    try parent.save()
                }
            }
            let author = isNew ? child.insert("Author") : try child.one("Author")
            func save(_ name: String) throws {
                author.setValue(name, forKey: "name")
                try child.save()
                try family.parent { parent throws in try parent.save() }
            }
            func writeElsewhere(_ name: String) throws {
                try family.stack.story { other throws in
                    try other.one("Author").setValue(name, forKey: "name")
                    try other.save()
                }
            }
            try save("mine")
            try writeElsewhere("theirs")
            // What the error has of it would keep the parent's object.
            let code = { #expect(throws: CocoaError.self) { try save("mine again") }?.code.rawValue }()
            #expect(code == NSManagedObjectMergeError)
            try family.stack.story { other throws in #expect(try other.one("Author").text("name") == "theirs") }
            family.parent { $0.rollback() }
            child.refresh(author, mergeChanges: false)
            #expect(author.text("name") == "theirs")
            try save("mine at last")
            try save("and once more")
            try writeElsewhere("theirs at last")
            child.refreshAllObjects()
            #expect(author.text("name") == "theirs at last")
            try family.stack.story { other throws in #expect(try other.one("Author").text("name") == "theirs at last") }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func changesAndDeletionsGoUp(_ store: SpecifiedStore) throws {
        // K2, K7
        try story(store, rules: [("Book", "chapters", .cascadeDeleteRule)]) { family throws in
            try family.parent { parent throws in
                let books = ["a", "b", "c"].map { parent.insert("Book", ["title": $0]) }
                for title in ["1", "2", "3"] { _ = parent.insert("Chapter", ["title": title, "book": books[0]]) }
                let tag = parent.insert("Tag", ["name": "t"])
                books[0].setValue(NSOrderedSet(array: [tag]), forKey: "tags")
                try parent.save()
            }
            let child = family.child
            let a = try child.one("Book", "title == 'a'")
            a.setValue("z", forKey: "title")
            a.mutableOrderedSetValue(forKey: "chapters").moveObjects(at: IndexSet(integer: 2), to: 0)
            try child.one("Tag").mutableSetValue(forKey: "books").add(try child.one("Book", "title == 'b'"))
            a.mutableOrderedSetValue(forKey: "tags").removeAllObjects()
            child.delete(try child.one("Book", "title == 'c'"))
            let changes = family.parent { ObservedChanges(of: $0) }
            try child.save()
            try family.parent { parent throws in
                #expect(changes.sets.count == 1 && changes.sets[0]["deleted"]?.count == 1)
                #expect(parent.deletedObjects.count == 1 && parent.insertedObjects.isEmpty)
                #expect(try parent.all("Book", by: "title").map { $0.text("title") } == ["b", "z"])
                #expect(try parent.one("Book", "title == 'z'").names(of: "chapters", by: "title") == ["3", "1", "2"])
                #expect(try parent.one("Tag").names(of: "books", by: "title") == ["b"])
                #expect(try parent.one("Book", "title == 'z'").names(of: "tags") == [])
                try parent.save()
            }
            #expect(try family.stored("Book", by: "title") == ["b", "z"])
            child.delete(a)
            try child.save()
            try family.parent { parent throws in
                #expect(try parent.all("Chapter").isEmpty)
                try parent.save()
            }
            #expect(try family.stored("Chapter", by: "title") == [])
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func threeLevelsWorkAtOnce(_ store: SpecifiedStore) throws {
        try story(store) { family throws in
            let grandchild = NSManagedObjectContext(.privateQueue)
            grandchild.parent = family.child
            let identifier = try grandchild.performAndWait {
                let book = grandchild.insert("Book", ["title": "One"])
                try grandchild.save()
                return book.objectID
            }
            #expect(try family.child.all("Book").count == 1)
            try family.parent { parent throws in #expect(try parent.all("Book").isEmpty) }
            #expect(family.child.object(with: identifier).text("title") == "One")
            try family.child.save()
            try family.parent { try $0.save() }
            #expect(try family.stored("Book", by: "title") == ["One"])
            try grandchild.performAndWait {
                let book = grandchild.object(with: identifier)
                #expect(try grandchild.all("Book") == [book])
                book.setValue("Two", forKey: "title")
                try grandchild.save()
            }
            try family.child.save()
            try family.parent { try $0.save() }
            #expect(try family.stored("Book", by: "title") == ["Two"])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func objectsAreTheSameUnderTemporaryAndPermanentIDs(_ store: SpecifiedStore) throws {
        // K4
        try story(store) { family throws in
            let child = family.child
            let author = child.insert("Author", ["name": "Ann"])
            let book = child.insert("Book", ["title": "One", "author": author])
            let temporary = book.objectID
            try child.save()
            try family.parent { try $0.save() }
            let found = try child.one("Book")
            #expect(found === book && !book.objectID.isTemporaryID && child.object(with: temporary) === book)
            #expect(book.object("author") === author && author.names(of: "books", by: "title") == ["One"])
            #expect(!book.hasChanges && book.changedValues().isEmpty)
            let early = child.insert("Book", ["title": "Two"])
            try child.obtainPermanentIDs(for: [early])
            let permanent = early.objectID
            #expect(!permanent.isTemporaryID && early.isInserted)
            try child.save()
            try family.parent { try $0.save() }
            try family.stack.story { other throws in
                #expect(try other.existingObject(with: permanent).text("title") == "Two")
            }
            let late = child.insert("Book", ["title": "Three"])
            try child.save()
            try child.obtainPermanentIDs(for: [late])
            #expect(!late.objectID.isTemporaryID)
            let identifier = late.objectID
            try family.parent { parent throws in
                #expect(parent.object(with: identifier).isInserted)
                try parent.save()
            }
            try family.stack.story { other throws in
                #expect(try other.existingObject(with: identifier).text("title") == "Three")
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func objectsThatOnlyAnAncestorHoldsAreFound(_ store: SpecifiedStore) throws {
        try story(store) { family throws in
            let child = family.child
            let grandchild = NSManagedObjectContext(.privateQueue)
            grandchild.parent = child
            let unsaved = try family.parent { parent throws in
                parent.retainsRegisteredObjects = true
                return parent.insert("Tag", ["name": "t"]).objectID
            }
            let identifier = try grandchild.performAndWait {
                let tag = try grandchild.existingObject(with: unsaved)
                let book = grandchild.insert("Book", ["title": "One", "tags": NSOrderedSet(array: [tag])])
                try grandchild.save()
                try child.save()
                book.setValue("Two", forKey: "title")
                tag.setValue("changed", forKey: "name")
                try grandchild.save()
                try child.save()
                return book.objectID
            }
            try family.parent { parent throws in
                #expect(parent.object(with: unsaved).text("name") == "changed")
                #expect(parent.object(with: unsaved).names(of: "books", by: "title") == ["Two"])
                try parent.save()
            }
            try grandchild.performAndWait {
                grandchild.delete(grandchild.object(with: identifier))
                try grandchild.save()
                try child.save()
            }
            try family.parent { try $0.save() }
            #expect(try family.stored("Book", by: "title") == [])
            #expect(try family.stored("Tag") == ["changed"])
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func theParentsChangesShowAfterARefresh(_ store: SpecifiedStore) throws {
        // K3
        try story(store) { family throws in
            let identifier = try family.parent { parent throws in
                let book = parent.insert("Book", ["title": "One", "pages": 1])
                try parent.save()
                return book.objectID
            }
            let child = family.child
            let book = child.object(with: identifier)
            #expect(book.text("title") == "One")
            family.parent { $0.object(with: identifier).setValue("Two", forKey: "title") }
            #expect(book.text("title") == "One")
            book.setValue(5, forKey: "pages")
            child.refresh(book, mergeChanges: true)
            #expect(book.text("title") == "Two" && book.value(forKey: "pages") as? Int == 5)
            child.rollback()
            #expect(book.value(forKey: "pages") as? Int == 1 && !child.hasChanges)
            child.refresh(book, mergeChanges: false)
            #expect(book.isFault && book.text("title") == "Two")
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func aSaveThatFailsLeavesParentAndChildAsTheyWere(_ store: SpecifiedStore) throws {
        try story(store) { family throws in
            let identifier = try family.parent { parent throws in
                let book = parent.insert("Book", ["title": "One"])
                try parent.save()
                return book.objectID
            }
            let child = family.child
            let book = child.object(with: identifier)
            book.setValue("Two", forKey: "title")
            let other = child.insert("Book", ["title": "Three"])
            try family.stack.story { context throws in
                context.delete(context.object(with: identifier))
                try context.save()
            }
            family.parent { $0.reset() }
            let error = #expect(throws: CocoaError.self) { try child.save() }
            #expect(error?.errorCode == NSManagedObjectMergeError)
            #expect(book.isUpdated && other.isInserted && book.text("title") == "Two")
            #expect(family.parent { !$0.hasChanges && $0.insertedObjects.isEmpty })
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func theChildsValuesWinOverTheParents(_ store: SpecifiedStore) throws {
        // K6
        try story(store) { family throws in
            let identifier = try family.parent { parent throws in
                let book = parent.insert("Book", ["title": "One", "pages": 1, "shelf": "A"])
                try parent.save()
                return book.objectID
            }
            let book = family.child.object(with: identifier)
            book.setValue("child", forKey: "title")
            family.parent { parent in
                parent.object(with: identifier).setValue("parent", forKey: "title")
                parent.object(with: identifier).setValue("B", forKey: "shelf")
            }
            try family.child.save()
            try family.parent { parent throws in
                let book = parent.object(with: identifier)
                #expect(book.text("title") == "child" && book.text("shelf") == "B")
                try parent.save()
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func validationAndHooksRunInTheChild(_ store: SpecifiedStore) throws {
        try story(store) { family throws in
            let child = family.child
            let book = child.insert("Book")
            let changes = ObservedChanges(of: child)
            book.setValue("One", forKey: "title")
            try child.save()
            #expect(changes.sets == [["inserted": [book]]])
            #expect(child.insertedObjects.isEmpty && child.registeredObject(for: book.objectID) === book)
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func savesOfParentAndSiblingsAreMergedWhereAsked(_ store: SpecifiedStore) async throws {
        try store.requireInstalled()
        let stack = try SpecifiedStack(
            store, NSManagedObjectModel(document: StoreTestSupport.document(Library.entities)))
        defer { stack.rows.opened.remove() }
        let parent = stack.newContext()
        let (child, sibling) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
        child.parent = parent
        sibling.parent = parent
        child.automaticallyMergesChangesFromParent = true
        let identifier = try await parent.perform {
            let book = parent.insert("Book", ["title": "One"])
            try parent.save()
            return book.objectID
        }
        func title() async -> String { await child.perform { child.object(with: identifier).text("title") } }
        child.retainsRegisteredObjects = true
        #expect(await title() == "One")
        try await parent.perform {
            parent.object(with: identifier).setValue("Two", forKey: "title")
            try parent.save()
        }
        #expect(await title() == "Two")
        try await sibling.perform {
            sibling.object(with: identifier).setValue("Three", forKey: "title")
            try sibling.save()
        }
        #expect(await title() == "Three")
        child.retainsRegisteredObjects = false
    }

    @Test(arguments: SpecifiedStore.all)
    func anyEditsOfAChildArriveInTheStore(_ store: SpecifiedStore) throws {
        for seed in store.seeds(8) {
            try story(store, rules: [("Book", "chapters", .cascadeDeleteRule)]) { family throws in
                var edits = RandomEdits(seed: seed, context: family.child)
                for round in 1...12 {
                    for _ in 0..<4 { try edits.edit() }
                    let picture = GraphPicture.text(of: family.child)
                    try family.child.save()
                    let comment: Comment = "seed \(seed), round \(round)"
                    #expect(GraphPicture.text(of: family.child) == picture, comment)
                    #expect(family.parent { GraphPicture.text(of: $0) } == picture, comment)
                    guard round % 3 == 0 else { continue }
                    try family.parent { try $0.save() }
                    #expect(family.stack.story { GraphPicture.text(of: $0) } == picture, comment)
                    #expect(GraphPicture.text(of: family.child) == picture, comment)
                }
            }
        }
    }

    private func request(_ entity: String) -> NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: entity) }

    /// A parent with a private queue on the store, and a child with one of its own.
    private func story(
        _ store: SpecifiedStore, rules: [(String, String, NSDeleteRule)] = [],
        _ body: (ContextFamily) throws -> Void
    ) throws {
        try store.checkContexts(rules: rules) { stack in
            let family = ContextFamily(stack)
            try family.child.performAndWait { try body(family) }
        }
    }
}

private struct ContextFamily {
    let stack: SpecifiedStack
    let child = NSManagedObjectContext(.privateQueue)
    private let parentContext: NSManagedObjectContext

    init(_ stack: SpecifiedStack) {
        self.stack = stack
        parentContext = stack.newContext()
        child.parent = parentContext
    }

    /// Runs the body on the parent's queue.
    @discardableResult
    func parent<R>(_ body: (NSManagedObjectContext) throws -> R) rethrows -> R {
        try parentContext.performAndWait { try body(parentContext) }
    }

    /// A text of each object of the entity, as another context finds it in the store.
    func stored(_ entity: String, by key: String = "name") throws -> [String] {
        try stack.story { try $0.all(entity, by: key).map { $0.text(key) } }
    }
}
