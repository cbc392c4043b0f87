import CoreData
import Foundation
import Testing

// semantics N: requests that go past the context
@Suite struct BatchRequestTests {
    private func titles(_ stack: LibraryStack, _ format: String? = nil) throws -> [String] {
        let context = stack.newContext()
        return try context.performAndWait {
            try context.all(Book.self, "Book", format).compactMap(\.title).sorted()
        }
    }

    private func insert(
        _ context: NSManagedObjectContext, _ objects: [[String: Any]], into entity: String = "Book"
    ) throws -> [NSManagedObjectID] {
        let request = NSBatchInsertRequest(entityName: entity, objects: objects)
        request.resultType = .objectIDs
        return try #require(try (context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
    }

    // MARK: Insert

    @Test("N4: missing values are defaults, unknown keys are ignored, a to-one takes an ID")
    func inserting() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Ann"
            try context.save()
            let ids = try insert(
                context,
                [
                    ["title": "One", "pages": 5, "price": Decimal(2), "nothing": 1],
                    ["title": "Two", "isLent": true, "author": author.objectID, "published": NSNull()],
                ])
            #expect(ids.count == 2 && context.registeredObjects == [author] && !context.hasChanges)  // N1
            let books = try ids.map { try #require(try context.existingObject(with: $0) as? Book) }
            #expect(books.map(\.title) == ["One", "Two"])
            #expect(books[0].pages == 5 && books[0].price == 2 && !books[0].isLent && books[0].author == nil)
            #expect(books[1].pages == 0 && books[1].isLent && books[1].author === author)
            #expect(try context.all(Book.self, "Book", "author.name == 'Ann'").map(\.title) == ["Two"])
        }
    }

    @Test("N1: what a batch wrote shows once an object is refreshed")
    func refreshing() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "0"
            try context.save()
            for number in 1...3 {
                let update = NSBatchUpdateRequest(entityName: "Book")
                update.propertiesToUpdate = ["title": "\(number)"]
                try context.execute(update)
                #expect(book.title == "\(number - 1)")
                switch number {
                case 1: context.refresh(book, mergeChanges: false)
                case 2: context.refresh(book, mergeChanges: true)
                default: context.refreshAllObjects()
                }
                #expect(book.title == "\(number)")
            }
            book.title = "mine"
            try context.save()
        }
    }

    @Test("Numbers that are too large for their attribute are an error, as in a save")
    func widths() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            #expect(throws: CocoaError.self) {
                _ = try insert(context, [["title": "a"], ["title": "b", "pages": 5_000_000_000]])
            }
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.propertiesToUpdate = ["pages": -5_000_000_000]
            #expect(throws: CocoaError.self) { try context.execute(update) }
            let left = try titles(stack)
            #expect(left == [])
        }
    }

    @Test("N5: handlers fill in one object after the other; what is filled in with true is not inserted")
    func handlers() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            var number = 0
            let dictionaries = NSBatchInsertRequest(
                entityName: "Book",
                dictionaryHandler: { dictionary in
                    number += 1
                    dictionary["title"] = "dictionary \(number)"
                    return number > 1500
                })
            dictionaries.resultType = .count
            #expect(try (context.execute(dictionaries) as? NSBatchInsertResult)?.result as? Int == 1500)
            var objects: Set<ObjectIdentifier> = []
            number = 0
            let managed = NSBatchInsertRequest(
                entityName: "Book",
                managedObjectHandler: { object in
                    objects.insert(ObjectIdentifier(object))
                    number += 1
                    // Each begins with the defaults.
                    if number == 1 { (object as? Book)?.pages = 9 }
                    (object as? Book)?.title = "object \(number)"
                    return number > 3
                })
            #expect(try (context.execute(managed) as? NSBatchInsertResult)?.result as? Bool == true)
            #expect(objects.count == 1)
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 1503)
            let found = try context.all(Book.self, "Book", "title BEGINSWITH 'object'")
            #expect(found.map(\.title).sorted { $0! < $1! } == ["object 1", "object 2", "object 3"])
            #expect(found.map(\.pages).sorted() == [0, 0, 9])
        }
    }

    @Test("N4: a unique value that is taken fails, updates the row or leaves it, as the merge policy says")
    func constraints() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let first = try insert(context, [["title": "One", "isbn": "1", "pages": 3]])
            let again: [[String: Any]] = [
                ["title": "new", "isbn": "2"], ["title": "Uno", "isbn": "1"],
                ["title": "newer", "isbn": "2", "pages": 7],
            ]
            let error = #expect(throws: CocoaError.self) { try insert(context, again) }
            #expect(error?.code.rawValue == NSManagedObjectConstraintMergeError)
            #expect(try titles(stack) == ["One"])

            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            #expect(try insert(context, again).count == 1)
            #expect(try titles(stack) == ["One", "new"])

            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let ids = try insert(context, again)
            #expect(ids.contains(first[0]))
            #expect(try titles(stack) == ["Uno", "newer"])
            // What was not given stays.
            #expect(try titles(stack, "pages == 3 OR pages == 7") == ["Uno", "newer"])
        }
    }

    @Test("N4: a unique value that a row of another subentity has is taken, too", arguments: [false, true])
    func constraintsOfHierarchies(_ byHandler: Bool) throws {
        let (shape, name, size) = (
            NSEntityDescription(), Library.attribute("name", .stringAttributeType),
            Library.attribute("size", .integer32AttributeType)
        )
        let (circle, square) = (NSEntityDescription(), NSEntityDescription())
        (shape.name, circle.name, square.name) = ("Shape", "Circle", "Square")
        (shape.properties, shape.uniquenessConstraints, shape.subentities) = (
            [name, size], [["name"]], [circle, square]
        )
        circle.properties = [Library.attribute("radius", .doubleAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [shape, circle, square]
        let stack = try LibraryStack(model: model)
        try stack.story { context throws in
            let rows = [["name": "a", "size": 2], ["name": "b", "size": 3]] as [[String: Any]]
            func insertShapes(_ entity: String) throws -> [NSManagedObjectID] {
                guard byHandler else { return try insert(context, rows, into: entity) }
                var rest = rows[...]
                let request = NSBatchInsertRequest(entityName: entity) { (object: NSManagedObject) in
                    guard let row = rest.popFirst() else { return true }
                    for (key, value) in row { object.setValue(value, forKey: key) }
                    return false
                }
                request.resultType = .objectIDs
                return try #require((context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
            }
            let first = try insert(context, [["name": "a", "size": 1, "radius": 0.5]], into: "Circle")
            let error = #expect(throws: CocoaError.self) { try insertShapes("Square") }
            #expect(error?.code.rawValue == NSManagedObjectConstraintMergeError)
            func shapes() throws -> [String] {
                context.reset()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Shape")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                return try context.fetch(request).map {
                    "\($0.entity.name ?? "") \($0.value(forKey: "name") ?? "") \($0.value(forKey: "size") ?? "")"
                }
            }
            #expect(try shapes() == ["Circle a 1"])

            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            #expect(try insertShapes("Square").map(\.entity.name) == ["Square"])
            #expect(try shapes() == ["Circle a 1", "Square b 3"])

            // The row takes what was given, and stays what it is.
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            #expect(try insertShapes("Square").contains(first[0]))
            #expect(try shapes() == ["Circle a 2", "Square b 3"])
        }
    }

    @Test("a value of another type, an abstract entity and one that is not there are refused")
    func refusedInsertions() throws {
        let stack = try LibraryStack()
        stack.story { context in
            #expect(throws: CocoaError.self) { try insert(context, [["title": 5]]) }
            #expect(throws: CocoaError.self) { try insert(context, [["name": "a"]], into: "Person") }
            #expect(throws: CocoaError.self) { try insert(context, [["name": "a"]], into: "Nobody") }
            #expect(throws: CocoaError.self) { try insert(context, [["title": "a", "author": "Ann"]]) }
            #expect(throws: CocoaError.self) { try insert(context, [["title": "a", "rating": Double.nan]]) }
        }
        #expect(try titles(stack) == [])
    }

    /// 600 rows are more than a portion, the last of which lacks a title.
    @Test(
        "G9: a row without a mandatory value is an error that names it, and nothing is inserted",
        arguments: ["dictionaries", "nil", "dictionary handler", "object handler", "typed rows", "one column"],
        [NSMergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump])
    func mandatoryValues(_ form: String, _ policy: NSMergePolicy) throws {
        let stack = try LibraryStack()
        try stack.story { context throws in
            context.mergePolicy = policy
            func title(_ number: Int) -> String? { number == 600 ? nil : "book \(number)" }
            var number = 0
            func values() -> [String: Any] {
                number += 1
                var values: [String: Any] = ["pages": number, "isbn": "isbn \(number)"]
                if let title = title(number) { values["title"] = title }
                if form == "nil", number == 600 { values["title"] = NSNull() }
                return values
            }
            let request: NSBatchInsertRequest
            switch form {
            case "dictionary handler":
                request = NSBatchInsertRequest(entityName: "Book") { (dictionary: NSMutableDictionary) in
                    for (key, value) in values() { dictionary[key] = value }
                    return number > 600
                }
            case "object handler":
                request = NSBatchInsertRequest(entityName: "Book") { (object: NSManagedObject) in
                    for (key, value) in values() { object.setValue(value, forKey: key) }
                    return number > 600
                }
            case "typed rows":
                request = try NSBatchInsertRequest(\Book.title, \.isbn) {
                    number += 1
                    return number > 600 ? nil : (title(number), "isbn \(number)")
                }
            case "one column":
                request = try NSBatchInsertRequest(\Book.isbn) {
                    number += 1
                    return number > 600 ? nil : "isbn \(number)"
                }
            default: request = NSBatchInsertRequest(entityName: "Book", objects: (1...600).map { _ in values() })
            }
            let error = #expect(throws: CocoaError.self) { try context.execute(request) }
            #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
            #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "title")
            let row = form == "one column" ? "row 1 " : "row 600 "
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("title") && text.contains("'Book'") && text.contains(row), "\(text)")
            #expect(try titles(stack).isEmpty)
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 0)
            // The keys of those that were not inserted are free again, and the store takes others.
            #expect(try insert(context, [["title": "One"]]).count == 1)
        }
    }

    @Test("N4: a row that takes values because of a constraint may leave mandatory ones out, but not be given nil")
    func mandatoryValuesOfRowsThatAreThere() throws {
        let stack = try LibraryStack()
        try stack.story { context throws in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            _ = try insert(context, [["title": "One", "isbn": "1"]])
            _ = try insert(
                context,
                [["isbn": "1", "pages": 7], ["title": "Two", "isbn": "2"], ["isbn": "2", "pages": 8]])
            #expect(try titles(stack, "pages > 6") == ["One", "Two"])
            for (rows, number) in [
                ([["isbn": "1", "title": NSNull()]], 1), ([["isbn": "1", "pages": 9], ["isbn": "3", "pages": 9]], 2),
                ([["title": "a", "isbn": "3"], ["title": NSNull(), "isbn": "3"]], 2),
            ] as [([[String: Any]], Int)] {
                let error = #expect(throws: CocoaError.self) { _ = try insert(context, rows) }
                #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
                #expect(error?.localizedDescription.contains("row \(number) ") == true)
            }
            #expect(try titles(stack) == ["One", "Two"])
            #expect(try titles(stack, "pages > 8").isEmpty)
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            _ = try insert(context, [["isbn": "1", "title": NSNull()], ["isbn": "1", "pages": 9]])
            #expect(try titles(stack) == ["One", "Two"])
        }
    }

    private func fill(_ stack: LibraryStack) throws {
        try stack.story { context in
            _ = try insert(context, (1...20).map { ["title": "book \($0)", "pages": $0, "rating": Double($0) / 2] })
        }
    }

    @Test("N2: constants and expressions are set in SQL, and versions grow")
    func updating() throws {
        let stack = try LibraryStack()
        try fill(stack)
        try stack.story { context in
            let held = try #require(try context.all(Book.self, "Book", "pages == 20").first)
            #expect(held.title == "book 20")
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.predicate = NSPredicate(format: "pages > 10")
            request.propertiesToUpdate = [
                "isLent": true, "pages": NSExpression(format: "pages * 2 + 1"),
                "rating": NSExpression(format: "pages / 2"),
                "title": NSExpression(forConstantValue: "same"),
            ]
            request.resultType = .updatedObjectsCountResultType
            var result: Any?
            let statements = try stack.statements {
                result = (try context.execute(request) as? NSBatchUpdateResult)?.result
            }
            #expect(result as? Int == 10)
            #expect(statements.count == 1 && statements[0].hasPrefix("UPDATE ZBOOK AS t0 SET "), "\(statements)")
            #expect(try titles(stack, "isLent == YES AND title == 'same'").count == 10)
            #expect(try titles(stack, "pages == 41 AND rating == 10").count == 1)
            // N1: what is held is as it was, and to save it is a conflict.
            #expect(held.title == "book 20")
            held.title = "mine"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSManagedObjectMergeError)
        }
    }

    @Test("N7: IDs are merged into contexts, which then show the new values")
    func merging() throws {
        let stack = try LibraryStack()
        try fill(stack)
        try stack.story { context in
            let book = try #require(try context.all(Book.self, "Book", "pages == 3").first)
            #expect(book.title == "book 3")
            let author = Author(context: context)
            author.name = "Ann"
            try context.save()
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.predicate = NSPredicate(format: "pages < 5")
            request.propertiesToUpdate = ["title": "new", "author": author.objectID, "published": NSNull()]
            request.resultType = .updatedObjectIDsResultType
            request.mergesInto = [context]
            let ids = try (context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
            #expect(ids?.count == 4 && ids?.contains(book.objectID) == true)
            #expect(book.title == "new" && book.author === author)
            let delete = NSBatchDeleteRequest(objectIDs: [book.objectID])
            delete.mergesInto = [context]
            try context.execute(delete)
            #expect(book.managedObjectContext == nil)
        }
    }

    @Test("what a batch update cannot set is refused by name")
    func refusedUpdates() throws {
        let stack = try LibraryStack()
        try fill(stack)
        let pages = stack.coordinator.managedObjectModel.entitiesByName["Book"]?.propertiesByName["pages"]
        stack.story { context in
            for values: [AnyHashable: Any] in [
                ["pages": 1, pages: 2],
                ["nothing": 1], ["chapters": NSNull()], ["note": "transient"], ["pages": "many"],
                ["pages": NSExpression(format: "author.name")], ["title": NSExpression(format: "pages + 1")],
            ] {
                let request = NSBatchUpdateRequest(entityName: "Book")
                // What the predicate leads to as well is no column of the statement either.
                request.predicate = NSPredicate(format: "author.name == nil")
                request.propertiesToUpdate = values
                let error = #expect(throws: CocoaError.self, "\(values)") { try context.execute(request) }
                let names = values.keys.compactMap { $0.base as? String }
                #expect(error.map { "\($0.localizedDescription)".contains(names.first ?? "") } == true)
            }
        }
        #expect(try titles(stack, "title BEGINSWITH 'book'").count == 20)
    }

    @Test("a whole number that an expression makes too large is refused before anything is written")
    func largeExpressions() throws {
        let stack = try LibraryStack()
        try fill(stack)
        try stack.story { context throws in
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.resultType = .updatedObjectsCountResultType
            request.propertiesToUpdate = ["pages": NSExpression(format: "pages + 2147483640"), "title": "new"]
            let error = #expect(throws: CocoaError.self) { try context.execute(request) }
            #expect(
                error?.localizedDescription.contains(
                    "'pages' of entity 'Book' to 'pages + 2147483640': the value of some row is too large") == true)
            #expect(try titles(stack, "title == 'new'").isEmpty)
            request.predicate = NSPredicate(format: "pages <= 7")
            #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int ?? 0 > 0)
        }
    }

    @Test(
        "N2: whole numbers of every width take what fits, and refuse what does not",
        arguments: [
            (.integer16AttributeType, "n + 32766", "n + 32767"), (.integer16AttributeType, "n * -32768", "n * -32769"),
            (.integer32AttributeType, "n * 2147483647", "n * 2147483648"),
            (.integer32AttributeType, "0 - n * 2147483648", "0 - n * 2147483649"),
            (.integer64AttributeType, "n * 9007199254740991", "n * 1e19"),
            (.integer64AttributeType, "n - 9", "n * -1e19"),
        ] as [(NSAttributeType, String, String)])
    func widthsOfWholeNumbers(_ type: NSAttributeType, _ fitting: String, _ tooLarge: String) throws {
        let entity = NSEntityDescription()
        (entity.name, entity.properties) = (
            "Number", [Library.attribute("value", type), Library.attribute("n", .integer64AttributeType)]
        )
        let model = NSManagedObjectModel()
        model.entities = [entity]
        try LibraryStack(model: model).story { context throws in
            _ = try insert(context, [["value": 5, "n": 0], ["value": 5, "n": 1]], into: "Number")
            let request = NSBatchUpdateRequest(entityName: "Number")
            request.predicate = NSPredicate(format: "n == 1")
            request.propertiesToUpdate = ["value": NSExpression(format: tooLarge)]
            #expect(throws: CocoaError.self) { try context.execute(request) }
            func value() throws -> Int64? {
                context.reset()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Number")
                request.predicate = NSPredicate(format: "n == 1")
                return (try context.fetch(request).first?.value(forKey: "value") as? NSNumber)?.int64Value
            }
            #expect(try value() == 5)
            request.propertiesToUpdate = ["value": NSExpression(format: fitting)]
            try context.execute(request)
            let one = ["n": 1]
            #expect(
                try value()
                    == (NSExpression(format: fitting).expressionValue(with: one, context: nil) as? NSNumber)?.int64Value
            )
        }
    }

    // MARK: Delete

    @Test("N3: a predicate, a limit and IDs say what is deleted, in one statement where nothing depends on it")
    func deleting() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for name in 1...10 {
                let author = Author(context: context)
                author.name = "author \(name)"
            }
            let tags = (1...5).map { number in
                let tag = Tag(context: context)
                tag.name = "tag \(number)"
                return tag
            }
            try context.save()
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.fetchLimit = 3
            let delete = NSBatchDeleteRequest(fetchRequest: request)
            delete.resultType = .resultTypeCount
            #expect(try (context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 3)
            #expect(try context.all(Author.self, "Author", "name == 'author 1'").isEmpty)
            let ids = NSBatchDeleteRequest(objectIDs: tags.prefix(2).map(\.objectID))
            ids.resultType = .resultTypeObjectIDs
            let deleted = try (context.execute(ids) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
            #expect(Set(deleted ?? []) == Set(tags.prefix(2).map(\.objectID)))
            // Chapters are many for a book, and nothing refers to them.
            let chapters = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Chapter"))
            let statements = try stack.statements { try context.execute(chapters) }
            #expect(statements == ["DELETE FROM ZCHAPTER AS t0"])
        }
    }

    @Test("N3: references become nil, what cascades goes, and a rule that denies it stops everything")
    func deleteRules() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Ann"
            let books = (1...3).map { number in
                let book = Book(context: context)
                book.title = "book \(number)"
                book.author = author
                return book
            }
            for book in books {
                let chapter = Chapter(context: context)
                chapter.book = book
            }
            let tag = Tag(context: context)
            tag.books = Set(books)
            let reader = Reader(context: context)
            reader.name = "Rob"
            let loan = Loan(context: context)
            loan.book = books[2]
            loan.reader = reader
            try context.save()

            let all = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book"))
            let error = #expect(throws: CocoaError.self) { try context.execute(all) }
            #expect(error?.code.rawValue == NSValidationRelationshipDeniedDeleteError)
            #expect(try titles(stack).count == 3)

            // What is not saved is in no store: that is told, and nothing deleted.
            let unsaved = Book(context: context)
            let mixed = NSBatchDeleteRequest(objectIDs: [books[0].objectID, unsaved.objectID])
            let refusal = #expect(throws: CocoaError.self) { try context.execute(mixed) }
            #expect(refusal?.localizedDescription.contains("whose ID is temporary") == true)
            #expect(try titles(stack).count == 3)
            context.delete(unsaved)

            let some = NSBatchDeleteRequest(objectIDs: [books[0].objectID, books[1].objectID])
            some.resultType = .resultTypeCount
            #expect(try (context.execute(some) as? NSBatchDeleteResult)?.result as? Int == 4)
            let other = stack.newContext()
            let left = try other.performAndWait {
                [try other.all(Chapter.self, "Chapter").count, try other.all(Tag.self, "Tag")[0].books.count]
            }
            #expect(left == [1, 1])
            try context.execute(NSBatchDeleteRequest(objectIDs: [author.objectID]))
            let hasAuthors = try other.performAndWait {
                other.reset()
                return try other.all(Book.self, "Book").map { $0.author != nil }
            }
            #expect(hasAuthors == [false])
        }
        let verified = try NSPersistentStoreCoordinator.verifyPersistentStore(at: stack.url, model: Library.model())
        #expect(verified.isPassed, "\(verified.findings)")
    }

    /// F7: a batch delete does what the rules say in the store, and calls nobody: no hook, no validation, no smallest count.
    @Test("F7: a batch delete follows the delete rules, and neither counts nor hooks")
    func deletionsWithoutHooks() throws {
        let model = Library.model()
        model.entitiesByName["Author"]?.relationshipsByName["books"]?.minCount = 1
        model.entitiesByName["Author"]?.relationshipsByName["books"]?.isOptional = false
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Ann"
            let book = Book(context: context)
            (book.title, book.author) = ("One", author)
            Chapter(context: context).book = book
            try context.save()
            book.events = []
            // A save would not take the author's last book.
            context.delete(book)
            let refusal = #expect(throws: CocoaError.self) { try context.save() }
            #expect(refusal?.errorCode == NSValidationRelationshipLacksMinimumCountError)
            #expect(book.events.first == "prepareForDeletion")
            context.rollback()
            book.events = []
            try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book")))
            #expect(book.events.isEmpty && !context.hasChanges)
            context.reset()
            let left = try ["Book", "Chapter", "Author"].map {
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: $0))
            }
            #expect(left == [0, 0, 1])
            #expect(try context.all(Author.self, "Author")[0].books.isEmpty)
        }
    }

    /// G9: a batch update writes what a save would refuse, and a batch delete asks nobody.
    @Test("G9: batch updates and deletes are not validated")
    func validation() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            _ = try insert(context, [["title": "One"]])

            let update = NSBatchUpdateRequest(entityName: "Book")
            update.propertiesToUpdate = ["pages": -1, "title": String(repeating: "x", count: 200)]
            try context.execute(update)
            let book = try context.all(Book.self, "Book")[0]
            #expect(book.pages == -1 && book.title?.count == 200)
            book.rating = 1
            let refusal = #expect(throws: CocoaError.self) { try context.save() }
            #expect(refusal?.errorCode == NSValidationMultipleErrorsError)
            context.rollback()
            try context.execute(NSBatchDeleteRequest(objectIDs: [book.objectID]))
            #expect(try titles(stack).isEmpty)
        }
    }

    // MARK: Everywhere

    @Test("N1: a store in memory of SQL takes batch requests, through child contexts too")
    func childContexts() throws {
        let stack = try LibraryStack()
        try stack.story { parent in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            try child.performAndWait {
                _ = try insert(child, [["title": "One"]])
                #expect(try child.all(Book.self, "Book").map(\.title) == ["One"])
            }
        }
    }

    @Test("N2: a history has one transaction for each request")
    func history() throws {
        let stack = try HistoryStack()
        let context = stack.newContext(author: "import")
        try context.performAndWait {
            let token = stack.token
            _ = try insert(context, (1...1200).map { ["title": "book \($0)"] })
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.predicate = NSPredicate(format: "title IN {'book 7', 'book 9'}")
            update.propertiesToUpdate = ["pages": 3]
            try context.execute(update)
            let old = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            old.predicate = NSPredicate(format: "pages == 3")
            try context.execute(NSBatchDeleteRequest(fetchRequest: old))
            let transactions = try stack.transactions(.fetchHistory(after: token))
            #expect(transactions.map { $0.changes?.count } == [1200, 2, 2])
            #expect(transactions.allSatisfy { $0.author == "import" })
            #expect(transactions[1].changes?.first?.updatedProperties?.map(\.name) == ["pages"])
            #expect(
                transactions[2].changes?.compactMap { $0.tombstone?["title"] as? String }.sorted() == [
                    "book 7", "book 9",
                ])
        }
    }
}
