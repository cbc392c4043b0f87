import CoreDataStore
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Ordered many-to-manys: a save writes the pairs that changed, and the order is kept.
@Suite struct OrderedPairsTests {
    /// What is done to the titles of a book's sequels.
    struct Edit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (inout [String]) -> Void

        init(_ name: String, _ apply: @escaping @Sendable (inout [String]) -> Void) {
            (testDescription, self.apply) = (name, apply)
        }

        static let deleteFirst = Edit("delete the first") { $0.removeFirst() }
        static let append = Edit("append") { $0.append("new") }
        static let insert = Edit("insert in the middle") { $0.insert("new", at: $0.count / 2) }
        static let insertFirst = Edit("insert first") { $0.insert("new", at: 0) }
        static let moveToFront = Edit("move the last to the front") { $0.insert($0.removeLast(), at: 0) }
        static let moveToEnd = Edit("move the first to the end") { $0.append($0.removeFirst()) }
        static let few = [deleteFirst, append, insert, insertFirst, moveToFront, moveToEnd]
    }

    /// A book with as many sequels, "0", "1", "2" and so on.
    private func series(_ count: Int) throws -> (stack: LibraryStack, book: Book) {
        let stack = try LibraryStack()
        let book = try stack.story { context in
            let book = Book(context: context)
            book.title = "owner"
            book.sequels = (0..<count).map { newBook("\($0)", context) }
            try context.save()
            return book
        }
        return (stack, book)
    }

    private func newBook(_ title: String, _ context: NSManagedObjectContext) -> Book {
        let book = Book(context: context)
        book.title = title
        return book
    }

    private func change(_ book: Book, _ edit: (inout [String]) -> Void, _ context: NSManagedObjectContext) {
        var titles = book.sequels.compactMap(\.title)
        let known = Dictionary(uniqueKeysWithValues: book.sequels.map { ($0.title ?? "", $0) })
        edit(&titles)
        book.sequels = titles.map { known[$0] ?? newBook($0, context) }
    }

    /// The statements that write pairs.
    private func pairWrites(_ statements: [String]) -> Int {
        statements.count { !$0.hasPrefix("SELECT") && $0.contains("SEQUELS") }
    }

    private func storedTitles(_ stack: LibraryStack) throws -> [String] {
        try LibraryStack(opening: stack.url).story { context in
            let book = try #require(try context.all(Book.self, "Book", "title == 'owner'").first)
            return book.sequels.compactMap(\.title)
        }
    }

    // MARK: Statements

    @Test(
        arguments: [
            (.deleteFirst, 1), (.append, 1), (.insert, 1), (.insertFirst, 1), (.moveToFront, 1), (.moveToEnd, 1),
            (Edit("nothing") { _ in }, 0), (Edit("append three") { $0 += ["x", "y", "z"] }, 3),
            (
                Edit("insert at two places") {
                    $0.insert("x", at: 9)
                    $0.insert("y", at: 3)
                }, 2
            ),
            (Edit("exchange two") { $0.swapAt(2, 8) }, 2), (Edit("reverse") { $0.reverse() }, 11),
            (Edit("replace all") { $0 = (20..<32).map { "\($0)" } }, 24),
            (
                Edit("move, delete and append") {
                    $0.insert($0.removeLast(), at: 0)
                    $0.remove(at: 6)
                    $0.append("x")
                }, 3
            ),
        ] as [(Edit, Int)])
    func onlyPairsThatChangeAreWritten(_ edit: Edit, writes: Int) throws {
        let (stack, book) = try series(12)
        var titles = (0..<12).map { "\($0)" }
        edit.apply(&titles)
        try stack.story { context in
            change(book, edit.apply, context)
            let statements = try stack.statements { try context.save() }
            #expect(pairWrites(statements) == writes)
            #expect(book.sequels.map(\.title) == titles)
        }
        #expect(try storedTitles(stack) == titles)
    }

    @Test(arguments: Edit.few)
    func theCostGrowsWithTheChangeAndNotWithTheList(_ edit: Edit) throws {
        let costs = try [4, 60].map { count in
            let (stack, book) = try series(count)
            return try stack.story { context in
                change(book, edit.apply, context)
                return try stack.statements { try context.save() }.count
            }
        }
        #expect(costs[0] == costs[1])
    }

    @Test func deletingAMemberRemovesItsPairAlone() throws {
        let (stack, book) = try series(20)
        try stack.story { context in
            context.delete(book.sequels[7])
            let statements = try stack.statements { try context.save() }
            #expect(pairWrites(statements) == 1)
        }
        #expect(try storedTitles(stack) == (0..<20).filter { $0 != 7 }.map { "\($0)" })
    }

    @Test func theOtherSidePutsItsOwnerAtTheEndWithOneStatement() throws {
        let (stack, book) = try series(20)
        try stack.story { context in
            newBook("late", context).prequels = [book]
            let statements = try stack.statements { try context.save() }
            #expect(pairWrites(statements) == 1)
        }
        #expect(try storedTitles(stack) == (0..<20).map { "\($0)" } + ["late"])
    }

    /// A gap of 1024 has room for ten members that come to the same place one after the other.
    @Test func aGapThatIsUsedUpIsMadeAnewWithItsNeighbourhood() throws {
        let (stack, book) = try series(40)
        var titles = (0..<40).map { "\($0)" }
        try stack.story { context in
            var writes = 0
            for number in 100..<124 {
                titles.insert("\(number)", at: 20)
                change(book, { $0.insert("\(number)", at: 20) }, context)
                writes += pairWrites(try stack.statements { try context.save() })
            }
            #expect(writes < 24 * 2)
        }
        #expect(try storedTitles(stack) == titles)
    }

    // MARK: Values of other writers

    /// Changes the order values below the context.
    private func setOrders(_ stack: LibraryStack, _ value: (String) -> String) throws {
        let engine = try #require(stack.coordinator.attachedStores[0].source as? StoreEngine)
        let table = try #require(engine.layout.joinTables.values.first { $0.orderColumn != nil })
        let order = try #require(table.orderColumn)
        try engine.database.write { try $0.execute("UPDATE \(table.name) SET \(order) = \(value(order))") }
    }

    /// The values of old stores have no gaps.
    @Test(arguments: Edit.few)
    func valuesWithoutGapsAreMadeAnewWhereTheyMustBe(_ edit: Edit) throws {
        let (stack, book) = try series(12)
        try setOrders(stack) { "(\($0) - 1024) / 1024" }
        #expect(try storedTitles(stack) == (0..<12).map { "\($0)" })
        var titles = (0..<12).map { "\($0)" }
        try stack.story { context in
            // The second change finds room.
            for round in 0..<2 {
                let apply = { (titles: inout [String]) in
                    edit.apply(&titles)
                    titles = titles.map { $0 == "new" ? "new \(round)" : $0 }
                }
                apply(&titles)
                change(book, apply, context)
                let statements = try stack.statements { try context.save() }
                if round == 1 { #expect(pairWrites(statements) == 1) }
            }
        }
        #expect(try storedTitles(stack) == titles)
    }

    @Test(arguments: ["NULL", "9223372036854775807", "-9223372036854775808", "5"])
    func valuesThatOrderNothingAreMadeAnew(_ value: String) throws {
        let (stack, book) = try series(6)
        try setOrders(stack) { _ in value }
        // Equal values leave the members in the order of their keys.
        var titles = try storedTitles(stack)
        try stack.story { context in
            context.refreshAllObjects()
            #expect(book.sequels.map(\.title) == titles)
            titles.insert("new", at: 3)
            change(book, { $0.insert("new", at: 3) }, context)
            try context.save()
        }
        #expect(try storedTitles(stack) == titles)
    }

    // MARK: Random edits

    @Test("Whatever is inserted, removed and moved, the order is that of an array", arguments: Trials.seeds(8))
    func orderIsKept(seed: UInt64) throws {
        let (stack, book) = try series(6)
        var random = SeededNumbers(seed: seed)
        var titles = (0..<6).map { "\($0)" }
        var next = 6
        try stack.story { context in
            for round in 0..<20 {
                for _ in 0...random.below(3) {
                    switch random.below(7) {
                    case 0 where !titles.isEmpty: titles.remove(at: random.below(titles.count))
                    case 1 where titles.count > 1:
                        titles.insert(titles.remove(at: random.below(titles.count)), at: random.below(titles.count))
                    case 2 where titles.count > 3: titles[1..<3].reverse()
                    case 3: titles.append("\(next)")
                    default: titles.insert("\(next)", at: min(2, titles.count))
                    }
                    next += 1
                }
                let wanted = titles
                change(book, { $0 = wanted }, context)
                try context.save()
                let id = book.objectID
                let fresh = stack.newContext()
                let stored = fresh.performAndWait { (fresh.object(with: id) as? Book)?.sequels.map(\.title) }
                #expect(stored == titles, "round \(round)")
            }
        }
        #expect(try storedTitles(stack) == titles)
    }
}
