import CoreData
import Foundation
import Testing

/// Semantics I8: deletions that a merge policy takes back because the store changed what was deleted.
@Suite struct GivenUpDeletionTests {
    static let policies: [NSMergePolicy] = [.rollback, .mergeByPropertyStoreTrump]

    /// A library, and another context that changes what this one deletes.
    private struct Scene {
        let stack: LibraryStack
        let book: Book
        let author: Author
        let chapters: [Chapter]
        let sequels: [Book]
        let tag: Tag
        let reader: Reader
        let loan: Loan

        init(_ policy: NSMergePolicy, _ context: NSManagedObjectContext, _ stack: LibraryStack) throws {
            self.stack = stack
            context.mergePolicy = policy
            book = Book(context: context)
            author = Author(context: context)
            (book.title, author.name, book.author) = ("One", "Ann", author)
            chapters = ["a", "b", "c"].map { title in
                let chapter = Chapter(context: context)
                chapter.title = title
                return chapter
            }
            book.chapters = chapters
            sequels = ["x", "y", "z"].map { title in
                let book = Book(context: context)
                book.title = title
                return book
            }
            book.sequels = sequels
            tag = Tag(context: context)
            (tag.name, tag.books) = ("t", [book])
            reader = Reader(context: context)
            reader.name = "Rob"
            loan = Loan(context: context)
            (loan.book, loan.reader) = (sequels[0], reader)
            try context.save()
        }

        func elsewhere(_ body: (NSManagedObjectContext) throws -> Void) throws {
            let other = stack.newContext()
            try other.performAndWait {
                try body(other)
                try other.save()
            }
        }

        func change(_ object: NSManagedObject, _ key: String, _ value: Any) throws {
            let id = object.objectID
            try elsewhere { try $0.existingObject(with: id).setValue(value, forKey: key) }
        }

        /// What is there, of the context and of the store, which must be the same.
        func picture(_ context: NSManagedObjectContext) throws -> [String] {
            func lines(_ context: NSManagedObjectContext) throws -> [String] {
                let books = try context.all(Book.self, "Book").map { book in
                    let parts: [String] = [
                        book.title ?? "", book.author?.name ?? "-",
                        book.chapters.map { $0.title ?? "" }.joined(separator: ","),
                        book.sequels.map { $0.title ?? "" }.joined(separator: ","),
                        book.tags.map { $0.name ?? "" }.sorted().joined(separator: ","),
                    ]
                    return parts.joined(separator: " ")
                }
                let chapters = try context.all(Chapter.self, "Chapter").map {
                    "\($0.title ?? "") of \($0.book?.title ?? "-")"
                }
                let loans = try context.all(Loan.self, "Loan").map {
                    "\($0.reader?.name ?? "-") lent \($0.book?.title ?? "-")"
                }
                let authors = try context.all(Author.self, "Author").map { author in
                    "\(author.name ?? "") wrote \(author.books.map { $0.title ?? "" }.sorted().joined(separator: ","))"
                }
                let tags = try context.all(Tag.self, "Tag").map { tag in
                    "\(tag.name ?? "") on \(tag.books.map { $0.title ?? "" }.sorted().joined(separator: ","))"
                }
                return (books + chapters + loans + authors + tags).sorted()
            }
            #expect(!context.hasChanges)
            let other = stack.newContext()
            let stored = try other.performAndWait { try lines(other) }
            #expect(try lines(context) == stored)
            return stored
        }
    }

