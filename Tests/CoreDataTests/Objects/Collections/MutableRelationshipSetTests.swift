import CoreData
import Foundation
import Testing

/// Every method of `NSSet` and `NSMutableSet`, on a to-many beside a plain set (C10).
@Suite struct MutableRelationshipSetTests {
    /// An author of books a, b and c, and two books of nobody's.
    private struct Shelf {
        let author: Author
        let books: [Book]
        let others: [Book]
        var all: [Book] { books + others }

        init(_ stack: LibraryStack, _ context: NSManagedObjectContext) {
            author = Author(context: context)
            author.name = "Author"
            books = stack.books(["a", "b", "c"], in: context)
            others = stack.books(["x", "y"], in: context)
            author.books = Set(books)
        }
    }

    private struct Reading {
        let name: String
        let body: (NSSet, Shelf) -> String

        init(_ name: String, _ body: @escaping (NSSet, Shelf) -> String) {
            self.name = name
            self.body = body
        }
    }

    private static var byTitle: [NSSortDescriptor] { [NSSortDescriptor(key: "title", ascending: false)] }
    private static func text(_ any: Any?) -> String { CollectionTexts.text(any) }
    private static func title(_ any: Any) -> String { (any as? Book)?.title ?? "" }

    private static var readings: [Reading] {
        [
            Reading("count") { set, _ in "\(set.count)" },
            Reading("member") { set, shelf in shelf.all.map { text(set.member($0)) }.joined() },
            Reading("contains") { set, shelf in "\(shelf.all.map { set.contains($0) }) \(set.contains("a"))" },
            Reading("anyObject") { set, shelf in "\(set.anyObject().map { set.contains($0) } ?? false)" },
            Reading("allObjects") { set, _ in CollectionTexts.unordered(set.allObjects) },
            Reading("objectEnumerator") { set, _ in CollectionTexts.unordered(set.objectEnumerator().allObjects) },
            Reading("for in") { set, _ in
                var found: [Any] = []
                for member in set { found.append(member) }
                return CollectionTexts.unordered(found)
            },
            Reading("map") { set, _ in CollectionTexts.unordered(set.map { $0 }) },
            Reading("Array") { set, _ in CollectionTexts.unordered(Array(set)) },
            Reading("enumerateObjects") { set, _ in
                var found: [Any] = []
                set.enumerateObjects { member, _ in found.append(member) }
                return CollectionTexts.unordered(found)
            },
            Reading("enumerateObjects, stopped") { set, _ in
                var count = 0
                set.enumerateObjects(options: .reverse) { _, stop in
                    count += 1
                    stop.pointee = count == 2 ? true : false
                }
                return "\(count)"
            },
            Reading("objects(passingTest:)") { set, _ in
                text(set.objects { member, _ in title(member) != "b" } as NSSet)
            },
            Reading("objects(options:passingTest:)") { set, _ in
                text(set.objects(options: []) { member, _ in title(member) > "a" } as NSSet)
            },
            Reading("sortedArray") { set, _ in text(set.sortedArray(using: byTitle)) },
            Reading("filtered") { set, _ in
                text(set.filtered(using: NSPredicate(format: "title IN {'a', 'c', 'x'}")) as NSSet)
            },
            Reading("isEqual") { set, shelf in
                [
                    set.isEqual(NSSet(array: shelf.books)), set.isEqual(NSSet(array: shelf.all)), set.isEqual(set),
                    set.isEqual(Set(shelf.books)), set.isEqual(nil), set.isEqual("a"),
                    NSSet(array: shelf.books).isEqual(set), NSMutableSet(array: shelf.others).isEqual(set),
                    set == NSSet(array: shelf.books),
                ].map { "\($0)" }.joined(separator: " ")
            },
            Reading("isEqual(to:)") { set, shelf in
                "\(set.isEqual(to: Set(shelf.books))) \(set.isEqual(to: Set(shelf.others)))"
            },
            Reading("isSubset") { set, shelf in
                "\(set.isSubset(of: Set(shelf.all))) \(set.isSubset(of: Set(shelf.others)))"
            },
            Reading("intersects") { set, shelf in
                "\(set.intersects(Set(shelf.all))) \(set.intersects(Set(shelf.others))) \(set.intersects([shelf.books[0]]))"
            },
            Reading("adding") { set, shelf in text(set.adding(shelf.others[0])) },
            Reading("addingObjects(from: Set)") { set, shelf in
                text(set.addingObjects(from: Set(shelf.others) as Set<AnyHashable>) as NSSet)
            },
            Reading("addingObjects(from: Array)") { set, shelf in
                text(set.addingObjects(from: shelf.others as [Any]) as NSSet)
            },
            Reading("copy") { set, _ in text(set.copy()) },
            Reading("mutableCopy") { set, shelf in
                guard let copy = set.mutableCopy() as? NSMutableSet else { return "no set" }
                copy.add(shelf.others[0])
                return "\(text(copy)) \(text(set))"
            },
            Reading("NSSet(set:)") { set, _ in text(NSSet(set: set)) },
            Reading("NSMutableSet(set:)") { set, _ in text(NSMutableSet(set: set)) },
            Reading("hash") { set, _ in "\(set.hash)" },
            Reading("description") { set, _ in
                [set.description, set.debugDescription, "\(set)", set.description(withLocale: nil)].map { text in
                    text.split(separator: "\n").map { $0.filter { $0 != "," } }.sorted().joined()
                }.joined()
            },
            Reading("value(forKey:)") { set, _ in text(set.value(forKey: "title")) },
            Reading("value(forKeyPath:)") { set, _ in
                "\(text(set.value(forKeyPath: "@max.title"))) \(text(set.value(forKeyPath: "@count")))"
            },
        ]
    }

