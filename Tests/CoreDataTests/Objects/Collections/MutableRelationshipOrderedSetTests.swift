import Foundation
import Testing

@testable import CoreData

/// Every method of `NSOrderedSet` and `NSMutableOrderedSet`, on an ordered to-many beside a plain ordered set (C10, C12).
@Suite struct MutableRelationshipOrderedSetTests {
    /// A book with chapters a to d, and two chapters of no book.
    private struct Bound {
        let book: Book
        let chapters: [Chapter]
        let others: [Chapter]
        var all: [Chapter] { chapters + others }

        init(_ stack: LibraryStack, _ context: NSManagedObjectContext) {
            book = Book(context: context)
            book.title = "Book"
            chapters = stack.chapters(["c", "a", "d", "b"], in: context)
            others = stack.chapters(["x", "y"], in: context)
            book.chapters = chapters
        }
    }

    private struct Reading {
        let name: String
        let body: (NSOrderedSet, Bound) -> Any?

        init(_ name: String, _ body: @escaping (NSOrderedSet, Bound) -> Any?) {
            self.name = name
            self.body = body
        }
    }

    private static func text(_ any: Any?) -> String { CollectionTexts.text(any) }
    private static func title(_ any: Any) -> String { (any as? Chapter)?.title ?? "" }
    private static func compare(_ a: Any, _ b: Any) -> ComparisonResult {
        title(a) < title(b) ? .orderedAscending : title(a) > title(b) ? .orderedDescending : .orderedSame
    }
    private static var byTitle: [NSSortDescriptor] { [NSSortDescriptor(key: "title", ascending: true)] }

