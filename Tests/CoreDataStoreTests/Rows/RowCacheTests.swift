import CoreDataPrimitives
import Testing

@testable import CoreDataStore

@Suite struct RowCacheTests {
    /// Entities 0 and 1 share root 0; entity 2 is a root.
    let cache = RowCache(roots: [0, 0, 2], kinds: [[.text], [.text], [.text]])

    func row(_ key: Int64, version: Int32 = 1, entity: Int = 0, _ mark: String = "") -> RowSnapshot {
        let builder = RowBuilder(columnCount: 1)
        builder.setText("row \(key) at \(version)\(mark)", at: 0)
        return builder.finish(primaryKey: key, version: version, entity: entity)
    }

    func insertion(_ row: RowSnapshot) -> ChangeSet {
        var changes = ChangeSet()
        changes.insertions = [ChangeSet.Insertion(row: row)]
        return changes
    }

    @Test func aKnownRowAtTheSameVersionIsTheKnownInstance() throws {
        var first = [row(1), row(2)]
        cache.adopt(&first, readSince: cache.moment, at: 10)
        var second = [row(2), row(3)]
        cache.adopt(&second, readSince: cache.moment, at: 20)
        #expect(second[0].isIdentical(to: first[1]))
        #expect(cache.count == 3)
        #expect(try #require(cache.row(root: 0, primaryKey: 1)).isIdentical(to: first[0]))
    }

    /// Whoever never asks for an age does not pay for it.
    @Test func timesAreKeptOnceSomebodyAsks() {
        var rows = [row(1), row(2)]
        cache.adopt(&rows, readSince: cache.moment, at: 5)
        #expect(cache.row(root: 0, primaryKey: 1, after: 1) == nil)
        cache.adopt(&rows, readSince: cache.moment, at: 10)
        var newer = [row(2)]
        cache.adopt(&newer, readSince: cache.moment, at: 20)
        #expect(cache.row(root: 0, primaryKey: 1, after: 9.5) != nil)
        #expect(cache.row(root: 0, primaryKey: 1, after: 10) == nil)
        #expect(cache.row(root: 0, primaryKey: 2, after: 19) != nil)
        cache.commit(insertion(row(1, version: 2)), changedByStore: [], at: 30)
        #expect(cache.row(root: 0, primaryKey: 1, after: 29)?.version == 2)
    }

    @Test func aNewerRowReplacesAndAnOlderDoesNot() throws {
        var old = [row(1, version: 2)]
        cache.adopt(&old, readSince: cache.moment, at: 1)
        var newer = [row(1, version: 3)]
        cache.adopt(&newer, readSince: cache.moment, at: 2)
        #expect(cache.row(root: 0, primaryKey: 1)?.version == 3)
        var older = [row(1, version: 2)]
        cache.adopt(&older, readSince: cache.moment, at: 3)
        #expect(older[0].version == 2)
        #expect(cache.row(root: 0, primaryKey: 1)?.version == 3)
    }

    @Test func entitiesOfOneRootShareKeysAndRootsDoNot() {
        var rows = [row(1, entity: 1), row(1, entity: 2)]
        cache.adopt(&rows, readSince: cache.moment, at: 1)
        #expect(cache.row(root: 0, primaryKey: 1)?.entity == 1)
        #expect(cache.row(root: 2, primaryKey: 1)?.entity == 2)
        cache.remove([RowKey(entity: 1, primaryKey: 1)])
        #expect(cache.row(root: 0, primaryKey: 1) == nil)
        #expect(cache.count == 1)
    }

    @Test func aSavePutsItsRowsHereAndDropsWhatTheStoreChanged() {
        cache.commit(insertion(row(1, version: 4)), changedByStore: [], at: 1)
        cache.commit(insertion(row(1, version: 5)), changedByStore: [], at: 2)
        #expect(cache.row(root: 0, primaryKey: 1)?.version == 5)
        #expect(cache.row(root: 0, primaryKey: 9) == nil)
        cache.commit(insertion(row(2)), changedByStore: [RowKey(entity: 0, primaryKey: 1)], at: 3)
        #expect(cache.row(root: 0, primaryKey: 1) == nil)
        cache.removeAll()
        #expect(cache.count == 0)
    }

    /// A reader that began before a save may come after the saved row was given up: its row is older than one that was here.
    @Test(arguments: [false, true])
    func whatWasReadBeforeASaveIsNotTakenInAfterIt(asWord: Bool) {
        let moment = cache.moment
        var changes = insertion(row(1, version: 2))
        changes.deletions = [ChangeSet.Deletion(key: RowKey(entity: 0, primaryKey: 2), version: 1)]
        cache.commit(changes, changedByStore: [], at: 1)
        cache.remove([RowKey(entity: 0, primaryKey: 1)])
        if asWord {
            #expect(cache.adopt(HeldRow(row(1)), readSince: moment, at: 2)?.snapshot().primaryKey == 1)
        } else {
            var rows = [row(1), row(2), row(3)]
            cache.adopt(&rows, readSince: moment, at: 2)
            #expect(rows.map(\.primaryKey) == [1, 2, 3])
        }
        #expect(cache.count == 0)
        var rows = [row(1, version: 2)]
        cache.adopt(&rows, readSince: cache.moment, at: 3)
        #expect(cache.row(root: 0, primaryKey: 1)?.version == 2)
    }

