import Foundation
import GRDB
import Measuring
import Sides

/// GRDB with hand-written records, which is what a Swift program off Apple's platforms would otherwise use.
struct GRDBSide: Side {
    let name = SideName.grdb

    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            try database.execute(
                sql: "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536")
        }
        return configuration
    }

    static func open(_ store: URL) throws -> DatabaseQueue {
        try DatabaseQueue(path: store.path, configuration: configuration)
    }

    func trial(_ workload: Workload, store: URL, rows: Int) throws -> Trial? {
        if workload == .open { return openingTrial(store) }
        let queue = try Self.open(store)
        guard let run = try work(workload, queue, rows: rows) else {
            try queue.close()
            return nil
        }
        return Trial(run: run, finish: { try queue.close() })
    }

    private func work(_ workload: Workload, _ queue: DatabaseQueue, rows: Int) throws -> (() throws -> Digest)? {
        switch workload {
        case .insert, .update, .delete, .saveEach, .saveEachOwned:
            return try writing(workload, queue, rows: rows)
        case .fetchAll:
            return { try queue.read { try Self.digest(ItemRecord.fetchAll($0)) } }
        case .fetchPage, .fetchPageIndexed:
            return {
                try queue.read { database in
                    let request =
                        ItemRecord
                        .filter(ItemRecord.Columns.listed == true && ItemRecord.Columns.quantity >= 20)
                        .order(ItemRecord.Columns.name).limit(20)
                    return try Self.digest(request.fetchAll(database))
                }
            }
        case .fetchKeys:
            let keys = Samples.shuffledPositions(rows).map { Int64($0 + 1) }
            return {
                try queue.read { database in
                    try Self.digest(keys.compactMap { try ItemRecord.fetchOne(database, key: $0) })
                }
            }
        case .prefetch:
            return {
                try queue.read { database in
                    let request = ItemRecord.including(optional: ItemRecord.home)
                    var digest = Digest()
                    for item in try ItemWithHome.fetchAll(database, request) {
                        digest.rows += 1
                        digest.bytes += item.home?.storedIn.utf8.count ?? 0
                    }
                    return digest
                }
            }
        case .count:
            return {
                try queue.read { database in
                    let request =
                        ItemRecord
                        .filter(ItemRecord.Columns.listed == true && ItemRecord.Columns.quantity >= 20)
                    return try Digest(rows: request.fetchCount(database), number: 0, bytes: 0)
                }
            }
        case .dictionaries:
            return { try queue.read(Self.pairs) }
        case .fetchRegistered, .open, .decodedRows, .tuples, .rows, .insertRecorded, .updateRecorded, .deleteRecorded,
            .saveEachRecorded:
            return nil
        }
    }

    private static func pairs(_ database: Database) throws -> Digest {
        var digest = Digest()
        let request = ItemRecord.select(ItemRecord.Columns.name, ItemRecord.Columns.quantity)
        for row in try Row.fetchAll(database, request) {
            let name: String = row["ZNAME"]
            let quantity: Double = row["ZQUANTITY"]
            digest.rows += 1
            digest.bytes += name.utf8.count
            digest.number += quantity
        }
        return digest
    }

    private func writing(
        _ workload: Workload, _ queue: DatabaseQueue, rows: Int
    ) throws -> (() throws -> Digest) {
        switch workload {
        case .insert:
            let samples = Samples.items(from: 1, count: rows, rows: rows)
            return {
                try queue.write { database in
                    var key = try Self.takeKeys(samples.count, database)
                    for sample in samples {
                        try ItemRecord(sample, key: key).insert(database)
                        key += 1
                    }
                }
                return Digest()
            }
        case .saveEach, .saveEachOwned:
            let samples = Samples.items(from: rows + 1, count: Workload.saves, rows: rows)
            return {
                for sample in samples {
                    try queue.write { database in
                        try ItemRecord(sample, key: Self.takeKeys(1, database)).insert(database)
                        if workload.raisesOwners { try Self.raiseOwners(of: sample, database) }
                    }
                }
                return Digest()
            }
        case .update:
            var records = try queue.read { try ItemRecord.fetchAll($0) }
            return {
                for index in records.indices {
                    records[index].quantity += 1
                    records[index].version += 1
                }
                let changed = records
                try queue.write { database in
                    for record in changed { try record.update(database) }
                }
                return Digest()
            }
        default:
            let records = try queue.read { try ItemRecord.fetchAll($0) }
            return {
                try queue.write { database in
                    for record in records { try record.delete(database) }
                }
                return Digest()
            }
        }
    }

    /// Takes keys out of Z_PRIMARYKEY, as every writer of such a store must; the first of them.
    static func takeKeys(_ count: Int, _ database: Database) throws -> Int64 {
        let read = try database.cachedStatement(sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 1")
        let highest = try Int64.fetchOne(read) ?? 0
        let write = try database.cachedStatement(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = 1")
        try write.execute(arguments: [highest + Int64(count)])
        return highest + 1
    }

    /// Raises the versions of what the item refers to, with the statements that GRDB keeps.
    private static func raiseOwners(of sample: ItemValues, _ database: Database) throws {
        for (table, key) in [
            ("ZLOCATIONATHOME", sample.home), ("ZLOCATIONATSHOP", sample.shop), ("ZUNIT", sample.unit),
        ] {
            let raise = try database.cachedStatement(sql: "UPDATE \(table) SET Z_OPT = Z_OPT + 1 WHERE Z_PK = ?")
            try raise.execute(arguments: [key])
        }
    }

    private func openingTrial(_ store: URL) -> Trial {
        var opened: DatabaseQueue?
        return Trial(
            run: {
                let queue = try Self.open(store)
                opened = queue
                return try queue.read { database in
                    _ = try Row.fetchOne(database, sql: "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA")
                    return try Self.digest(ItemRecord.limit(20).fetchAll(database))
                }
            },
            reset: {
                try opened?.close()
                opened = nil
            },
            finish: {})
    }

    /// Reads what every fetch of items reads: name, quantity, listed.
    static func digest(_ items: [ItemRecord]) -> Digest {
        var digest = Digest()
        for item in items {
            digest.rows += 1
            digest.number += item.quantity + (item.listed ? 1 : 0)
            digest.bytes += item.name.utf8.count
        }
        return digest
    }

    func hold(_ kind: ObjectKind, store: URL, rows: Int) throws -> Holding? {
        guard kind == .realised else { return nil }
        let queue = try Self.open(store)
        var records: [ItemRecord] = []
        return Holding(
            make: {
                records = try queue.read { try ItemRecord.fetchAll($0) }
                return records.count
            },
            letGo: { records = [] })
    }
}
