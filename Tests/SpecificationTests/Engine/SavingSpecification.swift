import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import Testing

/// Rows are made, read, changed and deleted.
@Suite struct SavingSpecification {
    @Test(arguments: SpecifiedStore.having(.rows))
    func anEmptyStoreHasNoRows(_ store: SpecifiedStore) throws {
        try store.check { library throws in
            for entity in library.model.entities {
                #expect(try library.keys(entity.name) == [])
                #expect(try library.source.count(FetchPlan(entity: entity.ordinal)) == 0)
            }
            #expect(try library.row("Book", 1) == nil)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func anInsertedRowIsReadInEveryWay(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(library.insertion("Tag", 3, ["name": .string("red"), "heft": .integer(-7)]))
            let byKey = try #require(try library.row("Tag", 3))
            let fetched = try library.rows(library.plan("Tag"))
            #expect(fetched.map(\.key) == [library.key("Tag", 3)])
            for row in [byKey] + fetched {
                #expect(row.version == 1)
                #expect(library.value("name", of: row) == .string("red"))
                #expect(library.value("heft", of: row) == .integer(-7))
            }
            #expect(try library.source.keys(library.plan("Tag")) == [library.key("Tag", 3)])
            #expect(try library.source.count(library.plan("Tag")) == 1)
            #expect(try library.keys("Tag", "name == 'red'") == [3])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func anUpdateReplacesValuesAndRaisesTheVersion(_ store: SpecifiedStore) throws {  // I1
        try store.check { library in
            try library.insert(
                library.insertion("Tag", 1, ["name": .string("red"), "heft": .integer(1)]), library.insertion("Tag", 2))
            try library.save {
                $0.updates = [
                    library.update(
                        "Tag", 1, ["name": .string("red"), "heft": .integer(1)], ["heft": .integer(2)])
                ]
            }
            let row = try #require(try library.rows(library.plan("Tag")).first { $0.primaryKey == 1 })
            #expect(row.version == 2)
            #expect(library.value("name", of: row) == .null)
            #expect(library.value("heft", of: row) == .integer(2))
            #expect(try library.row("Tag", 2)?.version == 1)
            #expect(try library.keys("Tag", "name == 'red'") == [])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func anUpdateMayRaiseTheVersionAlone(_ store: SpecifiedStore) throws {  // D10
        try store.check { library in
            try library.insert(library.insertion("Tag", 1, ["name": .string("red")]))
            let old = try #require(try library.row("Tag", 1))
            try library.save {
                $0.updates = [library.update("Tag", 1, ["name": .string("red")], ["name": .string("red")])]
            }
            let new = try #require(try library.row("Tag", 1))
            #expect(old.version == 1 && new.version == 2)
            #expect(library.value("name", of: new) == .string("red"))
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aDeletedRowIsGone(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(library.insertion("Tag", 1), library.insertion("Tag", 2))
            try library.save { $0.deletions = [library.deletion("Tag", 1)] }
            #expect(try library.keys("Tag") == [2])
            #expect(try library.row("Tag", 1) == nil)
            #expect(library.source.cachedRow(1, root: library.root("Tag"), staleness: -1)?.snapshot() == nil)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func toDeleteWhatIsGoneIsNoFailure(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.save { changes in
                changes.deletions = [library.deletion("Tag", 1)]
                changes.insertions = [library.insertion("Tag", 2)]
            }
            #expect(try library.keys("Tag") == [2])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func oneSaveDoesEverythingAtOnce(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(
                library.insertion("Author", 1, ["name": .string("Ann")]), library.insertion("Tag", 1),
                library.insertion("Book", 1, ["author": library.reference("Author", 1)]))
            try library.save { changes in
                changes.insertions = [library.insertion("Novel", 2, ["author": library.reference("Author", 1)])]
                changes.updates = [
                    library.update("Author", 1, ["name": .string("Ann")], ["name": .string("Anna")])
                ]
                changes.deletions = [library.deletion("Book", 1)]
                changes.links = [library.link(.insert, "Novel", "tags", 2, 1, order: 1024)]
                changes.checks = [.init(key: library.key("Tag", 1), version: 1)]
            }
            #expect(try library.value("name", of: "Author", 1) == .string("Anna"))
            #expect(try library.members("Author", "books", 1) == [[2]])
            #expect(try library.members("Tag", "books", 1) == [[2]])
            #expect(try library.row("Tag", 1)?.version == 1)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func changesAreMadeOnceWithTheirKeys(_ store: SpecifiedStore) throws {
        try store.check { library in
            let (tag, book) = (library.root("Tag"), library.root("Book"))
            var calls: [[Int: ClosedRange<Int64>]] = []
            let outcome = try library.source.save(keys: [tag: 2, book: 1]) { keys in
                calls.append(keys)
                var changes = ChangeSet()
                changes.insertions =
                    (keys[tag].map(Array.init) ?? []).map { library.insertion("Tag", $0) }
                    + (keys[book].map(Array.init) ?? []).map { library.insertion("Comic", $0) }
                return changes
            }
            // Where all entities have one range of keys, who is asked first is by chance.
            let given = try #require(calls.first)
            #expect(calls.count == 1 && outcome.keys == given)
            let (tags, books) = (try #require(given[tag]), try #require(given[book]))
            #expect(given.count == 2 && tags.count == 2 && books.count == 1)
            if store.has(.rangesOfKeys) {
                #expect(tags.lowerBound == store.firstKey && books.lowerBound == store.firstKey)
            } else {
                #expect(!tags.overlaps(books) && min(tags.lowerBound, books.lowerBound) == store.firstKey)
                #expect(max(tags.upperBound, books.upperBound) == store.firstKey + 2)
            }
            #expect(outcome.derivedRows.isEmpty)
            #expect(try library.keys("Tag") == Array(tags))
            #expect(try library.keys("Book") == Array(books))
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func rowsByKeyComeInTheOrderOfTheKeys(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.save { $0.insertions = (1...5).map { library.insertion("Tag", $0) } }
            let rows = try library.source.heldRows([4, 99, 2, 5, 2], root: library.root("Tag"), staleness: -1)
            let keys = rows.indices.map { rows.hasRow($0) ? rows.view($0).primaryKey : nil }
            #expect(keys == [4, nil, 2, 5, 2])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func manyRowsAreSavedAtOnce(_ store: SpecifiedStore) throws {
        try store.check { library in
            let count: Int64 = 3000
            try library.save {
                $0.insertions = (1...count).map { library.insertion("Tag", $0, ["heft": .integer($0 % 7)]) }
            }
            #expect(try library.source.count(library.plan("Tag")) == Int(count))
            #expect(try library.rows(library.plan("Tag")).count == Int(count))
            let rows = try library.source.heldRows(Array(1...count + 50), root: library.root("Tag"), staleness: -1)
            #expect(rows.indices.filter { rows.hasRow($0) }.count == Int(count))
            try library.save { changes in
                changes.updates = (1...1000).map {
                    library.update("Tag", $0, ["heft": .integer($0 % 7)], ["heft": .integer(100)])
                }
                changes.deletions = (2001...count).map { library.deletion("Tag", $0) }
            }
            #expect(try library.source.count(library.plan("Tag", "heft == 100")) == 1000)
            #expect(try library.keys("Tag") == Array(1...2000))
            let few = try library.keys("Tag", by: "-heft", "-self", offset: 999, limit: 2)
            #expect(few.first == 1)
            let keys = (500...5000).map { Constant.key(library.key("Tag", $0)) }
            let selves = try library.plan("Tag", "SELF IN %@", [.constant(.collection(keys, isOrdered: true))])
            #expect(try library.source.count(selves) == 1501)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func whoReadsKeepsItsRowsWhileSomebodySaves(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.save { $0.insertions = (1...3).map { library.insertion("Tag", $0, ["name": .string("old")]) } }
            var seen: [RowSnapshot] = []
            try library.source.fetchRows(library.plan("Tag")) { rows in seen += rows }
            try library.save {
                $0.updates = (1...3).map {
                    library.update("Tag", $0, ["name": .string("old")], ["name": .string("new")])
                }
            }
            #expect(seen.map(\.version) == [1, 1, 1])
            #expect(seen.map { library.value("name", of: $0) } == Array(repeating: .string("old"), count: 3))
            #expect(try library.row("Tag", 2)?.version == 2)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func severalThreadsReadWhileOneSaves(_ store: SpecifiedStore) throws {
        try store.check { library in
            // Every save writes two rows that always have the same value: no reader may see one without the other.
            try library.insert(
                library.insertion("Tag", 1, ["heft": .integer(0)]), library.insertion("Tag", 2, ["heft": .integer(0)]))
            let reader = Reader(library)
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                if index == 0 { reader.write(40) } else { reader.read(60) }
            }
            #expect(reader.problems.isEmpty, "\(reader.problems)")
            #expect(try library.value("heft", of: "Tag", 1) == .integer(40))
        }
    }

    private final class Reader: @unchecked Sendable {
        // Safe because sources are, and `problems` has a lock.
        private let library: SpecifiedSource
        private let plan: FetchPlan
        private let lock = NSLock()
        private var found: [String] = []
        var problems: [String] { lock.withLock { found } }

        init(_ library: SpecifiedSource) {
            self.library = library
            plan = FetchPlan(entity: library.entity("Tag").ordinal)
        }

        private func note(_ problem: String) { lock.withLock { found.append(problem) } }

        func read(_ count: Int) {
            for _ in 0..<count {
                do {
                    var values: [Int64] = []
                    let heft = [try library.column("heft")]
                    try library.source.forEachTuple(plan, columns: heft, distinct: false, groupBy: [], having: nil) {
                        if case .integer(let value) = $0[0] { values.append(value) }
                    }
                    if values.count != 2 || values[0] != values[1] { note("\(values)") }
                } catch { note("\(error)") }
            }
        }

        func write(_ count: Int) {
            for index in 0..<Int64(count) {
                do {
                    try library.save {
                        $0.updates = (1...2).map {
                            library.update(
                                "Tag", $0, version: Int32(index + 1), ["heft": .integer(index)],
                                ["heft": .integer(index + 1)])
                        }
                    }
                } catch { note("\(error)") }
            }
        }
    }

    // MARK: Opening again

    @Test(arguments: SpecifiedStore.having(.rows, .reopening))
    func everythingIsThereAfterReopening(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(
                library.insertion("Author", 1, ["name": .string("Ann")]), library.insertion("Tag", 4),
                library.insertion("Novel", 2, ["author": library.reference("Author", 1), "genre": .string("Crime")]))
            try library.save { $0.links = [library.link(.insert, "Book", "tags", 2, 4, order: 2048)] }
            let before = try library.dump()
            try library.reopen()
            #expect(try library.dump() == before)
            #expect(try library.source.allocateKeys(root: library.root("Tag"), count: 1).lowerBound > 4)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows, .reopening))
    func aStoreForReadingRefusesToSave(_ store: SpecifiedStore) throws {  // H9
        try store.check { library in
            try library.insert(library.insertion("Tag", 1))
            let before = try library.dump()
            try library.reopen(isReadOnly: true)
            #expect(library.source.isReadOnly)
            let failure = library.failure { $0.insertions = [library.insertion("Tag", 2)] } as? StoreFailure
            #expect(failure?.kind == .readOnly)
            #expect(throws: StoreFailure.self) {
                try library.source.allocateKeys(root: library.root("Tag"), count: 1)
            }
            #expect(try library.dump() == before)
        }
    }
}
