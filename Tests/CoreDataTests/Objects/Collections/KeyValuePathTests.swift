import CoreData
import Foundation
import Testing

/// `value(forKey:)`, `value(forKeyPath:)` and `setValue` of objects, collections and dictionaries, as key-value coding has them.
@Suite struct KeyValuePathTests {
    /// Two authors; the first wrote a (10 pages) and b (30 pages), the second c, whose rating is the only one there is.
    private struct Shelves {
        let authors: [Author]
        let books: [Book]

        init(_ stack: LibraryStack, _ context: NSManagedObjectContext) {
            authors = ["Jane", "Emily"].map { name in
                let author = Author(context: context)
                author.name = name
                return author
            }
            books = stack.books(["a", "b", "c"], in: context)
            books[0].pages = 10
            books[1].pages = 30
            books[2].pages = 30
            for book in books { book.setValue(nil, forKey: "rating") }
            books[2].rating = 4
            authors[0].books = [books[0], books[1]]
            authors[1].books = [books[2]]
        }
    }

    private static func text(_ any: Any?) -> String { CollectionTexts.text(any) }

    @Test func pathsOfAnObject() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let shelves = Shelves(stack, context)
            let author = shelves.authors[0]
            for path: (String, String) in [
                ("name", "Jane"), ("books.@count", "2"), ("books.title", "{a b}"), ("books.@sum.pages", "40"),
                ("books.@avg.pages", "20"), ("books.@max.pages", "30"), ("books.@min.title", "a"),
                ("books.@unionOfObjects.author.name", "[Jane Jane]"), ("books.author.name", "{Jane}"),
                ("books.@distinctUnionOfObjects.author.name", "{Jane}"), ("self.name", "Jane"), ("objectID", ""),
                ("entity.name", "Author"), ("objectID.entity.name", "Author"), ("books.author.entity.name", "{Author}"),
                ("name.length", "4"), ("born", "nil"), ("born.description", "nil"),
            ] where path.0 != "objectID" {
                #expect(Self.text(author.value(forKeyPath: path.0)) == path.1, "\(path.0)")
            }
            #expect(author.value(forKeyPath: "objectID") as? NSManagedObjectID === author.objectID)
            #expect(author.value(forKeyPath: "entity") as? NSEntityDescription === author.entity)
            #expect(author.value(forKeyPath: "books.title") as? Set<String> == ["a", "b"])
            let alone = Book(context: context)
            #expect(
                alone.value(forKeyPath: "author.books.@count") == nil && alone.value(forKeyPath: "author.name") == nil)
            author.setValue(7, forKeyPath: "books.pages")
            #expect(shelves.books.map(\.pages) == [7, 7, 30])
            shelves.books[2].setValue("Anne", forKeyPath: "author.name")
            alone.setValue("Nobody", forKeyPath: "author.name")
            #expect(shelves.authors[1].name == "Anne")
        }
    }

    @Test func collectionsAskTheirMembers() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let shelves = Shelves(stack, context)
            let array = shelves.books as NSArray
            let set = Set(shelves.books) as NSSet
            let ordered = NSOrderedSet(array: shelves.books)
            #expect(array.value(forKey: "title") as? [String] == ["a", "b", "c"])
            #expect((array.value(forKey: "rating") as? NSArray) == [NSNull(), NSNull(), 4] as NSArray)
            #expect(set.value(forKey: "title") as? Set<String> == ["a", "b", "c"])
            #expect(set.value(forKey: "rating") as? Set<Double> == [4])
            #expect((ordered.value(forKey: "pages") as? NSOrderedSet)?.array as? [Int] == [10, 30])
            for collection: (String, String, String, String) in [
                ("@count", "3", "3", "3"), ("@sum.pages", "70", "70", "70"), ("@avg.rating", "1.33333", "", ""),
                ("@max.pages", "30", "30", "30"), ("@min.rating", "4", "4", "4"),
                ("author.name", "[Jane Jane Emily]", "{Emily Jane}", "<Jane Emily>"),
                ("@distinctUnionOfObjects.pages", "[10 30]", "{10 30}", "[10 30]"),
                ("@unionOfObjects.rating", "[4]", "[4]", "[4]"), ("@firstObject.title", "a", "", "a"),
                ("@lastObject.title", "c", "", "c"),
            ] {
                let (path, one, two, three) = collection
                #expect(Self.text(array.value(forKeyPath: path)) == one, "\(path)")
                if !two.isEmpty { #expect(Self.text(set.value(forKeyPath: path)) == two, "\(path)") }
                if !three.isEmpty { #expect(Self.text(ordered.value(forKeyPath: path)) == three, "\(path)") }
            }
            let shelvesOfBooks = shelves.authors.map { Array($0.books) } as NSArray
            #expect(
                Self.text(shelvesOfBooks.value(forKeyPath: "@distinctUnionOfArrays.pages")).count == "[10 30]".count)
            let sets = NSSet(array: shelves.authors.map { $0.books as NSSet })
            #expect(Self.text(sets.value(forKeyPath: "@distinctUnionOfSets.title")) == "{a b c}")
            #expect(
                NSArray().value(forKeyPath: "@sum.pages") as? Int == 0
                    && NSArray().value(forKeyPath: "@max.pages") == nil)
            #expect(
                NSArray().value(forKeyPath: "@avg.pages") as? Int == 0
                    && NSArray().value(forKeyPath: "@firstObject") == nil)
            array.setValue(5, forKey: "pages")
            #expect(shelves.books.allSatisfy { $0.pages == 5 })
            set.setValue("Same", forKeyPath: "author.name")
            #expect(shelves.authors.allSatisfy { $0.name == "Same" })
            ordered.setValue(nil, forKey: "author")
            #expect(shelves.books.allSatisfy { $0.author == nil })
        }
    }

    @Test func unionsOfTheCollectionsThatMembersHave() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let shelves = Shelves(stack, context)
            let tags = ["x", "y", "z"].map { name in
                let tag = Tag(context: context)
                tag.name = name
                return tag
            }
            shelves.books[0].tags = [tags[0], tags[1]]
            shelves.books[1].tags = [tags[1], tags[2]]
            let chapters = stack.chapters(["1", "2", "3"], in: context)
            shelves.books[0].chapters = [chapters[1], chapters[0]]
            shelves.books[1].chapters = [chapters[2]]
            let author = shelves.authors[0]
            for path: (String, String) in [
                ("books.@distinctUnionOfSets.tags", "{x y z}"), ("books.@unionOfSets.tags", "{x y z}"),
                ("books.@distinctUnionOfSets.tags.name", "{x y z}"), ("books.@distinctUnionOfSets.chapters", "{1 2 3}"),
                ("books.tags.@distinctUnionOfSets.name", "{x y z}"),
                ("books.@distinctUnionOfSets.author.books", "{a b}"),
            ] {
                #expect(Self.text(author.value(forKeyPath: path.0)) == path.1, "\(path.0)")
            }
            let array = Array(shelves.books) as NSArray
            #expect(Self.text(array.value(forKeyPath: "@unionOfArrays.chapters.title")) == "[2 1 3]")
            #expect(Self.text(array.value(forKeyPath: "@distinctUnionOfArrays.chapters")) == "[2 1 3]")
            #expect(
                (array.value(forKeyPath: "@unionOfArrays.tags.name") as? [String])?.sorted() == ["x", "y", "y", "z"])
            let distinct = array.value(forKeyPath: "@distinctUnionOfArrays.tags.name") as? [String]
            #expect(distinct?.sorted() == ["x", "y", "z"])
            let ordered = NSOrderedSet(array: shelves.books)
            #expect(Self.text(ordered.value(forKeyPath: "@unionOfArrays.chapters.title")) == "[2 1 3]")
            #expect(Self.text(ordered.value(forKeyPath: "@distinctUnionOfSets.tags.name")) == "{x y z}")
            // Whoever has nothing there gives nothing.
            let alone = Book(context: context)
            let some = [alone, shelves.books[2]] as NSArray
            #expect(Self.text(some.value(forKeyPath: "@distinctUnionOfArrays.author.books.title")) == "[c]")
            #expect(Self.text(alone.value(forKeyPath: "chapters.@unionOfArrays.book.tags")) == "[]")
            // Collections of collections, nil among their values.
            let nested = [[shelves.books[0], alone], [shelves.books[1]]] as NSArray
            #expect(Self.text(nested.value(forKeyPath: "@unionOfArrays.title")) == "[a b]")
        }
    }

    @Test func dictionariesAndValuesAreOnTheWayToo() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let shelves = Shelves(stack, context)
            let dictionary: NSDictionary = ["author": shelves.authors[0], "inner": ["name": "x", "list": [1, 2, 3]]]
            #expect(dictionary.value(forKeyPath: "author.books.@count") as? Int == 2)
            #expect(dictionary.value(forKeyPath: "inner.name") as? String == "x")
            #expect(dictionary.value(forKeyPath: "inner.list.@sum.self") as? Int == 6)
            #expect(
                dictionary.value(forKeyPath: "none.name") == nil && dictionary.value(forKeyPath: "@count") as? Int == 2)
            #expect((["b", "cc"] as NSArray).value(forKey: "length") as? [Int] == [1, 2])
            #expect((["b", "cc"] as NSArray).value(forKeyPath: "@max.uppercaseString") as? String == "CC")
            let results = [["n": 1], ["n": 3]] as NSArray
            #expect(results.value(forKey: "n") as? [Int] == [1, 3] && results.value(forKeyPath: "@avg.n") as? Int == 2)
            let mutable = NSMutableDictionary()
            mutable.setValue("a", forKey: "x.y")
            mutable.setValue(NSMutableDictionary(), forKey: "inner")
            mutable.setValue(1, forKeyPath: "inner.n")
            #expect(mutable.value(forKeyPath: "inner.n") as? Int == 1 && mutable["x.y"] as? String == "a")
            mutable.setValue(nil, forKey: "x.y")
            #expect(mutable["x.y"] == nil)
        }
    }

    @Test func anOverriddenValueIsAskedOnEveryPath() throws {
        let stack = try LibraryStack(model: Answering.model())
        stack.story { context in
            let (one, other) = (Answering(context: context), Answering(context: context))
            one.setValue("one", forKey: "name")
            other.setValue("other", forKey: "name")
            other.setValue(one, forKey: "next")
            #expect(
                one.value(forKeyPath: "name") as? String == "ONE"
                    && one.value(forKeyPath: "greeting") as? String == "Hi one")
            #expect(other.value(forKeyPath: "next.name") as? String == "ONE")
            #expect(other.value(forKeyPath: "next.greeting") as? String == "Hi one")
            #expect(([one, other] as NSArray).value(forKey: "greeting") as? [String] == ["Hi one", "Hi other"])
            // What a store has is the same in memory; what no store has is asked of the object.
            #expect(NSPredicate(format: "name == 'one'").evaluate(with: one))
            #expect(NSPredicate(format: "next.greeting == 'Hi one'").evaluate(with: other))
        }
    }

    @Test func aClassSaysWhatNilMeansForANumber() throws {
        let stack = try LibraryStack(model: Answering.model())
        stack.story { context in
            let object = Answering(context: context)
            for key in ["quantity", "price", "name"] { object.setValue(nil, forKey: key) }
            #expect(object.value(forKey: "quantity") as? Int == 1)
            #expect(object.value(forKey: "price") == nil && object.nilKeys == ["quantity", "price"])
        }
        let model = Answering.model()
        for entity in model.entities { entity.managedObjectClassName = nil }
        let other = try LibraryStack(model: model)
        try other.story { _ in
            let plain = NSManagedObject(entity: try #require(model.entities.first), insertInto: nil)
            plain.setValue(nil, forKey: "quantity")
            #expect(plain.value(forKey: "quantity") == nil)
        }
    }

    @Test func dictionariesOfFoundationsAnswerForTheirCount() {
        let dictionaries = [
            NSDictionary(dictionary: ["a": 1, "b": 2]), NSMutableDictionary(dictionary: ["a": 1, "b": 2]),
            ["a": 1, "b": 2] as NSDictionary,
        ]
        for dictionary in dictionaries {
            #expect(dictionary.value(forKey: "@count") as? Int == 2 && dictionary.value(forKey: "a") as? Int == 1)
            #expect(dictionary.value(forKey: "c") == nil)
            #expect((dictionary.value(forKey: "@allKeys") as? [String])?.sorted() == ["a", "b"])
        }
    }

    @Test func changesAtPositionsAreChanges() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Book"
            let chapters = stack.chapters(["a", "b"], in: context)
            book.chapters = [chapters[0]]
            try context.save()
            #expect(!book.hasChanges)
            book.willChange(.insertion, valuesAt: [0], forKey: "chapters")
            (book.primitiveValue(forKey: "chapters") as? NSMutableOrderedSet)?.insert(chapters[1], at: 0)
            book.didChange(.insertion, valuesAt: [0], forKey: "chapters")
            #expect(book.isUpdated && book.chapters == [chapters[1], chapters[0]])
            #expect(book.changedValuesForCurrentEvent()["chapters"] as? NSOrderedSet == [chapters[0]])
        }
    }

    @Test func anAttributesArrayIsSetAnewByEveryChange() throws {
        let stack = try LibraryStack(model: Answering.model())
        try stack.story { context in
            let object = Answering(context: context)
            let keywords = object.mutableArrayValue(forKey: "keywords")
            keywords.add("b")
            keywords.insert("a", at: 0)
            keywords.addObjects(from: ["d", "c"])
            keywords.sort(using: [NSSortDescriptor(key: "self", ascending: true)])
            keywords.exchangeObject(at: 0, withObjectAt: 3)
            keywords[1] = "x"
            #expect(object.value(forKey: "keywords") as? [String] == ["d", "x", "c", "a"])
            #expect(
                keywords as? [String] == ["d", "x", "c", "a"] && keywords.contains("x") && keywords.index(of: "c") == 2)
            try context.save()
            keywords.removeObject(at: 0)
            #expect(object.isUpdated && object.hasPersistentChangedValues)
            try context.save()
            context.refresh(object, mergeChanges: false)
            #expect(object.value(forKey: "keywords") as? [String] == ["x", "c", "a"])
            let other = Answering(context: context)
            other.setValue(object, forKey: "next")
            #expect(other.mutableArrayValue(forKeyPath: "next.keywords").count == 3)
            #expect(object.mutableArrayValue(forKeyPath: "next.keywords").count == 0)
        }
    }
}

/// A class with key-value coding of its own.
private final class Answering: NSManagedObject {
    var nilKeys: [String] = []

    override func value(forKey key: String) -> Any? {
        let value = key == "greeting" ? nil : super.value(forKey: key)
        if key == "greeting" { return "Hi \(primitiveValue(forKey: "name") as? String ?? "")" }
        return key == "name" ? (value as? String)?.uppercased() : value
    }

    override func setNilValueForKey(_ key: String) {
        nilKeys.append(key)
        if key == "quantity" { setValue(1, forKey: key) } else { super.setNilValueForKey(key) }
    }

    static func model() -> NSManagedObjectModel {
        let entity = Library.entity("Answering", nil)
        entity.managedObjectClassName = String(reflecting: Answering.self)
        let (next, previous) = Library.pair("next", of: entity, "previous", of: entity)
        entity.properties = [
            Library.attribute("name", .stringAttributeType), Library.attribute("quantity", .integer32AttributeType),
            Library.attribute("price", .doubleAttributeType),
            Library.attribute("keywords", .transformableAttributeType),
            next, previous,
        ]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }
}
