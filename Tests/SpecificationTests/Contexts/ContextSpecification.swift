import CoreData
import CoreDataStore
import Foundation
import StoreTestSupport
import Testing

/// Contexts save to a store and read from it, whatever its rows stand on.
@Suite struct ContextSpecification {
    @Test(arguments: SpecifiedStore.all)
    func whatOneContextSavesAnotherFinds(_ store: SpecifiedStore) throws {
        try store.checkContexts { stack in
            let identifier = try stack.story { context throws in
                let author = context.insert("Author", ["name": "Ann", "rating": 4.5])
                let book = context.insert("Novel", ["title": "One", "genre": "Crime", "author": author])
                #expect(book.objectID.isTemporaryID)
                try context.save()
                #expect(!book.objectID.isTemporaryID && !context.hasChanges)
                return book.objectID
            }
            try stack.story { context throws in
                let book = try context.existingObject(with: identifier)
                #expect(book.entity.name == "Novel")
                #expect(book.text("title") == "One" && book.text("genre") == "Crime")
                #expect(book.object("author")?.text("name") == "Ann")
                #expect(book.object("author")?.value(forKey: "rating") as? Double == 4.5)
                #expect(try context.all("Author", "ANY books == %@", [book]).count == 1)
                #expect(try context.all("Book", "SELF == %@", [identifier]) == [book])
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func changesAndDeletionsAreSaved(_ store: SpecifiedStore) throws {
        try store.checkContexts { stack in
            try stack.story { context throws in
                for name in ["a", "b", "c"] { _ = context.insert("Tag", ["name": name]) }
                try context.save()
                try context.one("Tag", "name == 'a'").setValue("z", forKey: "name")
                context.delete(try context.one("Tag", "name == 'b'"))
                #expect(try context.names("Tag") == ["c", "z"])  // F6
                try context.save()
            }
            try stack.story { context throws in #expect(try context.names("Tag") == ["c", "z"]) }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func relationshipsOfEveryKindAreSaved(_ store: SpecifiedStore) throws {
        try store.checkContexts { stack in
            try stack.story { context throws in
                let ann = context.insert("Person", ["name": "Ann"])
                let bob = context.insert("Person", ["name": "Bob", "mentor": ann, "spouse": ann])
                let cid = context.insert("Person", ["name": "Cid", "mentor": ann])
                ann.setValue(Set([bob, cid]), forKey: "friends")
                let clubs = ["x", "y", "z"].map { context.insert("Club", ["name": $0]) }
                ann.setValue(NSOrderedSet(array: [clubs[2], clubs[0]]), forKey: "clubs")
                clubs[0].setValue(NSOrderedSet(array: [bob, ann, cid]), forKey: "members")
                let book = context.insert("Comic", ["title": "One"])
                book.setValue(
                    NSOrderedSet(array: ["b", "a"].map { context.insert("Tag", ["name": $0]) }), forKey: "tags")
                for title in ["2", "1"] { _ = context.insert("Chapter", ["title": title, "book": book]) }
                ann.setValue(book, forKey: "favourite")
                let shelf = context.insert("Shelf", ["label": "S"])
                shelf.setValue(NSOrderedSet(array: [book]), forKey: "row")
                shelf.setValue(book.value(forKey: "tags").flatMap { ($0 as? NSOrderedSet)?.set }, forKey: "picks")
                try context.save()
            }
            try stack.story { context throws in
                let ann = try context.one("Person", "name == 'Ann'")
                let bob = try context.one("Person", "name == 'Bob'")
                #expect(ann.names(of: "pupils") == ["Bob", "Cid"])
                #expect(ann.names(of: "friends") == ["Bob", "Cid"] && bob.names(of: "friends") == ["Ann"])
                #expect(ann.object("spouse") === bob && bob.object("spouse") === ann)
                #expect(ann.names(of: "clubs") == ["z", "x"] && bob.names(of: "clubs") == ["x"])
                #expect(try context.one("Club", "name == 'x'").names(of: "members") == ["Bob", "Ann", "Cid"])
                let book = try #require(ann.object("favourite"))
                #expect(book.entity.name == "Comic")
                #expect(book.names(of: "tags") == ["b", "a"])
                #expect(book.names(of: "chapters", by: "title") == ["2", "1"])
                let shelf = try context.one("Shelf")
                #expect(shelf.names(of: "row", by: "title") == ["One"] && shelf.names(of: "picks") == ["a", "b"])
                book.setValue(
                    NSOrderedSet(array: (book.value(forKey: "tags") as? NSOrderedSet)?.array.reversed() ?? []),
                    forKey: "tags")
                ann.setValue(nil, forKey: "spouse")
                ann.setValue(Set<NSManagedObject>(), forKey: "friends")
                try context.save()
            }
            try stack.story { context throws in
                #expect(try context.one("Book").names(of: "tags") == ["a", "b"])
                let bob = try context.one("Person", "name == 'Bob'")
                #expect(bob.object("spouse") == nil && bob.names(of: "friends") == [])
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func deleteRulesReachTheStore(_ store: SpecifiedStore) throws {  // F3
        let rules: [(String, String, NSDeleteRule)] = [
            ("Book", "chapters", .cascadeDeleteRule), ("Author", "books", .denyDeleteRule),
            ("Book", "author", .nullifyDeleteRule), ("Book", "tags", .nullifyDeleteRule),
        ]
        try store.checkContexts(rules: rules) { stack in
            try stack.story { context throws in
                let author = context.insert("Author", ["name": "Ann"])
                let book = context.insert("Book", ["title": "One", "author": author])
                book.setValue(NSOrderedSet(object: context.insert("Tag", ["name": "red"])), forKey: "tags")
                _ = context.insert("Chapter", ["title": "1", "book": book])
                try context.save()
                context.delete(author)
                #expect((#expect(throws: CocoaError.self) { try context.save() })?.code.rawValue == 1600)
                context.rollback()
                context.delete(try context.one("Book"))
                try context.save()
            }
            try stack.story { context throws in
                #expect(try context.all("Chapter").isEmpty)
                #expect(try context.one("Tag").names(of: "books", by: "title") == [])
                context.delete(try context.one("Author"))
                try context.save()
                #expect(try context.all("Author").isEmpty)
            }
        }
    }

    // MARK: In one another's way

    @Test(arguments: SpecifiedStore.all)
    func whoSavesLaterHasAConflict(_ store: SpecifiedStore) throws {  // I1, I4
        try store.checkContexts { stack in
            try stack.story { context throws in
                _ = context.insert("Tag", ["name": "red"])
                try context.save()
                let tag = try context.one("Tag")
                #expect(tag.text("name") == "red")
                try stack.story { other throws in
                    try other.one("Tag").setValue("blue", forKey: "name")
                    try other.save()
                }
                tag.setValue("green", forKey: "name")
                _ = context.insert("Tag", ["name": "new"])
                let error = #expect(throws: CocoaError.self) { try context.save() }
                #expect(error?.code.rawValue == 133020)
                #expect(context.hasChanges && tag.text("name") == "green")
                try stack.story { other throws in #expect(try other.names("Tag") == ["blue"]) }
                context.refresh(tag, mergeChanges: true)
                try context.save()
                try stack.story { other throws in #expect(try other.names("Tag") == ["green", "new"]) }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func aRowThatSomebodyDeletedIsAConflict(_ store: SpecifiedStore) throws {  // I2
        try store.checkContexts { stack in
            try stack.story { context throws in
                let tag = context.insert("Tag", ["name": "red"])
                try context.save()
                try stack.story { other throws in
                    other.delete(try other.one("Tag"))
                    try other.save()
                }
                tag.setValue("green", forKey: "name")
                let error = #expect(throws: CocoaError.self) { try context.save() }
                #expect(error?.code.rawValue == 133020)
                context.rollback()
                #expect(try context.all("Tag").isEmpty)
                #expect(throws: CocoaError.self) {
                    context.reset()
                    _ = try context.existingObject(with: tag.objectID)
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func aTakenUniqueValueIsAnError(_ store: SpecifiedStore) throws {  // I10
        try store.checkContexts { stack in
            try stack.story { context throws in
                _ = context.insert("Author", ["name": "Ann", "email": "a@x"])
                try context.save()
                let other = context.insert("Author", ["name": "Bob", "email": "a@x"])
                let error = #expect(throws: CocoaError.self) { try context.save() }
                #expect(error?.code.rawValue == 133021)
                #expect(other.objectID.isTemporaryID && context.hasChanges)
                other.setValue("b@x", forKey: "email")
                try context.save()
                #expect(try context.names("Author") == ["Ann", "Bob"])
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.uniqueValues))
    func aFailedSaveLeavesStoreAndContext(_ store: SpecifiedStore) throws {  // G8, H6
        try store.checkContexts { stack in
            try stack.story { context throws in
                let author = context.insert("Author", ["name": "Ann", "email": "a@x"])
                _ = context.insert("Book", ["title": "One", "author": author])
                try context.save()
                let before = try stack.rows.dump()
                let wrong = context.insert("Author", ["email": "a@x"])
                author.setValue("Anna", forKey: "name")
                let book = context.insert("Novel", ["title": "Two", "author": author])
                #expect(throws: CocoaError.self) { try context.save() }
                #expect(try stack.rows.dump() == before)
                #expect(context.insertedObjects == [wrong, book] && context.updatedObjects.contains(author))
                context.delete(wrong)
                try context.save()
                try stack.story { other throws in
                    #expect(try other.one("Author").text("name") == "Anna")
                    #expect(try other.one("Author").names(of: "books", by: "title") == ["One", "Two"])
                }
            }
        }
    }

    // MARK: Asking

    @Test(arguments: SpecifiedStore.all)
    func limitAndOffsetCountUnsavedChanges(_ store: SpecifiedStore) throws {  // M7
        try store.checkContexts { stack in
            try stack.story { context throws in
                for name in ["b", "d", "f", "h"] { _ = context.insert("Tag", ["name": name]) }
                try context.save()
                _ = context.insert("Tag", ["name": "c"])
                try context.one("Tag", "name == 'h'").setValue("a", forKey: "name")
                context.delete(try context.one("Tag", "name == 'd'"))
                #expect(try context.names("Tag") == ["a", "b", "c", "f"])
                #expect(try context.names("Tag", offset: 1, limit: 2) == ["b", "c"])
                #expect(try context.names("Tag", "name > 'a'", by: "-name", limit: 2) == ["f", "c"])
                #expect(try context.names("Tag", offset: 3) == ["f"])
                let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
                #expect(try context.count(for: request) == 4)
                request.includesPendingChanges = false
                #expect(try context.count(for: request) == 4)
                request.predicate = NSPredicate(format: "name IN {'a', 'c'}")
                #expect(try context.count(for: request) == 0)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.groupsAndExpressions))
    func dictionariesAreGrouped(_ store: SpecifiedStore) throws {  // M5, M6
        try store.checkContexts { stack in
            try stack.story { context throws in
                for (title, pages) in [("a", 1), ("b", 5), ("a", 3)] {
                    _ = context.insert("Book", ["title": title, "pages": pages])
                }
                try context.save()
                let request = NSFetchRequest<NSDictionary>(entityName: "Book")
                request.resultType = .dictionaryResultType
                let sum = NSExpressionDescription()
                sum.name = "total"
                sum.expression = NSExpression(format: "sum:(pages)")
                sum.expressionResultType = .integer64AttributeType
                request.propertiesToFetch = ["title", sum]
                request.propertiesToGroupBy = ["title"]
                request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
                let found = try context.fetch(request)
                #expect(found.map { $0["title"] as? String } == ["b", "a"])
                #expect(found.map { $0["total"] as? Int } == [5, 4])
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func membersComeWithTheObjects(_ store: SpecifiedStore) throws {  // M10, B12
        try store.checkContexts { stack in
            try stack.story { context throws in
                for name in ["a", "b"] {
                    let author = context.insert("Author", ["name": name])
                    for index in 1...3 { _ = context.insert("Book", ["title": "\(name)\(index)", "author": author]) }
                }
                try context.save()
            }
            try stack.story { context throws in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
                request.relationshipKeyPathsForPrefetching = ["books"]
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                request.fetchBatchSize = 1
                let authors = try context.fetch(request)
                #expect(
                    authors.map { $0.names(of: "books", by: "title") } == [["a1", "a2", "a3"], ["b1", "b2", "b3"]])
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func metadataAreSavedWithTheContext(_ store: SpecifiedStore) throws {  // H10
        try store.checkContexts { stack in
            let attached = try #require(stack.coordinator.persistentStores.first)
            #expect(attached.identifier == stack.rows.source.identifier)
            var metadata = stack.coordinator.metadata(for: attached)
            metadata["mine"] = 7
            stack.coordinator.setMetadata(metadata, for: attached)
            try stack.story { context throws in
                _ = context.insert("Tag")
                try context.save()
            }
            #expect(try stack.rows.source.metadata().dictionary["mine"] as? Int == 7)
        }
    }

    @Test(arguments: SpecifiedStore.having(.derivedAttributes))
    func derivedValuesShowAfterTheSave(_ store: SpecifiedStore) throws {  // U1
        let entities = [
            Entity("Item").string("name").attribute("plain", .string, derived: "canonical:(name)")
                .attribute("partCount", .integer64, derived: "parts.@count")
                .attribute("total", .double, derived: "parts.@sum.price").toMany("parts", "Part", inverse: "item"),
            Entity("Part").attribute("price", .double).toOne("item", "Item", inverse: "parts"),
        ]
        try store.checkContexts(document(entities)) { stack in
            try stack.story { context throws in
                let item = context.insert("Item", ["name": "Crème"])
                try context.save()
                #expect(item.text("plain") == "creme" && item.value(forKey: "partCount") as? Int == 0)
                _ = context.insert("Part", ["item": item, "price": 2.5])
                try context.save()
                #expect(item.value(forKey: "partCount") as? Int == 1)
                #expect(item.value(forKey: "total") as? Double == 2.5)
                try stack.story { other throws in
                    try other.one("Part").setValue(4.0, forKey: "price")
                    try other.save()
                }
                try stack.story { other throws in
                    #expect(try other.one("Item", "total == 4").text("plain") == "creme")
                }
                item.setValue("Ä", forKey: "name")
                context.refresh(item, mergeChanges: true)
                try context.save()
                #expect(item.text("plain") == "a" && item.value(forKey: "partCount") as? Int == 1)
                #expect(item.value(forKey: "total") as? Double == 4)
            }
        }
    }
}
