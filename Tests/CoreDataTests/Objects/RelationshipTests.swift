import CoreData
import Foundation
import Testing

// semantics E and F: inverses and deletion
@Suite struct RelationshipTests {
    private func named<T: NSManagedObject>(_ type: T.Type, _ name: String, _ context: NSManagedObjectContext) -> T {
        let entity = NSEntityDescription.insertNewObject(forEntityName: "\(T.self)", into: context)
        guard let object = entity as? T else { fatalError("\(T.self) is not the class of its entity") }
        object.setValue(name, forKey: object.entity.attributesByName["title"] == nil ? "name" : "title")
        return object
    }

    @Test("E1, E3: setting one side moves the object from the old inverse to the new")
    func inversesFollow() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let old = named(Author.self, "Old", context)
            let new = named(Author.self, "New", context)
            let book = named(Book.self, "Book", context)
            book.author = old
            #expect(old.books == [book])
            book.author = new
            #expect(old.books.isEmpty)
            #expect(new.books == [book])
            old.books = [book]
            #expect(book.author === old)
            #expect(new.books.isEmpty)
            book.author = nil
            #expect(old.books.isEmpty)
        }
    }

    @Test("E1: the inverse of a fault follows without being read")
    func inversesOfFaults() throws {
        let stack = try LibraryStack()
        let id = try stack.story { context in
            let author = named(Author.self, "A", context)
            named(Book.self, "First", context).author = author
            try context.save()
            return author.objectID
        }
        let other = stack.newContext()
        try other.performAndWait {
            let author = try #require(other.object(with: id) as? Author)
            let book = named(Book.self, "Second", other)
            let statements = stack.statements { book.author = author }
            #expect(statements.isEmpty)
            #expect(author.isFault)
            #expect(author.books.count == 2)
            #expect(author.isUpdated)
            try other.save()
        }
        try LibraryStack(opening: stack.url).story { context in
            let authors = try context.all(Author.self, "Author")
            #expect(authors.first?.books.count == 2)
        }
    }

    @Test("E1: many-to-many, ordered and not, in both directions")
    func manyToMany() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let one = named(Book.self, "One", context)
            let two = named(Book.self, "Two", context)
            let tag = named(Tag.self, "tag", context)
            one.tags = [tag]
            tag.add(two, to: Tag.booksKey)
            #expect(two.tags == [tag])
            one.sequels = [two]
            #expect(two.prequels == [one])
            two.prequels = []
            #expect(one.sequels.isEmpty)
            two.prequels = [one]
            try context.save()
            context.reset()
            let again = try #require(try context.all(Book.self, "Book", "title == 'Two'").first)
            #expect(again.prequels.map(\.title) == ["One"])
            again.remove(try #require(again.prequels.first), from: Book.prequelsKey)
            try context.save()
            context.reset()
            #expect(try context.all(Book.self, "Book", "title == 'One'").first?.sequels.isEmpty == true)
        }
    }

    @Test("Order values: appending, inserting and moving write as few rows as can be")
    func ordering() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = named(Book.self, "Book", context)
            for index in 0..<5 { named(Chapter.self, "\(index)", context).book = book }
            try context.save()
            let new = named(Chapter.self, "new", context)
            book.insert(new, into: Book.chaptersKey, at: 2)
            let inserted = try stack.statements { try context.save() }
            #expect(inserted.filter { $0.hasPrefix("UPDATE ZCHAPTER") }.isEmpty)
            var chapters = book.chapters
            chapters.append(chapters.removeFirst())
            book.chapters = chapters
            let moved = try stack.statements { try context.save() }
            #expect(moved.filter { $0.hasPrefix("UPDATE ZCHAPTER") }.count == 1)
        }
        try LibraryStack(opening: stack.url).story { context in
            let book = try #require(try context.all(Book.self, "Book").first)
            #expect(book.chapters.map(\.title) == ["1", "new", "2", "3", "4", "0"])
        }
    }

    /// Inserting at one place over and over uses up the room between two values.
    @Test("Order values: whatever is inserted, removed and moved, the order is kept", arguments: 1...4)
    func orderIsKept(seed: UInt64) throws {
        let stack = try LibraryStack()
        var state = seed
        func random(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % max(limit, 1)
        }
        var titles: [String] = []
        try stack.story { context in
            let book = named(Book.self, "Book", context)
            for round in 0..<60 {
                for _ in 0..<(1 + random(below: 4)) {
                    switch random(below: 8) {
                    case 0 where !titles.isEmpty:
                        let place = random(below: titles.count)
                        book.remove(book.chapters[place], from: Book.chaptersKey)
                        titles.remove(at: place)
                    case 1 where !titles.isEmpty:
                        let (from, to) = (random(below: titles.count), random(below: titles.count))
                        if round.isMultiple(of: 2) {
                            var chapters = book.chapters
                            chapters.insert(chapters.remove(at: from), at: to)
                            book.chapters = chapters
                        } else {
                            book.mutableOrderedSetValue(forKey: "chapters").moveObjects(at: [from], to: to)
                        }
                        titles.insert(titles.remove(at: from), at: to)
                    case 2 where !titles.isEmpty:
                        let (one, other) = (random(below: titles.count), random(below: titles.count))
                        book.mutableOrderedSetValue(forKey: "chapters").exchangeObject(at: one, withObjectAt: other)
                        titles.swapAt(one, other)
                    case 3:
                        let title = "\(round).\(titles.count)"
                        named(Chapter.self, title, context).book = book
                        titles.append(title)
                    default:
                        let place = random(below: 2) == 0 ? titles.count / 2 : random(below: titles.count + 1)
                        let title = "\(round).\(titles.count)"
                        book.insert(named(Chapter.self, title, context), into: Book.chaptersKey, at: place)
                        titles.insert(title, at: place)
                    }
                }
                #expect(book.chapters.map(\.title) == titles)
                try context.save()
                if round % 10 == 9 { context.refreshAllObjects() }
            }
        }
        try LibraryStack(opening: stack.url).story { context in
            let book = try #require(try context.all(Book.self, "Book").first)
            #expect(book.chapters.map(\.title) == titles)
        }
    }

    @Test("F1, F5: deleting calls the hook at once; after the save the object is in no context")
    func deletion() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = named(Book.self, "Book", context)
            try context.save()
            let id = book.objectID
            book.events = []
            context.delete(book)
            #expect(book.events == ["prepareForDeletion"])
            #expect(book.isDeleted)
            #expect(book.managedObjectContext === context)
            try context.save()
            #expect(!book.isDeleted)
            #expect(book.managedObjectContext == nil)
            #expect(book.objectID == id)
            #expect(book.title == "Book")
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 0)
        }
    }

    @Test("F2, F3: nullify, cascade and deny")
    func deleteRules() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = named(Author.self, "A", context)
            let book = named(Book.self, "B", context)
            book.author = author
            let tag = named(Tag.self, "t", context)
            book.tags = [tag]
            let chapter = named(Chapter.self, "c", context)
            chapter.book = book
            let reader = named(Reader.self, "R", context)
            let loan = Loan(context: context)
            loan.book = book
            loan.reader = reader
            try context.save()

            context.delete(author)
            context.processPendingChanges()
            #expect(book.author == nil)

            context.delete(book)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .validationRelationshipDeniedDelete)
            #expect(error?.validationKey == "loans")
            #expect(book.isDeleted)

            context.delete(reader)
            context.processPendingChanges()
            #expect(loan.isDeleted)
            try context.save()
            #expect(tag.books.isEmpty)
            for entity in ["Book", "Chapter", "Loan", "Reader", "Author"] {
                #expect(
                    try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) == 0, "\(entity)")
            }
            #expect(try context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 1)
        }
    }

    @Test("F1, F2: a deleted object leaves its destinations when changes are processed; rollback brings them back")
    func relationshipsOfDeletedObjects() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = named(Author.self, "A", context)
            let (book, other) = (named(Book.self, "B", context), named(Book.self, "C", context))
            author.books = [book, other]
            let tag = named(Tag.self, "t", context)
            let chapter = named(Chapter.self, "c", context)
            book.tags = [tag]
            book.chapters = [chapter]
            try context.save()

            func expectWhole() {
                #expect(book.author === author && author.books == [book, other])
                #expect(book.tags == [tag] && tag.books == [book])
                #expect(book.chapters == [chapter] && chapter.book === book)
            }
            context.delete(book)
            // Until then they are as they were.
            #expect(book.author === author && book.tags == [tag] && book.chapters == [chapter])
            context.processPendingChanges()
            #expect(book.author == nil && book.tags.isEmpty && book.chapters.isEmpty)
            #expect(author.books == [other] && tag.books.isEmpty && chapter.isDeleted && chapter.book == nil)
            let committed = book.committedValues(forKeys: ["author", "tags", "chapters"])
            #expect(committed["author"] as? Author === author)
            #expect(committed["tags"] as? Set<Tag> == [tag])
            #expect((committed["chapters"] as? NSOrderedSet)?.array as? [Chapter] == [chapter])
            context.rollback()
            expectWhole()

            context.delete(author)
            context.processPendingChanges()
            #expect(author.books.isEmpty && book.author == nil && other.author == nil)
            #expect(author.committedValues(forKeys: ["books"])["books"] as? Set<Book> == [book, other])
            context.rollback()
            expectWhole()

            context.delete(book)
            try context.save()
            #expect(author.books == [other] && tag.books.isEmpty)
            let reading = stack.newContext()
            let (tags, chapters) = try reading.performAndWait {
                let tags = try reading.all(Tag.self, "Tag")
                return (tags.map(\.books.count), try reading.count(for: NSFetchRequest<Chapter>(entityName: "Chapter")))
            }
            #expect(tags == [0] && chapters == 0)
        }
    }

    @Test("An object that was deleted and is inserted again comes back without relationships, on both sides")
    func insertingDeletedObjectsAgain() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = named(Author.self, "A", context)
            let book = named(Book.self, "B", context)
            let tag = named(Tag.self, "t", context)
            book.author = author
            book.tags = [tag]
            try context.save()
            context.delete(book)
            context.processPendingChanges()
            context.insert(book)
            try context.save()
            let reading = stack.newContext()
            try reading.performAndWait {
                let book = try #require(try reading.all(Book.self, "Book").first)
                #expect(book.title == "B" && book.author == nil && book.tags.isEmpty)
                #expect(try reading.all(Tag.self, "Tag").allSatisfy { $0.books.isEmpty })
            }
        }
    }

    @Test("F6: a deleted object is left out of fetches that include pending changes")
    func deletedObjectsInFetches() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = named(Book.self, "Book", context)
            try context.save()
            context.delete(book)
            let request = NSFetchRequest<Book>(entityName: "Book")
            #expect(try context.fetch(request).isEmpty)
            request.includesPendingChanges = false
            #expect(try context.fetch(request) == [book])
        }
    }
}