    private static var readings: [Reading] {
        [
            Reading("count") { set, _ in set.count },
            Reading("object(at:)") { set, _ in [set.object(at: 0), set[1], set.object(at: 3)] },
            Reading("objects(at:)") { set, _ in set.objects(at: [0, 2, 3]) },
            Reading("index(of:)") { set, bound in bound.all.map { set.index(of: $0) } },
            Reading("contains") { set, bound in "\(bound.all.map { set.contains($0) }) \(set.contains("a"))" },
            Reading("firstObject") { set, _ in set.firstObject },
            Reading("lastObject") { set, _ in set.lastObject },
            Reading("reversed") { set, _ in set.reversed },
            Reading("array") { set, _ in set.array },
            Reading("set") { set, _ in set.set as NSSet },
            Reading("objectEnumerator") { set, _ in set.objectEnumerator().allObjects },
            Reading("reverseObjectEnumerator") { set, _ in set.reverseObjectEnumerator().allObjects },
            Reading("for in") { set, _ in
                var found: [Any] = []
                for member in set { found.append(member) }
                return found
            },
            Reading("Array") { set, _ in Array(set) },
            Reading("map") { set, _ in set.map(title) },
            Reading("enumerated, first(where:), reduce") { set, _ in
                "\(set.enumerated().map { "\($0)\(title($1))" }) \(text(set.first { title($0) > "c" }))"
            },
            Reading("enumerateObjects") { set, _ in
                var found = ""
                set.enumerateObjects { member, index, stop in
                    found += "\(index)\(title(member))"
                    if index == 2 { stop.pointee = true }
                }
                return found
            },
            Reading("enumerateObjects(options:)") { set, _ in
                var found = ""
                set.enumerateObjects(options: .reverse) { member, index, _ in found += "\(index)\(title(member))" }
                return found
            },
            Reading("enumerateObjects(at:)") { set, _ in
                var found = ""
                set.enumerateObjects(at: [1, 3], options: []) { member, index, _ in found += "\(index)\(title(member))"
                }
                return found
            },
            Reading("index(ofObjectPassingTest:)") { set, _ in
                [
                    set.index { member, _, _ in title(member) == "d" }, set.index { _, _, _ in false },
                    set.index(.reverse) { _, index, _ in index < 3 },
                    set.index(ofObjectAt: [2, 3], options: []) { member, _, _ in title(member) < "d" },
                ]
            },
            Reading("indexes(ofObjectsPassingTest:)") { set, _ in
                [
                    set.indexes { member, _, _ in title(member) > "a" },
                    set.indexes(options: .reverse) { _, index, _ in index > 1 },
                    set.indexes(ofObjectsAt: [0, 1], options: []) { _, _, _ in true },
                ].map { text($0) }
            },
            Reading("index(of:inSortedRange:)") { set, bound in
                let sorted = NSMutableOrderedSet(array: set.sortedArray(comparator: compare))
                return sorted.index(
                    of: bound.chapters[0], inSortedRange: NSRange(location: 0, length: 4), usingComparator: compare)
            },
            Reading("sortedArray") { set, _ in
                [
                    set.sortedArray(using: byTitle), set.sortedArray(comparator: compare),
                    set.sortedArray(options: .stable, usingComparator: compare),
                ].map(text)
            },
            Reading("filtered") { set, _ in set.filtered(using: NSPredicate(format: "title > 'a'")) },
            Reading("isEqual") { set, bound in
                [
                    set.isEqual(NSOrderedSet(array: bound.chapters)),
                    set.isEqual(to: NSOrderedSet(array: bound.chapters)),
                    set.isEqual(NSOrderedSet(array: bound.chapters.reversed())), set.isEqual(set), set.isEqual("a"),
                    NSOrderedSet(array: bound.chapters).isEqual(set), set == NSMutableOrderedSet(array: bound.chapters),
                ].map { "\($0)" }
            },
            Reading("isSubset") { set, bound in
                [
                    set.isSubset(of: NSOrderedSet(array: bound.all)),
                    set.isSubset(of: NSOrderedSet(array: bound.others)),
                    set.isSubset(of: Set(bound.all)), set.isSubset(of: Set(bound.others)),
                    NSOrderedSet(array: [bound.chapters[1]]).isSubset(of: set),
                ].map { "\($0)" }
            },
            Reading("intersects") { set, bound in
                [
                    set.intersects(NSOrderedSet(array: bound.all)), set.intersects(NSOrderedSet(array: bound.others)),
                    set.intersectsSet(Set(bound.all)), set.intersectsSet(Set(bound.others)),
                    NSOrderedSet(array: bound.all).intersects(set),
                ].map { "\($0)" }
            },
            Reading("copy") { set, _ in set.copy() },
            Reading("mutableCopy") { set, bound in
                guard let copy = set.mutableCopy() as? NSMutableOrderedSet else { return nil }
                copy.add(bound.others[0])
                return [text(copy), text(set)]
            },
            Reading("NSOrderedSet(orderedSet:)") { set, _ in NSOrderedSet(orderedSet: set) },
            Reading("NSMutableOrderedSet(orderedSet:)") { set, _ in NSMutableOrderedSet(orderedSet: set) },
            Reading("NSOrderedSet(orderedSet:range:)") { set, _ in
                NSOrderedSet(orderedSet: set, range: NSRange(location: 0, length: 4), copyItems: false)
            },
            Reading("NSArray(array:)") { set, _ in NSArray(array: set.array) as? [Any] },
            Reading("description") { set, _ in
                [set.description, set.debugDescription, "\(set)", set.description(withLocale: nil)]
            },
            Reading("value(forKey:)") { set, _ in set.value(forKey: "title") },
            Reading("value(forKeyPath:)") { set, _ in
                [set.value(forKeyPath: "@max.title"), set.value(forKeyPath: "@count")] as [Any?]
            },
            Reading("Mirror") { set, _ in Mirror(reflecting: set).children.count },
        ]
    }

