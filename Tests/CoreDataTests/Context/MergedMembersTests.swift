import CoreData
import Foundation
import Testing

// semantics B5, I7, L1, L4: to-many relationships that both contexts changed
@Suite struct MergedMembersTests {
    /// How this context learns what another one saved.
    enum Way: CaseIterable {
        case merge
        case automatic
        case refresh
        case strangersMerge
    }

    /// What happens to a collection's members "a", "b", "c": here, unsaved, and elsewhere, saved.
    struct Change: Sendable {
        let name: String
        let apply: @Sendable (inout [String]) -> Void

        static func add(_ name: String) -> Change { Change(name: "add \(name)") { $0.append(name) } }
        static func addFirst(_ name: String) -> Change { Change(name: "add \(name) first") { $0.insert(name, at: 0) } }
        static func remove(_ name: String) -> Change { Change(name: "remove \(name)") { $0.removeAll { $0 == name } } }
        static func moveFirst(_ name: String) -> Change {
            Change(name: "move \(name) first") { names in
                names.removeAll { $0 == name }
                names.insert(name, at: 0)
            }
        }
        static func moveLast(_ name: String) -> Change {
            Change(name: "move \(name) last") { names in
                names.removeAll { $0 == name }
                names.append(name)
            }
        }
    }

    /// Changes here and there, and the chapters in order that come of them.
    private static let cases: [(mine: Change, theirs: Change, result: [String])] = [
        (.add("l"), .add("r"), ["a", "b", "c", "l", "r"]), (.add("l"), .remove("b"), ["a", "c", "l"]),
        (.remove("b"), .add("r"), ["a", "c", "r"]), (.remove("b"), .remove("b"), ["a", "c"]),
        (.remove("b"), .remove("a"), ["c"]), (.addFirst("l"), .remove("b"), ["l", "a", "c"]),
        (.addFirst("l"), .moveFirst("c"), ["l", "c", "a", "b"]), (.moveFirst("c"), .add("r"), ["c", "a", "b", "r"]),
        (.moveFirst("c"), .moveLast("a"), ["c", "a", "b"]), (.moveFirst("c"), .remove("c"), ["a", "b"]),
    ]

    private func learn(
        _ way: Way, _ book: Book, in context: NSManagedObjectContext, from other: NSManagedObjectContext,
        _ change: () throws -> Void
    ) throws {
        let saves = NotificationSaves(other)
        try change()
        switch way {
        case .merge, .strangersMerge: context.mergeChanges(fromContextDidSave: try #require(saves.last))
        case .refresh: context.refresh(book, mergeChanges: true)
        case .automatic: break
        }
    }

    @Test("What is in memory after merging and saving is in the store", arguments: cases.indices, Way.allCases)
    func orderedMembers(number: Int, way: Way) throws {
        let (mine, theirs, result) = Self.cases[number]
        let stack = try LibraryStack()
        let second = try LibraryStack(opening: stack.url)
        let other = way == .strangersMerge ? second.context : stack.newContext()
        let book = try stack.story { context -> Book in
            let book = Book(context: context)
            book.title = "Book"
            book.chapters = ["a", "b", "c"].map { chapter($0, context) }
            try context.save()
            return book
        }
        try stack.story { context in
            context.automaticallyMergesChangesFromParent = way == .automatic
            try change(book, mine, context)
            try learn(way, book, in: context, from: other) {
                let id = book.objectID
                try other.performAndWait {
                    let same = try #require(try other.existingObject(with: id) as? Book)
                    try change(same, theirs, other)
                    try other.save()
                }
            }
        }
        // What is merged automatically is merged by then: blocks run one after another.
        try stack.story { context in
            #expect(book.chapters.map(\.title) == result)
            #expect(book.chapters.allSatisfy { $0.book === book })
            try saveMerging(context)
            #expect(book.chapters.map(\.title) == result)
            let id = book.objectID
            let fresh = stack.newContext()
            let stored = fresh.performAndWait { (fresh.object(with: id) as? Book)?.chapters.map(\.title) }
            #expect(stored == result)
        }
    }

    /// Saves, and where rows of members were changed elsewhere too, takes them over and saves again.
    private func saveMerging(_ context: NSManagedObjectContext) throws {
        for _ in 0..<3 {
            do {
                return try context.save()
            } catch let error as CocoaError where error.code == .managedObjectMerge {
                context.refreshAllObjects()
            }
        }
        try context.save()
    }

    private func chapter(_ title: String, _ context: NSManagedObjectContext) -> Chapter {
        let chapter = Chapter(context: context)
        chapter.title = title
        return chapter
    }

    private func change(_ book: Book, _ change: Change, _ context: NSManagedObjectContext) throws {
        var names = book.chapters.compactMap(\.title)
        let known = Dictionary(book.chapters.map { ($0.title ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        change.apply(&names)
        book.chapters = names.map { known[$0] ?? chapter($0, context) }
    }

    @Test("L1: additions and removals of both sides meet in a many-to-many, and an attribute changed beside them")
    func manyToMany() throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Book"
            book.tags = Set(["a", "b"].map { tag($0, context) })
            try context.save()
            book.tags.insert(tag("l", context))
            book.pages = 3
            let saves = NotificationSaves(other)
            let id = book.objectID
            try other.performAndWait {
                let same = try #require(try other.existingObject(with: id) as? Book)
                same.tags = same.tags.filter { $0.name != "b" }.union([tag("r", other)])
                same.rating = 2
                try other.save()
            }
            context.mergeChanges(fromContextDidSave: try #require(saves.last))
            #expect(Set(book.tags.map(\.name)) == ["a", "l", "r"])
            #expect(book.pages == 3 && book.rating == 2)
            try context.save()
            context.refresh(book, mergeChanges: false)
            #expect(Set(book.tags.map(\.name)) == ["a", "l", "r"])
        }
    }

    private func tag(_ name: String, _ context: NSManagedObjectContext) -> Tag {
        let tag = Tag(context: context)
        tag.name = name
        return tag
    }

    @Test("F3: a cascade after a merge deletes what is a member now, and nothing else")
    func cascadeAfterAMerge() throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Book"
            book.chapters = ["a", "b"].map { chapter($0, context) }
            try context.save()
            book.chapters.append(chapter("l", context))
            let saves = NotificationSaves(other)
            let id = book.objectID
            try other.performAndWait {
                let same = try #require(try other.existingObject(with: id) as? Book)
                same.chapters.remove(at: 1)
                same.chapters.append(chapter("r", other))
                try other.save()
            }
            context.mergeChanges(fromContextDidSave: try #require(saves.last))
            try context.save()
            context.delete(book)
            try context.save()
            let left = try context.all(Chapter.self, "Chapter")
            #expect(left.map(\.title) == ["b"] && left.first?.book == nil)
        }
    }

    @Test("L1: what another coordinator of the file saved is read when it is merged")
    func anotherCoordinator() throws {
        let stack = try LibraryStack()
        let second = try LibraryStack(opening: stack.url)
        try stack.story { context in
            let book = Book(context: context)
            book.title = "old"
            try context.save()
            let saves = NotificationSaves(second.context)
            let id = book.objectID
            try second.story { other in
                let same = try #require(try other.existingObject(with: id) as? Book)
                same.title = "new"
                try other.save()
            }
            context.mergeChanges(fromContextDidSave: try #require(saves.last))
            #expect(book.title == "new")
            book.pages = 1
            try context.save()
        }
    }
}
