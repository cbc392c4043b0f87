import CoreDataPrimitives
import Testing

@testable import CoreDataStore

@Suite struct RowCacheTests {
    /// Entities 0 and 1 share root 0; entity 2 is a root.
    let cache = RowCache(roots: [0, 0, 2])

    func row(_ key: Int64, version: Int32 = 1, entity: Int = 0) -> RowSnapshot {
        let builder = RowBuilder(columnCount: 1)
        builder.setText("row \(key) at \(version)", at: 0)
        return builder.finish(primaryKey: key, version: version, entity: entity)
    }

    func insertion(_ row: RowSnapshot) -> ChangeSet {
        var changes = ChangeSet()
        changes.insertions = [ChangeSet.Insertion(row: row)]
        return changes
    }

    @Test func aKnownRowAtTheSameVersionIsTheKnownInstance() throws {
        var first = [row(1), row(2)]
        cache.adopt(&first, at: 10)
        var second = [row(2), row(3)]
        cache.adopt(&second, at: 20)
        #expect(second[0].isIdentical(to: first[1]))
        #expect(cache.count == 3)
        #expect(try #require(cache.row(root: 0, primaryKey: 1)).isIdentical(to: first[0]))
    }

    /// Whoever never asks for an age does not pay for it.
    @Test func timesAreKeptOnceSomebodyAsks() {
        var rows = [row(1), row(2)]
        cache.adopt(&rows, at: 5)
        #expect(cache.row(root: 0, primaryKey: 1, after: 1) == nil)
        cache.adopt(&rows, at: 10)
        var newer = [row(2)]
        cache.adopt(&newer, at: 20)
        #expect(cache.row(root: 0, primaryKey: 1, after: 9.5) != nil)
        #expect(cache.row(root: 0, primaryKey: 1, after: 10) == nil)
        #expect(cache.row(root: 0, primaryKey: 2, after: 19) != nil)
        cache.replace(with: insertion(row(1, version: 2)), at: 30)
        #expect(cache.row(root: 0, primaryKey: 1, after: 29)?.version == 2)
    }

    @Test func aNewerRowReplacesAndAnOlderDoesNot() throws {
        var old = [row(1, version: 2)]
        cache.adopt(&old, at: 1)
        var newer = [row(1, version: 3)]
        cache.adopt(&newer, at: 2)
        #expect(cache.row(root: 0, primaryKey: 1)?.version == 3)
        var older = [row(1, version: 2)]
        cache.adopt(&older, at: 3)
        #expect(older[0].version == 2)
        #expect(cache.row(root: 0, primaryKey: 1)?.version == 3)
    }

    @Test func entitiesOfOneRootShareKeysAndRootsDoNot() {
        var rows = [row(1, entity: 1), row(1, entity: 2)]
        cache.adopt(&rows, at: 1)
        #expect(cache.row(root: 0, primaryKey: 1)?.entity == 1)
        #expect(cache.row(root: 2, primaryKey: 1)?.entity == 2)
        cache.remove([RowKey(entity: 1, primaryKey: 1)])
        #expect(cache.row(root: 0, primaryKey: 1) == nil)
        #expect(cache.count == 1)
    }

    @Test func aSaveReplacesWhateverTheVersion() {
        cache.replace(with: insertion(row(1, version: 5)), at: 1)
        cache.replace(with: insertion(row(1, version: 4)), at: 2)
        #expect(cache.row(root: 0, primaryKey: 1)?.version == 4)
        #expect(cache.row(root: 0, primaryKey: 9) == nil)
        cache.removeAll()
        #expect(cache.count == 0)
    }

    /// Rows that one thread reads stay whole while another drops them from the cache.
    @Test func rowsMayGoWhileTheyAreRead() async {
        let cache = RowCache(roots: [0, 0, 2])
        async let reading = Task.detached {
            var isWhole = true
            for _ in 0..<20_000 {
                if let row = cache.row(root: 0, primaryKey: 1) { isWhole = isWhole && row.primaryKey == 1 }
            }
            return isWhole
        }.value
        for version in Int32(1)...20_000 {
            cache.replace(with: insertion(row(1, version: version)), at: 1)
            cache.remove([RowKey(entity: 0, primaryKey: 1)])
        }
        #expect(await reading)
    }

    @Test func onlyARowThatNobodyHoldsIsReleased() throws {
        var rows = [row(1), row(2)]
        cache.adopt(&rows, at: 1)
        let words = rows.map { $0.retainedWord() }
        RowSnapshot.retain(words[0])
        rows = []
        for (key, word) in zip(Int64(1)..., words) { cache.giveUp(word, root: 0, primaryKey: key) }
        cache.giveUp(0, root: 0, primaryKey: 3)
        #expect(cache.row(root: 0, primaryKey: 1)?.retainedWord() == words[0])
        RowSnapshot.release(words[0])
        #expect(cache.row(root: 0, primaryKey: 2) == nil)
        #expect(cache.count == 1)
        cache.giveUp(words[0], root: 0, primaryKey: 1)
        #expect(cache.count == 0)
    }

    @Test func adoptedRowsOfTheStoreAreOneInstance() throws {
        let store = try BookshopStore { store in
            store.insert("Tag", 1, ["name": .text("a")])
            store.insert("Tag", 2, [:])
        }
        var first = Array(try store.engine.rows(Bookshop.plan("Tag")))
        store.engine.rowCache.adopt(&first, at: 1)
        let second = try store.engine.rows(forKeys: [2, 1], root: Bookshop.ordinal("Tag"))
        store.engine.rowCache.adopt(second, at: 2)
        #expect(second.allSatisfy { row in first.contains { $0.isIdentical(to: row) } })
    }
}

extension RowCache {
    fileprivate func row(root: Int, primaryKey: Int64, after time: Double) -> RowSnapshot? {
        let word = heldWord(root: root, primaryKey: primaryKey, after: time)
        return word == 0 ? nil : RowSnapshot(taking: word)
    }
}
