import CoreDataPrimitives
import Foundation

// Rows that contexts share: read when they are not in memory, or too old.
extension StoreEngine: RowSource {
    package func includes(entity: Int) -> Bool { layout.entities[entity] != nil }

    package func root(ofEntity entity: Int) -> Int { model.entities[entity].root }

    package func number(ofEntity entity: Int) -> Int64 { layout.entities[entity]?.number ?? 0 }

    package func entity(numbered number: Int64) -> Int? { layout.ordinalByNumber[number] }

    package func cachedWord(_ primaryKey: Int64, root: Int, staleness: Double) -> UInt {
        staleness < 0
            ? rowCache.heldWord(root: root, primaryKey: primaryKey)
            : rowCache.heldWord(root: root, primaryKey: primaryKey, after: Self.now - staleness)
    }

    package func rowWord(_ primaryKey: Int64, root: Int, staleness: Double) throws -> UInt {
        let cached = cachedWord(primaryKey, root: root, staleness: staleness)
        if cached != 0 { return cached }
        let moment = rowCache.moment
        let word = try rowWord(primaryKey, root: root)
        guard word != 0 else {
            rowCache.remove([RowKey(entity: root, primaryKey: primaryKey)])
            return 0
        }
        return rowCache.adopt(word: word, readSince: moment, at: Self.now)
    }

    package func rowWords(_ primaryKeys: [Int64], root: Int, staleness: Double) throws -> [UInt] {
        var words = primaryKeys.map { cachedWord($0, root: root, staleness: staleness) }
        let missing = primaryKeys.indices.filter { words[$0] == 0 }
        guard !missing.isEmpty else { return words }
        do {
            let moment = rowCache.moment
            let rows = try rows(forKeys: missing.map { primaryKeys[$0] }, root: root)
            rowCache.adopt(rows, readSince: moment, at: Self.now)
            let read = KeyTable()
            for index in rows.indices { read.set(RowView(word: rows.word(index)).primaryKey, UInt(index + 1)) }
            for index in missing {
                let place = Int(read.word(primaryKeys[index])) - 1
                guard place >= 0 else {
                    rowCache.remove([RowKey(entity: root, primaryKey: primaryKeys[index])])
                    continue
                }
                words[index] = rows.word(place)
                RowSnapshot.retain(words[index])
            }
            return words
        } catch {
            for word in words { RowSnapshot.release(word) }
            throw error
        }
    }

    package func close() {
        rowCache.removeAll()
        database.close()
    }

    static var now: Double { Date().timeIntervalSinceReferenceDate }
}
