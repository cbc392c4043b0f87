import CoreData
import Foundation
import Testing

/// `entity`, `entity.name` and `objectID` mean the same in a store, in memory and with unsaved changes (E13).
@Suite struct EntityPredicateTests {
    @Test(arguments: [
        "entity == %@", "entity.name == 'Author'", "entity.name BEGINSWITH 'Au'", "entity == 'Author'",
        "NOT entity != %@",
        "entity IN {%@}", "entity.name IN {'Author', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'}",
        "entity IN {'Author', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'}", "SELF.entity == %@",
        "objectID.entity == %@",
        "objectID.entity.name == 'Author'", "entity.name LIKE[c] 'AUTH*'", "entity.name < 'B'",
        "entity CONTAINS 'utho'",
    ])
    func entitiesAreComparedAlike(_ format: String) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for name in ["one", "two"] {
                let author = Author(context: context)
                author.name = name
                let reader = Reader(context: context)
                reader.name = name
            }
            try context.save()
            let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Author"])
            let predicate = NSPredicate(format: format, argumentArray: format.contains("%@") ? [entity] : [])
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = predicate
            func check(_ expected: Int, _ when: String) throws {
                let found = try context.fetch(request)
                #expect(found.count == expected && found.allSatisfy { $0 is Author }, "\(format) \(when)")
                #expect(try context.count(for: request) == expected, "\(format) \(when)")
                let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
                #expect(all.filter { predicate.evaluate(with: $0) } == all.filter { $0 is Author }, "\(format) \(when)")
            }
            try check(2, "saved")
            let author = Author(context: context)
            author.name = "three"
            Reader(context: context).name = "three"
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).forEach {
                $0.setValue("x", forKey: "name")
            }
            try check(3, "with unsaved changes")
        }
    }

    @Test func entitiesOfDestinationsToo() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Author"
            let books = stack.books(["a", "b"], in: context)
            books[0].author = author
            for saved in [false, true] {
                if saved { try context.save() }
                for format in [
                    "author.entity == %@", "author.entity.name == 'Author'", "author.objectID == %@",
                    "author.objectID IN {%@}",
                    "author.objectID.entity.name == 'Author'",
                ] {
                    let argument: Any = format.contains("objectID") ? author.objectID : author.entity
                    let predicate = NSPredicate(format: format, argumentArray: format.contains("%@") ? [argument] : [])
                    #expect(books.map { predicate.evaluate(with: $0) } == [true, false], "\(format)")
                    let request = NSFetchRequest<Book>(entityName: "Book")
                    request.predicate = predicate
                    #expect(try context.fetch(request) == [books[0]], "\(format) \(saved)")
                    request.predicate = NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
                    #expect(try context.fetch(request) == [books[1]], "NOT \(format) \(saved)")
                }
                let request = NSFetchRequest<Author>(entityName: "Author")
                for format in ["ANY books.objectID == %@", "%@ IN books.objectID", "ANY books.entity.name == 'Book'"] {
                    request.predicate = NSPredicate(
                        format: format, argumentArray: format.contains("%@") ? [books[0].objectID] : [])
                    #expect(try context.fetch(request) == [author], "\(format) \(saved)")
                }
            }
        }
    }

    @Test func anEntityThatTheModelLacksMatchesNothing() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            Author(context: context).name = "one"
            try context.save()
            let stranger = NSEntityDescription()
            stranger.name = "Stranger"
            for saved in [true, false] {
                if !saved { Author(context: context).name = "two" }
                #expect(try context.all(NSManagedObject.self, "Person", "entity == %@", stranger).isEmpty)
                #expect(
                    try context.all(NSManagedObject.self, "Person", "entity != %@", stranger).count == (saved ? 1 : 2))
                #expect(try context.all(NSManagedObject.self, "Person", "entity == nil").isEmpty)
            }
        }
    }

    @Test func aResultsColumnMayBeTheIDOrTheEntity() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Author"
            let book = stack.books(["a"], in: context)[0]
            book.author = author
            try context.save()
            func column(_ name: String, _ expression: NSExpression, _ type: NSAttributeType) -> NSExpressionDescription
            {
                let description = NSExpressionDescription()
                description.name = name
                description.expression = expression
                description.expressionResultType = type
                return description
            }
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [
                column("objectID", NSExpression.expressionForEvaluatedObject(), .objectIDAttributeType),
                column("author", NSExpression(forKeyPath: "author.objectID"), .objectIDAttributeType),
                column("entity", NSExpression(forKeyPath: "entity.name"), .stringAttributeType),
                column("authors", NSExpression(forKeyPath: "author.entity.name"), .stringAttributeType), "title",
                "author.objectID",
            ]
            let result = try #require(try context.fetch(request).first)
            #expect(result["objectID"] as? NSManagedObjectID == book.objectID)
            #expect(result["author"] as? NSManagedObjectID == author.objectID)
            #expect(result["author.objectID"] as? NSManagedObjectID == author.objectID)
            #expect(result["entity"] as? String == "Book" && result["authors"] as? String == "Author")
            let copy = try #require(
                (request.propertiesToFetch?.first as? NSExpressionDescription)?.copy() as? NSExpressionDescription)
            #expect(copy.name == "objectID")
        }
    }

    @Test("M17: a fetched property's predicate reads the property's description and the source's entity")
    func descriptionsAsVariables() throws {
        let model = Library.model()
        let book = try #require(model.entitiesByName["Book"])
        let fetched = NSFetchedPropertyDescription()
        fetched.name = "alike"
        fetched.userInfo = ["prefix": "a"]
        let template = NSFetchRequest<any NSFetchRequestResult>()
        template.entity = book
        template.predicate = NSPredicate(
            format: "title BEGINSWITH $FETCHED_PROPERTY.userInfo.prefix AND entity == $FETCH_SOURCE.entity "
                + "AND entity.name == $FETCH_SOURCE.entity.name AND SELF != $FETCH_SOURCE AND objectID != $FETCH_SOURCE.objectID"
        )
        fetched.fetchRequest = template
        book.properties.append(fetched)
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let books = stack.books(["a", "ab", "b"], in: context)
            for saved in [false, true] {
                if saved { try context.save() }
                #expect(books[0].value(forKey: "alike") as? [Book] == [books[1]])
            }
        }
    }
}
