import CoreDataPrimitives
import Foundation

// The rows that contexts share, which are read if they are not cached or stale.
extension StoreEngine: RowSource {
    package var traits: SourceTraits { SourceTraits(isRemote: dialect.isRemote) }

    package func includes(entity: Int) -> Bool { layout.entities[entity] != nil }

    package func root(ofEntity entity: Int) -> Int { model.entities[entity].root }

    package func number(ofEntity entity: Int) -> Int64 { layout.entities[entity]?.number ?? 0 }

    package func entity(numbered number: Int64) -> Int? { layout.ordinalByNumber[number] }

    package func cachedRow(_ primaryKey: Int64, root: Int, staleness: Double) -> HeldRow? {
        if staleness < 0 { return rowCache.heldRow(root: root, primaryKey: primaryKey) }
        return rowCache.heldRow(root: root, primaryKey: primaryKey, after: clock.now - staleness)
    }

    package func heldRow(_ primaryKey: Int64, root: Int, staleness: Double) throws -> HeldRow? {
        if let cached = cachedRow(primaryKey, root: root, staleness: staleness) { return cached }
        let moment = rowCache.moment
        guard let row = try heldRow(primaryKey, root: root) else {
            rowCache.remove([RowKey(entity: root, primaryKey: primaryKey)])
            return nil
        }
        return rowCache.adopt(row, readSince: moment, at: clock.now)
    }

    package func heldRows(_ primaryKeys: [Int64], root: Int, staleness: Double) throws -> RowList {
        let found = RowList()
        for key in primaryKeys { found.append(cachedRow(key, root: root, staleness: staleness)) }
        let missing = primaryKeys.indices.filter { !found.hasRow($0) }
        guard !missing.isEmpty else { return found }
        let moment = rowCache.moment
        let rows = try rows(forKeys: missing.map { primaryKeys[$0] }, root: root)
        rowCache.adopt(rows, readSince: moment, at: clock.now)
        let read = KeyTable()
        for index in rows.indices { read.set(rows.view(index).primaryKey, UInt(index + 1)) }
        for index in missing {
            let place = Int(read.word(primaryKeys[index])) - 1
            guard place >= 0 else {
                rowCache.remove([RowKey(entity: root, primaryKey: primaryKeys[index])])
                continue
            }
            found.put(HeldRow(rows[place]), at: index)
        }
        return found
    }

    package func close() {
        rowCache.removeAll()
        database.close()
    }
}
