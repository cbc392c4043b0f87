import CoreData
import CoreDataStore
import Foundation
import StoreTestSupport
import Testing

/// What each merge policy makes of values that must be unique and are taken.
@Suite struct ConstraintPolicySpecification {
    static let mine: [NSMergePolicy] = [.mergeByPropertyObjectTrump, .overwrite]
    static let theirs: [NSMergePolicy] = [.mergeByPropertyStoreTrump, .rollback]

    /// Every store under every policy, but a store without unique values only under those that come to the same there.
    static func trials(
        withoutUniqueValues policies: [NSMergePolicy]
    ) -> [(store: SpecifiedStore, policy: NSMergePolicy)] {
        SpecifiedStore.all.flatMap { store in
            (store.has(.uniqueValues) ? mine + theirs : policies).map { (store, $0) }
        }
    }

    private func isMine(_ policy: NSMergePolicy) -> Bool { Self.mine.contains(policy) }

    /// A test for each policy on an empty store.
    private func check(
        _ store: SpecifiedStore, _ policies: [NSMergePolicy] = mine + theirs,
        _ body: (NSManagedObjectContext, NSMergePolicy, SpecifiedStack, Comment) throws -> Void
    ) throws {
        for policy in policies {
            try store.checkContexts { stack in
                try stack.story { context throws in
                    context.mergePolicy = policy
                    try body(context, policy, stack, Comment(rawValue: "\(policy)"))
                    #expect(!context.hasChanges)
                    MergePolicySpecification().checkInverses(context, Comment(rawValue: "\(policy)"))
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func aNewObjectBecomesTheRowWithItsValue(_ store: SpecifiedStore) throws {  // I9, I10, I11
        try check(store) { context, policy, stack, what in
            let row = context.insert("Author", ["name": "Ann", "email": "a@x", "rating": 4.5])
            try context.save()
            let new = context.insert("Author", ["name": "Anna", "email": "a@x"])
            let temporary = new.objectID
            let other = context.insert("Author", ["name": "Bob", "email": "b@x"])
            try context.save()
            #expect(new.managedObjectContext == nil && !new.isInserted, what)
            #expect(context.object(with: temporary) === row, what)
            #expect(!other.objectID.isTemporaryID, what)
            let name = isMine(policy) ? "Anna" : "Ann"
            #expect(row.text("name") == name, what)
            // I11: what was never set is as it was.
            #expect(row.value(forKey: "rating") as? Double == 4.5, what)
            try stack.story { fresh throws in
                #expect(try fresh.names("Author") == [name, "Bob"], what)
                #expect(try fresh.existingObject(with: row.objectID).value(forKey: "rating") as? Double == 4.5, what)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func whoReferredToTheNewObjectRefersToTheRow(_ store: SpecifiedStore) throws {  // I10
        try check(store) { context, policy, stack, what in
            let ann = context.insert("Author", ["name": "Ann"])
            let row = context.insert("Book", ["title": "Row", "code": "c", "author": ann])
            row.setValue(NSOrderedSet(object: context.insert("Tag", ["name": "old"])), forKey: "tags")
            _ = context.insert("Chapter", ["title": "1", "book": row])
            try context.save()
            let bob = context.insert("Author", ["name": "Bob"])
            let new = context.insert("Book", ["title": "New", "code": "c", "author": bob])
            let tag = context.insert("Tag", ["name": "new"])
            tag.setValue(Set([new]), forKey: "books")
            _ = context.insert("Chapter", ["title": "2", "book": new])
            let person = context.insert("Person", ["name": "P", "favourite": new])
            let shelf = context.insert("Shelf", ["label": "S"])
            let beside = context.insert("Book", ["title": "Beside"])
            shelf.setValue(NSOrderedSet(array: [beside, new]), forKey: "row")
            try context.save()
            #expect(person.object("favourite") === row, what)
            #expect(shelf.names(of: "row", by: "code") == ["nil", "c"], what)
            try stack.story { fresh throws in
                let book = try fresh.one("Book", "code == 'c'")
                #expect(book.text("title") == (isMine(policy) ? "New" : "Row"), what)
                #expect(book.object("author")?.text("name") == (isMine(policy) ? "Bob" : "Ann"), what)
                #expect(book.names(of: "tags").sorted() == ["new", "old"], what)
                #expect(book.names(of: "chapters", by: "title") == ["1", "2"], what)
                #expect(try fresh.one("Person").object("favourite") === book, what)
                #expect(try fresh.one("Shelf").names(of: "row", by: "code") == ["nil", "c"], what)
                #expect(try fresh.all("Book").count == 2, what)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func ofNewObjectsWithTheSameValueOneStays(_ store: SpecifiedStore) throws {  // I9
        try check(store) { context, policy, stack, what in
            var books: [NSManagedObject] = []
            for index in 1...3 {
                books.append(context.insert("Book", ["title": "\(index)", "code": "same"]))
                _ = context.insert("Chapter", ["title": "\(index)", "book": books[index - 1]])
            }
            // I12: nil is nobody's.
            for _ in 1...2 { _ = context.insert("Book", ["title": "none"]) }
            try context.save()
            #expect(books.filter { $0.managedObjectContext != nil } == [books[0]], what)
            try stack.story { fresh throws in
                let book = try fresh.one("Book", "code == 'same'")
                #expect(book.text("title") == (isMine(policy) ? "3" : "1"), what)
                #expect(Set(book.names(of: "chapters", by: "title")) == ["1", "2", "3"], what)
                #expect(try fresh.all("Book").count == 3, what)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func compoundConstraintsCompareAllTheirValues(_ store: SpecifiedStore) throws {  // I12
        try check(store) { context, policy, stack, what in
            for place in 1...3 { _ = context.insert("Book", ["title": "row", "shelf": "S", "place": place]) }
            try context.save()
            for place in 2...12 { _ = context.insert("Book", ["title": "new", "shelf": "S", "place": place]) }
            for _ in 1...2 { _ = context.insert("Book", ["title": "new", "shelf": "S"]) }
            try context.save()
            try stack.story { fresh throws in
                let titles = try fresh.all("Book", "place != nil", by: "place").map { $0.text("title") }
                let overwritten = isMine(policy) ? "new" : "row"
                #expect(titles == ["row", overwritten, overwritten] + Array(repeating: "new", count: 9), what)
                #expect(try fresh.all("Book", "place == nil").count == 2, what)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func subentitiesShareTheirParentsConstraints(_ store: SpecifiedStore) throws {  // I9
        try check(store) { context, policy, stack, what in
            _ = context.insert("Novel", ["title": "row", "code": "c", "genre": "Crime"])
            try context.save()
            _ = context.insert("Comic", ["title": "comic", "code": "c"])
            _ = context.insert("Novel", ["title": "novel", "code": "d", "genre": "Love"])
            try context.save()
            try stack.story { fresh throws in
                let books = try fresh.all("Book", by: "code")
                #expect(books.map { $0.entity.name } == ["Novel", "Novel"], what)
                #expect(books.map { $0.text("title") } == [isMine(policy) ? "comic" : "row", "novel"], what)
                #expect(books[0].text("genre") == "Crime", what)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func whatTheRowsEntityHasNoPlaceForIsNotLost(_ store: SpecifiedStore) throws {  // I9
        try check(store) { context, policy, stack, what in
            _ = context.insert("Novel", ["title": "row", "code": "c", "genre": "Crime"])
            try context.save()
            let comic = context.insert("Comic", ["title": "comic", "code": "c", "artist": "A"])
            if isMine(policy) {
                let error = #expect(throws: CocoaError.self, what) { try context.save() }
                #expect(error?.code == .managedObjectConstraintMerge, what)
                #expect(error?.localizedDescription.contains("no place for artist") == true, what)
                #expect(comic.isInserted && comic.text("artist") == "A", what)
                comic.setValue(nil, forKey: "artist")
            }
            try context.save()
            try stack.story { fresh throws in
                let books = try fresh.all("Book")
                #expect(books.map { $0.text("title") } == [isMine(policy) ? "comic" : "row"], what)
                let novels = books.filter { $0.entity.name == "Novel" }
                #expect(novels.map { $0.text("genre") } == ["Crime"], what)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func anObjectWithAPermanentIDBecomesTheRow(_ store: SpecifiedStore) throws {  // I9, F4
        try check(store) { context, policy, stack, what in
            let row = context.insert("Author", ["name": "Ann", "email": "a"])
            try context.save()
            let new = context.insert("Author", ["name": "New", "email": "a"])
            let book = context.insert("Book", ["title": "Book", "author": new])
            try context.obtainPermanentIDs(for: [new])
            let id = new.objectID
            #expect(!id.isTemporaryID, what)
            try context.save()
            #expect(new.managedObjectContext == nil, what)
            #expect(book.object("author") === row, what)
            try stack.story { fresh throws in
                #expect(try fresh.names("Author") == [isMine(policy) ? "New" : "Ann"], what)
                #expect(try fresh.one("Book").object("author")?.objectID == row.objectID, what)
                #expect(
                    throws: CocoaError.self, "nobody has that ID", performing: { try fresh.existingObject(with: id) })
            }
            // The key is not given to somebody else.
            let next = context.insert("Author", ["name": "Next", "email": "n"])
            try context.save()
            #expect(next.objectID != id && next.objectID != row.objectID, what)
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func rowsThatNobodyHasInMemoryFollowTheOneThatStays(_ store: SpecifiedStore) throws {  // I10
        try check(store) { context, policy, stack, what in
            _ = context.insert("Book", ["title": "Row", "code": "c"])
            let draft = context.insert("Comic", ["title": "Draft", "code": "x"])
            try context.save()
            try stack.story { other throws in
                let same = try other.existingObject(with: draft.objectID)
                _ = other.insert("Person", ["name": "P", "favourite": same])
                let before = other.insert("Book", ["title": "Before", "code": "1"])
                let after = other.insert("Book", ["title": "After", "code": "2"])
                let shelf = other.insert("Shelf", ["label": "S"])
                shelf.setValue(NSOrderedSet(array: [before, same, after]), forKey: "row")
                try other.save()
            }
            context.refreshAllObjects()
            draft.setValue("c", forKey: "code")
            try context.save()
            try stack.story { fresh throws in
                let stays = try fresh.one("Book", "code == 'c'")
                let favourite = try fresh.one("Person").object("favourite")
                let row = try fresh.one("Shelf").names(of: "row", by: "code")
                if isMine(policy) {
                    #expect(favourite === stays, what)
                    #expect(row == ["1", "c", "2"], what)
                } else {
                    #expect(favourite?.text("code") == "x", what)
                    #expect(row == ["1", "x", "2"], what)
                }
            }
        }
    }

    /// Where nothing is upserted, undo takes the new object back, and the row never had its values.
    @Test(arguments: trials(withoutUniqueValues: theirs))
    func whatAnUpsertMadeCanBeUndone(_ store: SpecifiedStore, _ policy: NSMergePolicy) throws {  // I9, J2
        try check(store, [policy]) { context, policy, stack, what in
            let row = context.insert("Author", ["name": "Ann", "email": "a"])
            try context.save()
            let undo = UndoManager()
            undo.groupsByEvent = false
            context.undoManager = undo
            undo.beginUndoGrouping()
            _ = context.insert("Author", ["name": "New", "email": "a"])
            row.setValue(2.0, forKey: "rating")
            context.processPendingChanges()
            undo.endUndoGrouping()
            try context.save()
            #expect(row.text("name") == (isMine(policy) ? "New" : "Ann"), what)
            while undo.canUndo { undo.undo() }
            context.processPendingChanges()
            #expect(row.value(forKey: "rating") == nil, what)
            #expect(context.insertedObjects.isEmpty, what)
            try context.save()
            try stack.story { fresh throws in
                #expect(try fresh.all("Author").count == 1, what)
                #expect(try fresh.one("Author").value(forKey: "rating") == nil, what)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func whatAChildInsertedIsUpsertedByItsParent(_ store: SpecifiedStore) throws {  // I9, K3
        try check(store) { context, policy, stack, what in
            let row = context.insert("Author", ["name": "Ann", "email": "a"])
            try context.save()
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            let (new, book) = try child.performAndWait {
                let new = child.insert("Author", ["name": "New", "email": "a"])
                let book = child.insert("Book", ["title": "Book", "author": new])
                try child.save()
                return (new, book)
            }
            try context.save()
            try child.performAndWait {
                #expect(book.object("author")?.objectID == row.objectID || book.object("author") === new, what)
                child.refreshAllObjects()
                #expect(book.object("author")?.objectID == row.objectID, what)
                #expect(book.object("author")?.text("name") == (isMine(policy) ? "New" : "Ann"), what)
                #expect(!child.hasChanges, what)
                book.object("author")?.setValue("Again", forKey: "name")
                try child.save()
            }
            try context.save()
            try stack.story { fresh throws in
                #expect(try fresh.names("Author") == ["Again"], what)
                #expect(try fresh.one("Book").object("author")?.text("name") == "Again", what)
            }
        }
    }

    /// What users most likely want where two rows turn out to be the same thing; see differences-from-apple.md.
    @Test(arguments: trials(withoutUniqueValues: [.mergeByPropertyStoreTrump]))
    func aChangedObjectThatTakesAnothersValueBecomesThatOne(
        _ store: SpecifiedStore, _ policy: NSMergePolicy
    ) throws {  // I10
        try check(store, [policy]) { context, policy, stack, what in
            let row = context.insert("Book", ["title": "Row", "code": "c", "pages": 7])
            let draft = context.insert("Book", ["title": "Draft", "code": "x"])
            let chapter = context.insert("Chapter", ["title": "1", "book": draft])
            try context.save()
            draft.setValue("c", forKey: "code")
            draft.setValue("Mine", forKey: "title")
            try context.save()
            #expect(chapter.object("book") === (isMine(policy) ? row : draft), what)
            try stack.story { fresh throws in
                let titles = try fresh.all("Book", by: "title").map { $0.text("title") }
                switch policy {
                case .mergeByPropertyStoreTrump: #expect(titles == ["Mine", "Row"], what)
                case .rollback: #expect(titles == ["Draft", "Row"], what)
                default: #expect(titles == ["Mine"], what)
                }
                #expect(try fresh.one("Book", "code == 'c'").value(forKey: "pages") as? Int == 7, what)
                #expect(try fresh.one("Chapter").object("book") != nil, what)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func aRowOfAnotherWriterIsTheOneThatStays(_ store: SpecifiedStore) throws {  // I9
        try check(store) { context, policy, stack, what in
            let known = context.insert("Author", ["name": "Known", "email": "k"])
            try context.save()
            try stack.story { other throws in
                _ = other.insert("Author", ["name": "Theirs", "email": "e", "rating": 3.0])
                try other.one("Author", "email == 'k'").setValue("Renamed", forKey: "name")
                try other.save()
            }
            _ = context.insert("Author", ["name": "Mine", "email": "e"])
            _ = context.insert("Author", ["email": "k", "rating": 5.0])
            try context.save()
            #expect(known.text("name") == "Renamed", what)
            try stack.story { fresh throws in
                #expect(
                    try fresh.names("Author") == (isMine(policy) ? ["Mine", "Renamed"] : ["Renamed", "Theirs"]), what)
                #expect(try fresh.one("Author", "email == 'e'").value(forKey: "rating") as? Double == 3, what)
                let rating = try fresh.one("Author", "email == 'k'").value(forKey: "rating") as? Double
                #expect(rating == (isMine(policy) ? 5 : nil), what)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func conflictsOfBothKindsAreResolvedInOneSave(_ store: SpecifiedStore) throws {  // I9
        try check(store) { context, policy, stack, what in
            let row = context.insert("Author", ["name": "Ann", "email": "a"])
            try context.save()
            try stack.story { other throws in
                try other.one("Author").setValue("Theirs", forKey: "name")
                try other.save()
            }
            row.setValue("Mine", forKey: "name")
            _ = context.insert("Author", ["name": "New", "email": "a"])
            try context.save()
            try stack.story { fresh throws in
                #expect(try fresh.names("Author") == [isMine(policy) ? "New" : "Theirs"], what)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func manyRowsAreUpsertedAtOnce(_ store: SpecifiedStore) throws {
        try check(store) { context, policy, stack, what in
            for index in 0..<700 { _ = context.insert("Author", ["name": "old", "email": "\(index)"]) }
            try context.save()
            for index in 300..<1000 { _ = context.insert("Author", ["name": "new", "email": "\(index)"]) }
            try context.save()
            try stack.story { fresh throws in
                #expect(try fresh.all("Author").count == 1000, what)
                #expect(try fresh.all("Author", "name == 'new'").count == (isMine(policy) ? 700 : 300), what)
            }
        }
    }
}