    /// What is here, what the context knew, what was read (0: gone), whether somebody saved meanwhile; what is here then.
    @Test(arguments: [
        (1, 1, 3, false, 3), (1, 1, 3, true, 3), (3, 1, 3, false, 3), (0, 1, 3, false, 3), (0, 1, 3, true, 0),
        (1, 1, 0, false, 0), (2, 1, 0, true, 0), (4, 4, 2, true, 2), (5, 4, 2, false, 2), (5, 4, 2, true, 5),
    ])
    func aConflictPutsRight(here: Int32, known: Int32, read: Int32, isLate: Bool, then: Int32) {
        if here > 0 { cache.commit(insertion(row(1, version: here)), changedByStore: [], at: 1) }
        let moment = cache.moment
        if isLate { cache.commit(insertion(row(2)), changedByStore: [], at: 2) }
        let before = cache.correct(
            RowKey(entity: 1, primaryKey: 1), knownAt: known, by: read > 0 ? row(1, version: read) : nil,
            readSince: moment, at: 3)
        #expect(before?.version ?? 0 == here)
        #expect(cache.row(root: 0, primaryKey: 1)?.version ?? 0 == then)
    }

    /// Rows that one thread reads stay whole while another drops them from the cache.
    @Test func rowsMayGoWhileTheyAreRead() async {
        let cache = RowCache(roots: [0, 0, 2], kinds: [[.text], [.text], [.text]])
        async let reading = Task.detached {
            var isWhole = true
            for _ in 0..<20_000 {
                if let row = cache.row(root: 0, primaryKey: 1) { isWhole = isWhole && row.primaryKey == 1 }
            }
            return isWhole
        }.value
        for version in Int32(1)...20_000 {
            cache.commit(insertion(row(1, version: version)), changedByStore: [], at: 1)
            cache.remove([RowKey(entity: 0, primaryKey: 1)])
        }
        #expect(await reading)
    }

    @Test func onlyARowThatNobodyHoldsIsReleased() throws {
        var rows = [row(1), row(2)]
        cache.adopt(&rows, readSince: cache.moment, at: 1)
        let words = rows.map { $0.retainedWord() }
        RowSnapshot.retain(words[0])
        rows = []
        for (key, word) in zip(Int64(1)..., words) { cache.giveUp(HeldRow(word: word), root: 0, primaryKey: key) }
        cache.giveUp(nil, root: 0, primaryKey: 3)
        #expect(cache.row(root: 0, primaryKey: 1)?.retainedWord() == words[0])
        RowSnapshot.release(words[0])
        #expect(cache.row(root: 0, primaryKey: 2) == nil)
        #expect(cache.count == 1)
        cache.giveUp(HeldRow(word: words[0]), root: 0, primaryKey: 1)
        #expect(cache.count == 0)
    }

    /// A trigger or another program wrote it: which row is newer nobody can tell.
    @Test func aRowOfTheSameVersionWithOtherValuesIsForgotten() {
        var first = [row(1), row(2)]
        cache.adopt(&first, readSince: cache.moment, at: 1)
        let slow = cache.moment
        var second = [row(1, "!"), row(2)]
        cache.adopt(&second, readSince: cache.moment, at: 2)
        #expect(second[0].text(0) == "row 1 at 1!", "who read it has what was read")
        #expect(second[1].isIdentical(to: first[1]))
        #expect(cache.row(root: 0, primaryKey: 1) == nil)
        // Who began to read before does not bring the old row back.
        var late = [row(1)]
        cache.adopt(&late, readSince: slow, at: 3)
        #expect(cache.row(root: 0, primaryKey: 1) == nil)
        cache.adopt(&second, readSince: cache.moment, at: 4)
        #expect(cache.row(root: 0, primaryKey: 1)?.text(0) == "row 1 at 1!")
        #expect(
            cache.correct(
                RowKey(entity: 0, primaryKey: 1), knownAt: 1, by: row(1, "?"), readSince: cache.moment, at: 5) != nil)
        #expect(cache.row(root: 0, primaryKey: 1) == nil)
    }

    /// A row that was made of another for a save has its texts in other places than one that was read.
    @Test func aRowWithTheSameValuesInOtherPlacesIsTheSame() {
        let kinds: [ColumnKind] = [.text, .blob, .integer]
        let cache = RowCache(roots: [0], kinds: [kinds])
        let builder = RowBuilder(columnCount: 3)
        builder.setText("Emma", at: 0)
        builder.setInteger(3, at: 2)
        let old = builder.finish(primaryKey: 1, version: 1, entity: 0)
        old.withView { view in kinds.withUnsafeBufferPointer { builder.copy(view, kinds: $0) } }
        builder.setText("Ema", at: 0)
        var rows = [builder.finish(primaryKey: 1, version: 2, entity: 0)]
        cache.adopt(&rows, readSince: cache.moment, at: 1)
        builder.setText("Ema", at: 0)
        builder.setInteger(3, at: 2)
        var read = [builder.finish(primaryKey: 1, version: 2, entity: 0)]
        cache.adopt(&read, readSince: cache.moment, at: 2)
        #expect(read[0].isIdentical(to: rows[0]))
    }

    @Test func adoptedRowsOfTheStoreAreOneInstance() throws {
        let store = try BookshopStore { store in
            store.insert("Tag", 1, ["name": .text("a")])
            store.insert("Tag", 2, [:])
        }
        var first = Array(try store.engine.rows(Bookshop.plan("Tag")))
        store.engine.rowCache.adopt(&first, readSince: store.engine.rowCache.moment, at: 1)
        let second = try store.engine.rows(forKeys: [2, 1], root: Bookshop.ordinal("Tag"))
        store.engine.rowCache.adopt(second, readSince: store.engine.rowCache.moment, at: 2)
        #expect(second.allSatisfy { row in first.contains { $0.isIdentical(to: row) } })
    }
}

extension RowCache {
    fileprivate func row(root: Int, primaryKey: Int64, after time: Double) -> RowSnapshot? {
        heldRow(root: root, primaryKey: primaryKey, after: time)?.snapshot()
    }
}