    @Test(arguments: [true, false])
    func readingIsAsOfAPlainSet(saved: Bool) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let shelf = Shelf(stack, context)
            if saved { try context.save() }
            for reading in Self.readings {
                if saved { context.refresh(shelf.author, mergeChanges: false) }
                let live = shelf.author.mutableSetValue(forKey: "books")
                let plain = NSMutableSet(array: shelf.books)
                #expect(reading.body(live, shelf) == reading.body(plain, shelf), "\(reading.name)")
            }
            let primitive = try #require(shelf.author.primitiveValue(forKey: "books") as? NSMutableSet)
            for reading in Self.readings {
                #expect(
                    reading.body(primitive, shelf) == reading.body(NSMutableSet(array: shelf.books), shelf),
                    "\(reading.name)")
            }
        }
    }

    private static var changes: [(name: String, body: (NSMutableSet, Shelf) -> Void)] {
        [
            ("add", { set, shelf in set.add(shelf.others[0]) }),
            ("add a member", { set, shelf in set.add(shelf.books[0]) }),
            ("remove", { set, shelf in set.remove(shelf.books[0]) }),
            ("remove none", { set, shelf in set.remove(shelf.others[0]) }),
            ("addObjects", { set, shelf in set.addObjects(from: shelf.all) }),
            ("union", { set, shelf in set.union(Set(shelf.others)) }),
            ("minus", { set, shelf in set.minus([shelf.books[1], shelf.others[0]]) }),
            ("intersect", { set, shelf in set.intersect([shelf.books[1], shelf.others[0]]) }),
            ("setSet", { set, shelf in set.setSet([shelf.books[1], shelf.others[0]]) }),
            ("removeAllObjects", { set, _ in set.removeAllObjects() }),
            ("filter", { set, _ in set.filter(using: NSPredicate(format: "title > 'a'")) }),
            ("removing in a loop", { set, _ in for book in set { set.remove(book) } }),
        ]
    }

    @Test(arguments: [true, false])
    func changingIsAsOfAPlainSetAndChangesTheRelationship(saved: Bool) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for (name, body) in Self.changes {
                let shelf = Shelf(stack, context)
                if saved {
                    try context.save()
                    context.refresh(shelf.author, mergeChanges: false)
                }
                let live = shelf.author.mutableSetValue(forKey: "books")
                let plain = NSMutableSet(array: shelf.books)
                body(live, shelf)
                body(plain, shelf)
                #expect(Self.text(live) == Self.text(plain), "\(name)")
                #expect(Self.text(shelf.author.books as NSSet) == Self.text(plain), "\(name)")
                for book in shelf.all { #expect((book.author === shelf.author) == plain.contains(book), "\(name)") }
            }
        }
    }

    @Test func setsOfTwoObjectsWorkTogether() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let books = stack.books(["a", "b", "c"], in: context)
            let one = Tag(context: context)
            let other = Tag(context: context)
            one.books = [books[0], books[1]]
            other.books = [books[1], books[2]]
            let first = one.mutableSetValue(forKey: "books")
            let second = other.mutableSetValue(forKey: "books")
            #expect(!first.isEqual(second) && first.isEqual(one.mutableSetValue(forKey: "books")))
            first.minus(try #require(second as Any as? Set<AnyHashable>))
            #expect(one.books == [books[0]])
            first.union(try #require(second as Any as? Set<AnyHashable>))
            #expect(one.books == Set(books))
            second.setSet(try #require(first as Any as? Set<AnyHashable>))
            #expect(other.books == Set(books) && first.isEqual(second) && first.hash == second.hash)
        }
    }

    @Test func castsGiveTheMembers() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let shelf = Shelf(stack, context)
            let live: Any = shelf.author.mutableSetValue(forKey: "books")
            #expect(live as? Set<Book> == Set(shelf.books))
            #expect(live as? Set<NSManagedObject> == Set(shelf.books))
            #expect((live as? Set<AnyHashable>)?.count == 3)
            #expect(live is NSMutableSet && live is NSSet && !(live is String) && live as? [Book] == nil)
            let values: [String: Any] = ["books": live]
            #expect((values["books"] as? Set<Book>)?.count == 3)
            #expect(shelf.author.primitiveValue(forKey: "books") as? Set<Book> == Set(shelf.books))
            #expect(Self.books(of: shelf.author) == Set(shelf.books))
            #expect((shelf.author.mutableSetValue(forKey: "books").allObjects as? [Book])?.count == 3)
        }
    }

    /// As it is written where nothing says `Any`: the compiler knows the type, but not that it can be cast.
    private static func books(of author: Author) -> Set<Book> {
        func cast<T>(_ set: T) -> Set<Book>? { set as? Set<Book> }
        return cast(author.mutableSetValue(forKey: "books")) ?? []
    }

    /// As `@NSManaged var books: NSMutableSet` reads.
    @Test func aPropertyOfAMutableTypeIsLive() throws {
        let books = PropertyKey<NSMutableSet>("books")
        let optionalBooks = PropertyKey<NSMutableSet?>("books")
        let chapters = PropertyKey<NSMutableOrderedSet>("chapters")
        let stack = try LibraryStack()
        stack.story { context in
            let shelf = Shelf(stack, context)
            shelf.author[books].add(shelf.others[0])
            shelf.author[optionalBooks]?.remove(shelf.books[0])
            #expect(shelf.others[0].author === shelf.author && shelf.books[0].author == nil)
            shelf.author[books] = NSMutableSet(array: shelf.books)
            #expect(shelf.author.books == Set(shelf.books))
            shelf.books[0][chapters].addObjects(from: stack.chapters(["a", "b"], in: context))
            #expect(shelf.books[0].chapters.map(\.title) == ["a", "b"])
        }
    }

    @Test func aPathLeadsToTheLastObjectsMembers() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let shelf = Shelf(stack, context)
            shelf.books[0].mutableSetValue(forKeyPath: "author.books").add(shelf.others[0])
            #expect(shelf.others[0].author === shelf.author)
            let nobodys = shelf.others[1].mutableSetValue(forKeyPath: "author.books")
            nobodys.add(shelf.books[0])
            #expect(nobodys.count == 0 && nobodys.allObjects.isEmpty && shelf.books[0].author === shelf.author)
        }
    }
}