    private func story(
        _ policy: NSMergePolicy, processes: Bool = true, delete: (Scene) -> NSManagedObject,
        change: (Scene) throws -> Void, expect: (Scene, [String], [String]) throws -> Void
    ) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let scene = try Scene(policy, context, stack)
            let before = try scene.picture(context)
            context.delete(delete(scene))
            if processes { context.processPendingChanges() }
            try change(scene)
            try context.save()
            try expect(scene, before, scene.picture(context))
        }
    }

    @Test("I8: a member of an ordered many-to-many comes back to its place", arguments: policies, [false, true])
    func orderedManyToMany(_ policy: NSMergePolicy, _ processes: Bool) throws {
        try story(
            policy, processes: processes, delete: { $0.sequels[1] },
            change: { try $0.change($0.sequels[1], "pages", 7) },
            expect: { scene, before, after in
                #expect(after == before)
                #expect(scene.sequels[1].pages == 7 && scene.sequels[1].prequels == [scene.book])
                #expect(scene.book.sequels == scene.sequels)
            })
    }

    @Test("I8: a member of an ordered to-many comes back to its place", arguments: policies, [false, true])
    func orderedToMany(_ policy: NSMergePolicy, _ processes: Bool) throws {
        try story(
            policy, processes: processes, delete: { $0.chapters[1] },
            change: { try $0.change($0.chapters[1], "title", "B") },
            expect: { scene, before, after in
                #expect(scene.book.chapters == scene.chapters && scene.chapters[1].book === scene.book)
                #expect(after.contains("B of One"))
            })
    }

    @Test("I8: an owner comes back with what its deletion took along and took out", arguments: policies, [false, true])
    func owners(_ policy: NSMergePolicy, _ processes: Bool) throws {
        try story(
            policy, processes: processes, delete: { $0.book }, change: { try $0.change($0.book, "pages", 7) },
            expect: { scene, before, after in
                #expect(after == before && scene.book.pages == 7)
                #expect(scene.author.books == [scene.book] && scene.tag.books == [scene.book])
            })
    }

    @Test("I8: where the store changed what a cascade took along, that comes back with its owner", arguments: policies)
    func cascades(_ policy: NSMergePolicy) throws {
        try story(
            policy, delete: { $0.book }, change: { try $0.change($0.chapters[1], "title", "B") },
            expect: { scene, before, after in
                #expect(scene.book.chapters == scene.chapters && !scene.book.isDeleted)
                #expect(after.contains("B of One") && after.count == before.count)
            })
        try story(
            policy, delete: { $0.reader }, change: { try $0.change($0.loan, "date", Date()) },
            expect: { scene, before, after in
                #expect(after == before && scene.loan.reader === scene.reader)
            })
    }

    @Test(
        "I8: whoever a returning object led to by a rule that lets go stays deleted, and nothing leads there",
        arguments: policies)
    func deletedPartners(_ policy: NSMergePolicy) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let scene = try Scene(policy, context, stack)
            for object in [scene.book, scene.author, scene.tag, scene.sequels[2]] { context.delete(object) }
            context.processPendingChanges()
            try scene.change(scene.book, "pages", 7)
            try context.save()
            let after = try scene.picture(context)
            #expect(after.contains("One - a,b,c x,y "), "\(after)")
            #expect(
                scene.book.author == nil && scene.book.tags.isEmpty && scene.book.sequels == Array(scene.sequels[..<2]))
        }
    }

    @Test("I8: whoever cannot go while the returning object is there returns, too", arguments: policies)
    func denied(_ policy: NSMergePolicy) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let scene = try Scene(policy, context, stack)
            let before = try scene.picture(context)
            for object in [scene.loan, scene.sequels[0]] { context.delete(object) }
            context.processPendingChanges()
            try scene.change(scene.loan, "date", Date())
            try context.save()
            #expect(try scene.picture(context) == before)
            #expect(scene.loan.book === scene.sequels[0] && scene.book.sequels == scene.sequels)
        }
    }

    @Test("I8: what led to the deleted object, and was led elsewhere meanwhile, stays there", arguments: policies)
    func ledElsewhere(_ policy: NSMergePolicy) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let scene = try Scene(policy, context, stack)
            let bob = Author(context: context)
            bob.name = "Bob"
            try context.save()
            context.delete(scene.author)
            context.processPendingChanges()
            scene.book.author = bob
            try scene.change(scene.author, "name", "Anna")
            try context.save()
            let after = try scene.picture(context)
            #expect(after.contains("Anna wrote ") && after.contains("Bob wrote One"), "\(after)")
        }
    }

    @Test("I8, J: undo after a deletion was taken back neither inserts nor deletes", arguments: policies)
    func undo(_ policy: NSMergePolicy) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let scene = try Scene(policy, context, stack)
            let before = try scene.picture(context)
            let undo = UndoManager()
            undo.groupsByEvent = false
            context.undoManager = undo
            undo.beginUndoGrouping()
            context.delete(scene.book)
            context.processPendingChanges()
            undo.endUndoGrouping()
            try scene.change(scene.book, "pages", 7)
            try context.save()
            #expect(try scene.picture(context) == before)
            while undo.canUndo { undo.undo() }
            context.processPendingChanges()
            #expect(context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
            try context.save()
            #expect(try scene.picture(context) == before)
            while undo.canRedo { undo.redo() }
            try context.save()
            _ = try scene.picture(context)
            context.undoManager = nil
        }
    }
}
