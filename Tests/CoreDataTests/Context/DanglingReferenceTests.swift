import CoreData
import Foundation
import Testing

// semantics E, F, G: what is deleted, gone or in no context cannot be saved as a destination
@Suite struct DanglingReferenceTests {
    /// A book and an author that are saved; the author's name is mandatory, a chapter needs nothing.
    private func story(
        _ model: NSManagedObjectModel = Library.model(),
        _ body: (LibraryStack, NSManagedObjectContext, Book, Author) throws -> Void
    ) throws {
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Dune"
            let author = Author(context: context)
            author.name = "Frank"
            try context.save()
            try body(stack, context, book, author)
        }
    }

    /// Saving fails with 1550 for that relationship, writes nothing and leaves the context as it is.
    private func expectDangling(
        _ key: String, of object: NSManagedObject, _ stack: LibraryStack,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let context = stack.context
        let before = try Contents(stack)
        context.processPendingChanges()
        let changed = (context.insertedObjects, context.updatedObjects, context.deletedObjects)
        let error = #expect(throws: CocoaError.self, sourceLocation: sourceLocation) { try context.save() }
        #expect(error?.code.rawValue == NSManagedObjectValidationError, sourceLocation: sourceLocation)
        #expect(error?.validationKey == key, sourceLocation: sourceLocation)
        #expect(error?.validationObject as? NSManagedObject === object, sourceLocation: sourceLocation)
        #expect(
            error?.localizedDescription.contains("Dangling reference to an invalid object") == true,
            sourceLocation: sourceLocation)
        #expect(try Contents(stack) == before, sourceLocation: sourceLocation)
        #expect(changed.0 == context.insertedObjects, sourceLocation: sourceLocation)
        #expect(changed.1.isSubset(of: context.updatedObjects), sourceLocation: sourceLocation)
        #expect(changed.2.isSubset(of: context.deletedObjects), sourceLocation: sourceLocation)
    }

    /// What the store has, as another coordinator sees it.
    private struct Contents: Equatable {
        var books: [String]
        var authors: Int

        init(_ stack: LibraryStack) throws {
            let other = stack.newContext()
            (books, authors) = try other.performAndWait {
                let books = try other.all(Book.self, "Book").map { book in
                    let tags = book.tags.compactMap(\.name).sorted()
                    return
                        "\(book.title ?? "") by \(book.author?.objectID.description ?? "-") \(tags) \(book.sequels.count)"
                }
                return (books.sorted(), try other.count(for: NSFetchRequest<Author>(entityName: "Author")))
            }
        }
    }

    @Test("A to-one to an object that was deleted and saved")
    func deletedAndSaved() throws {
        try story { stack, context, book, author in
            context.delete(author)
            try context.save()
            book.author = author
            try expectDangling("author", of: book, stack)
            book.author = nil
            try context.save()
            #expect(!context.hasChanges)
        }
    }

    @Test("A to-one to an object that is marked as deleted and will be by the same save")
    func markedAsDeleted() throws {
        try story { stack, context, book, author in
            context.delete(author)
            context.processPendingChanges()
            book.author = author
            try expectDangling("author", of: book, stack)
            context.rollback()
            #expect(book.author == nil)
            #expect(!author.isDeleted)
            try context.save()
        }
    }

    @Test("A live set that outlived its owner relates nothing to it")
    func liveSetOfDeletedOwner() throws {
        try story { stack, context, book, author in
            let books = author.mutableSetValue(forKey: "books")
            context.delete(author)
            try context.save()
            books.add(book)
            try expectDangling("author", of: book, stack)
        }
    }

    @Test("A to-many with a member that was deleted and saved", arguments: ["books", "tags", "chapters", "sequels"])
    func deletedMember(_ key: String) throws {
        try story { stack, context, book, author in
            let tag = Tag(context: context)
            let chapter = Chapter(context: context)
            let sequel = Book(context: context)
            sequel.title = "Messiah"
            let other = Book(context: context)
            other.title = "Children"
            book.sequels = [other]
            book.chapters = [Chapter(context: context)]
            try context.save()
            let members: [String: NSManagedObject] = [
                "books": sequel, "tags": tag, "chapters": chapter, "sequels": sequel,
            ]
            let member = try #require(members[key])
            context.delete(member)
            try context.save()
            let owner: NSManagedObject = key == "books" ? author : book
            if key == "chapters" || key == "sequels" {
                owner.mutableOrderedSetValue(forKey: key).insert(member, at: 0)
            } else {
                owner.mutableSetValue(forKey: key).add(member)
            }
            try expectDangling(key, of: owner, stack)
            context.rollback()
            try context.save()
        }
    }

    @Test("A whole to-many that is set with a deleted member, and one that has a member marked as deleted")
    func wholeToMany() throws {
        try story { stack, context, book, author in
            let tag = Tag(context: context)
            try context.save()
            context.delete(tag)
            context.processPendingChanges()
            book.tags = [tag]
            try expectDangling("tags", of: book, stack)
            context.rollback()
            context.delete(tag)
            try context.save()
            book.setValue(NSSet(object: tag), forKey: "tags")
            try expectDangling("tags", of: book, stack)
        }
    }

    @Test("By primitive values")
    func primitiveValues() throws {
        try story { stack, context, book, author in
            let tag = Tag(context: context)
            try context.save()
            context.delete(tag)
            context.delete(author)
            try context.save()
            book.willChangeValue(forKey: "author")
            book.setPrimitiveValue(author, forKey: "author")
            book.didChangeValue(forKey: "author")
            try expectDangling("author", of: book, stack)
            context.rollback()
            book.willChangeValue(forKey: "tags")
            (book.primitiveValue(forKey: "tags") as? NSMutableSet)?.add(tag)
            book.didChangeValue(forKey: "tags")
            try expectDangling("tags", of: book, stack)
        }
    }

    @Test("Of a new object; several problems are told together (G2)")
    func newObject() throws {
        try story { stack, context, book, author in
            context.delete(author)
            context.delete(book)
            try context.save()
            let new = Book(context: context)
            new.author = author
            let error = #expect(throws: CocoaError.self) { try context.save() }
            let details = error?.userInfo[NSDetailedErrorsKey] as? [CocoaError] ?? []
            #expect(details.map(\.code.rawValue).sorted() == [1550, 1570])
            // A relationship that must not be nil is told as what it is: set, to what is not there.
            context.rollback()
            let loan = Loan(context: context)
            let reader = Reader(context: context)
            reader.name = "Paul"
            loan.reader = reader
            loan.book = book
            try expectDangling("book", of: loan, stack)
        }
    }

    @Test("To an object that is in no context: the sentence says so, and inserting it helps")
    func objectInNoContext() throws {
        try story { stack, context, book, _ in
            let new = Author(
                entity: try #require(stack.coordinator.managedObjectModel.entitiesByName["Author"]), insertInto: nil)
            new.name = "Brian"
            book.author = new
            try expectDangling("author", of: book, stack)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.localizedDescription.contains("is in no context; insert it with insert(_:)") == true)
            context.insert(new)
            try context.save()
            #expect(try Contents(stack).books.first?.contains(new.objectID.description) == true)
        }
    }

    @Test("To an object whose context was reset")
    func resetObject() throws {
        try story { stack, context, book, author in
            let id = book.objectID
            context.reset()
            let again = try #require(context.existingObject(with: id) as? Book)
            again.author = author
            try expectDangling("author", of: again, stack)
        }
    }

    @Test(
        "To an object that another context deleted, realised here or a fault", arguments: [true, false], [true, false])
    func deletedElsewhere(isFault: Bool, isMandatoryNameRead: Bool) throws {
        try story { stack, context, book, author in
            if isFault { context.refresh(author, mergeChanges: false) }
            if isMandatoryNameRead, !isFault { #expect(author.name == "Frank") }
            try deleteElsewhere(author, stack)
            book.author = author
            let before = try Contents(stack)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect([1550, 133020].contains(error?.code.rawValue))
            #expect(try Contents(stack) == before)
            context.rollback()
            #expect(book.author == nil)
            try context.save()
        }
    }

    private func deleteElsewhere(_ object: NSManagedObject, _ stack: LibraryStack) throws {
        let other = stack.newContext()
        let id = object.objectID
        try other.performAndWait {
            other.delete(other.object(with: id))
            try other.save()
        }
    }

    @Test("Many-to-many with an object that another context deleted")
    func memberDeletedElsewhere() throws {
        try story { stack, context, book, _ in
            let tag = Tag(context: context)
            try context.save()
            for isFault in [false, true] where isFault || !tag.isDeleted {
                if isFault { context.refresh(tag, mergeChanges: false) } else { try deleteElsewhere(tag, stack) }
                book.mutableSetValue(forKey: "tags").add(tag)
                let before = try Contents(stack)
                let error = #expect(throws: CocoaError.self) { try context.save() }
                #expect([1550, 133020].contains(error?.code.rawValue))
                #expect(try Contents(stack) == before)
                context.rollback()
                try context.save()
            }
        }
    }

    // MARK: One-way relationships

    /// The library with `Book.editor`, which leads to an author who does not know.
    private func oneWayModel() -> NSManagedObjectModel {
        let model = Library.model()
        let editor = NSRelationshipDescription()
        editor.name = "editor"
        editor.destinationEntity = model.entitiesByName["Author"]
        editor.maxCount = 1
        editor.isOptional = true
        editor.deleteRule = .nullifyDeleteRule
        model.entitiesByName["Book"]?.properties.append(editor)
        return model
    }

    @Test("E4: one-way to what the same save deletes, and to what was deleted before", arguments: [true, false])
    func oneWay(isSavedBefore: Bool) throws {
        try story(oneWayModel()) { stack, context, book, author in
            if !isSavedBefore { book.setValue(author, forKey: "editor") }
            context.delete(author)
            if isSavedBefore {
                try context.save()
                book.setValue(author, forKey: "editor")
            }
            try expectDangling("editor", of: book, stack)
            book.setValue(nil, forKey: "editor")
            try context.save()
        }
    }

    @Test("E4: one-way to what another context deleted, realised here or a fault", arguments: [true, false])
    func oneWayDeletedElsewhere(isFault: Bool) throws {
        try story(oneWayModel()) { stack, context, book, author in
            if isFault { context.refresh(author, mergeChanges: false) }
            try deleteElsewhere(author, stack)
            book.setValue(author, forKey: "editor")
            try expectDangling("editor", of: book, stack)
        }
    }

    @Test("E4: what a store has already, and nobody changed, keeps nothing from being saved")
    func unchangedReferences() throws {
        try story(oneWayModel()) { stack, context, book, author in
            book.setValue(author, forKey: "editor")
            try context.save()
            context.delete(author)
            try context.save()
            book.title = "Dune, again"
            try context.save()
            context.refresh(book, mergeChanges: false)
            let gone = try #require(book.value(forKey: "editor") as? Author)
            #expect(gone.name == nil)
            book.title = "Dune, once more"
            try context.save()
            book.setValue(nil, forKey: "editor")
            try context.save()
            #expect(try Contents(stack).books.first?.hasPrefix("Dune, once more") == true)
        }
    }

    @Test("Inserted and deleted again before it is saved", arguments: ["author", "editor"])
    func neverSaved(_ key: String) throws {
        try story(oneWayModel()) { stack, context, book, _ in
            let new = Author(context: context)
            new.name = "Brian"
            book.setValue(new, forKey: key)
            context.delete(new)
            if key == "editor" { return try expectDangling("editor", of: book, stack) }
            try context.save()
            #expect(book.author == nil)
        }
    }

    // MARK: What is in the store already

    @Test("A row whose destination is gone can be changed, related anew and deleted", arguments: 0..<4)
    func danglingRow(_ step: Int) throws {
        let model = Library.model()
        // Leaves dangling references behind (F3).
        (model.entitiesByName["Author"]?.propertiesByName["books"] as? NSRelationshipDescription)?.deleteRule =
            .noActionDeleteRule
        try story(model) { stack, context, book, author in
            book.author = author
            try context.save()
            let id = book.objectID
            context.delete(author)
            context.refresh(book, mergeChanges: false)
            try context.save()
            let other = stack.newContext()
            try other.performAndWait {
                let book = try #require(other.object(with: id) as? Book)
                switch step {
                case 0: book.title = "Other"
                case 1: book.author = nil
                case 2:
                    book.author = Author(context: other)
                    book.author?.name = "Brian"
                default: other.delete(book)
                }
                try other.save()
                #expect(!other.hasChanges)
            }
        }
    }

    @Test("Validation that is overridden without calling super keeps nothing from being refused")
    func overriddenValidation() throws {
        let model = Library.model()
        model.entitiesByName["Book"]?.managedObjectClassName = "CoreDataTests.UncheckedBook"
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let book = UncheckedBook(context: context)
            book.setValue("Dune", forKey: "title")
            let author = Author(context: context)
            author.name = "Frank"
            try context.save()
            context.delete(author)
            try context.save()
            book.setValue(author, forKey: "author")
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSManagedObjectValidationError)
            #expect(context.hasChanges)
        }
    }
}

final class UncheckedBook: NSManagedObject {
    override func validateForInsert() throws {}
    override func validateForUpdate() throws {}
}