    @Test(arguments: [true, false])
    func readingIsAsOfAPlainOrderedSet(saved: Bool) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let bound = Bound(stack, context)
            if saved { try context.save() }
            for reading in Self.readings {
                if saved { context.refresh(bound.book, mergeChanges: false) }
                let live = bound.book.mutableOrderedSetValue(forKey: "chapters")
                let plain = NSMutableOrderedSet(array: bound.chapters)
                #expect(
                    Self.text(reading.body(live, bound)) == Self.text(reading.body(plain, bound)), "\(reading.name)")
            }
            let primitive = try #require(bound.book.primitiveValue(forKey: "chapters") as? NSMutableOrderedSet)
            #expect(primitive.array.count == 4 && Self.text(primitive.lastObject) == "b")
        }
    }

    private static func pointers(_ objects: [AnyObject], _ body: (UnsafePointer<AnyObject>) -> Void) {
        objects.withUnsafeBufferPointer { if let base = $0.baseAddress { body(base) } }
    }

    /// What is done, and the titles that are expected afterwards: Foundation's own set gets some of these wrong.
    private static var changes: [(name: String, body: (NSMutableOrderedSet, Bound) -> Void, expected: String)] {
        [
            ("add", { set, bound in set.add(bound.others[0]) }, "c a d b x"),
            ("add a member", { set, bound in set.add(bound.chapters[0]) }, "c a d b"),
            ("add(_:count:)", { set, bound in pointers(bound.all) { set.add($0, count: 6) } }, "c a d b x y"),
            ("addObjects", { set, bound in set.addObjects(from: bound.all) }, "c a d b x y"),
            ("insert", { set, bound in set.insert(bound.others[0], at: 1) }, "c x a d b"),
            ("insert at the end", { set, bound in set.insert(bound.others[0], at: 4) }, "c a d b x"),
            ("insert a member", { set, bound in set.insert(bound.chapters[3], at: 0) }, "c a d b"),
            ("insert(_:at: IndexSet)", { set, bound in set.insert(bound.others, at: [0, 3]) }, "x c a y d b"),
            ("remove", { set, bound in set.remove(bound.chapters[1]) }, "c d b"),
            ("remove none", { set, bound in set.remove(bound.others[1]) }, "c a d b"),
            ("removeObject(at:)", { set, _ in set.removeObject(at: 2) }, "c a b"),
            ("removeObjects(at:)", { set, _ in set.removeObjects(at: [0, 2]) }, "a b"),
            ("removeObjects(in: NSRange)", { set, _ in set.removeObjects(in: NSRange(location: 1, length: 2)) }, "c b"),
            (
                "removeObjects(in: Array)",
                { set, bound in set.removeObjects(in: [bound.chapters[3], bound.others[0]]) }, "c a d"
            ),
            ("removeAllObjects", { set, _ in set.removeAllObjects() }, ""),
            ("replaceObject", { set, bound in set.replaceObject(at: 1, with: bound.others[0]) }, "c x d b"),
            ("subscript", { set, bound in set[0] = bound.others[1] }, "y a d b"),
            ("setObject", { set, bound in set.setObject(bound.others[0], at: 4) }, "c a d b x"),
            ("setObject in place", { set, bound in set.setObject(bound.others[0], at: 3) }, "c a d x"),
            (
                "replaceObjects(at:with:)", { set, bound in set.replaceObjects(at: [0, 2], with: bound.others) },
                "x a y b"
            ),
            (
                "replaceObjects(in:with:count:)",
                { set, bound in
                    pointers(bound.others) {
                        set.replaceObjects(in: NSRange(location: 1, length: 1), with: $0, count: 2)
                    }
                }, "c x y d b"
            ),
            ("exchangeObject", { set, _ in set.exchangeObject(at: 0, withObjectAt: 3) }, "b a d c"),
            ("moveObjects", { set, _ in set.moveObjects(at: [2, 3], to: 0) }, "d b c a"),
            ("union", { set, bound in set.union(NSOrderedSet(array: bound.all.reversed())) }, "c a d b y x"),
            ("unionSet", { set, bound in set.unionSet([bound.others[1], bound.chapters[0]]) }, "c a d b y"),
            ("minus", { set, bound in set.minus(NSOrderedSet(array: [bound.chapters[0], bound.others[0]])) }, "a d b"),
            ("minusSet", { set, bound in set.minusSet([bound.chapters[0], bound.others[0]]) }, "a d b"),
            ("minus itself", { set, _ in set.minus(set) }, ""),
            (
                "intersect",
                { set, bound in
                    set.intersect(NSOrderedSet(array: [bound.chapters[3], bound.chapters[0], bound.others[0]]))
                },
                "c b"
            ),
            ("intersectSet", { set, bound in set.intersectSet([bound.chapters[3], bound.chapters[0]]) }, "c b"),
            ("sort(using:)", { set, _ in set.sort(using: byTitle) }, "a b c d"),
            ("sort(comparator:)", { set, _ in set.sort(comparator: compare) }, "a b c d"),
            ("sort {}", { set, _ in set.sort { compare($1, $0) } }, "d c b a"),
            ("sort(options:)", { set, _ in set.sort(options: .stable, usingComparator: compare) }, "a b c d"),
            (
                "sortRange",
                { set, _ in set.sortRange(NSRange(location: 1, length: 3), options: [], usingComparator: compare) },
                "c a b d"
            ),
            ("filter", { set, _ in set.filter(using: NSPredicate(format: "title < 'c'")) }, "a b"),
            ("removing in a loop", { set, _ in for chapter in set { set.remove(chapter) } }, ""),
            (
                "changing while enumerating",
                { set, bound in
                    set.enumerateObjects { _, index, _ in if index < 2 { set.insert(bound.others[index], at: 0) } }
                },
                "y x c a d b"
            ),
        ]
    }

    @Test(arguments: [true, false])
    func changingChangesTheRelationship(saved: Bool) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for (name, body, expected) in Self.changes {
                let bound = Bound(stack, context)
                if saved {
                    try context.save()
                    context.refresh(bound.book, mergeChanges: false)
                }
                let live = bound.book.mutableOrderedSetValue(forKey: "chapters")
                body(live, bound)
                let titles = bound.book.chapters.map { $0.title ?? "" }
                #expect(titles.joined(separator: " ") == expected, "\(name)")
                #expect(live.map(Self.title) == titles && live.count == titles.count, "\(name)")
                for chapter in bound.all {
                    #expect((chapter.book === bound.book) == bound.book.chapters.contains(chapter), "\(name)")
                }
                guard saved else { continue }
                try context.save()
                let other = stack.newContext()
                try other.performAndWait {
                    let book = try #require(try other.existingObject(with: bound.book.objectID) as? Book)
                    #expect(book.chapters.map { $0.title ?? "" } == titles, "\(name), saved")
                }
            }
        }
    }

    @Test func primitivesChangeTheListOnly() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let bound = Bound(stack, context)
            try context.save()
            let primitive = try #require(bound.book.primitiveValue(forKey: "chapters") as? NSMutableOrderedSet)
            primitive.insert(bound.others[0], at: 0)
            primitive.sort(using: Self.byTitle)
            #expect(primitive.map(Self.title) == ["a", "b", "c", "d", "x"])
            #expect(!bound.book.hasChanges && bound.others[0].book == nil)
        }
    }

    @Test func aPathLeadsToTheLastObjectsMembers() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let bound = Bound(stack, context)
            let chapters = bound.chapters[0].mutableOrderedSetValue(forKeyPath: "book.chapters")
            chapters.insert(bound.others[0], at: 0)
            #expect(bound.book.chapters.first === bound.others[0])
            let none = bound.others[1].mutableOrderedSetValue(forKeyPath: "book.chapters")
            none.add(bound.chapters[0])
            #expect(none.count == 0 && none.firstObject == nil && none.array.isEmpty)
        }
    }

    @Test func anArrayIsTheRelationshipToo() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let bound = Bound(stack, context)
            let live = bound.book.mutableArrayValue(forKey: "chapters")
            let plain = NSMutableArray(array: bound.chapters)
            #expect(live as? [Chapter] == bound.chapters && live.isEqual(to: bound.chapters))
            let changes: [(NSMutableArray) -> Void] = [
                { $0.add(bound.others[0]) }, { $0.insert(bound.others[1], at: 0) },
                { $0.exchangeObject(at: 0, withObjectAt: 2) },
                { $0.removeObject(at: 1) }, { $0.sort(using: Self.byTitle) }, { $0.removeLastObject() },
                { $0.replaceObject(at: 0, with: bound.others[1]) },
                { $0.removeObjects(in: NSRange(location: 1, length: 1)) },
                { $0.setArray(bound.chapters) }, { $0.remove(bound.chapters[2]) },
                { $0.sort(comparator: Self.compare) }, { $0.filter(using: NSPredicate(format: "title > 'a'")) },
                { $0.replaceObjects(in: NSRange(location: 0, length: 1), withObjectsFrom: [bound.others[1]]) },
                { $0[0] = bound.chapters[1] }, { $0.addObjects(from: bound.others) }, { $0.removeAllObjects() },
            ]
            for (number, change) in changes.enumerated() {
                change(live)
                change(plain)
                #expect(Self.text(live) == Self.text(plain), "change \(number)")
                #expect(Self.text(bound.book.chapters) == Self.text(plain), "change \(number)")
            }
        }
    }
}
