// What SQLite alone takes to save one new object after another, when each has three to-ones whose owners' versions go up.
//
//     swiftc -O -I Sources/CSQLite docs/limits/saves-of-one-object.swift -o /tmp/saves-of-one-object
//     /tmp/saves-of-one-object               # processor time a save, 2,000 saves, the median of 9 rounds' ratios
//
// There are no objects here: prepared statements, run with values that are at hand. Plain C takes a key and inserts a row. A save
// also changes the version of each object on the other side of a relationship that changed (store-format §6), so that
// three more rows change, in three other tables: three more pages in the log for each commit.
//
// What it showed (Swift 6.3.1, Debian 12, SQLite 3.40.1, AMD EPYC, two processes):
//
//     plain C                       64773 ns   1.00          60493 ns   1.00
//     owners' versions too          88912 ns   1.36          83320 ns   1.38
//     the same, keys reserved       81222 ns   1.21          79662 ns   1.30
//
// and on an Intel Xeon at 2.80 GHz (the second one with other work beside it):
//
//     plain C                       55773 ns   1.00          75345 ns   1.00
//     owners' versions too          83337 ns   1.51         128358 ns   1.64
//     the same, keys reserved       73741 ns   1.26          99455 ns   1.48
//
// So no save of such an object costs 1.25 of plain C's. One that takes its keys thirty-two at a time, and so leaves gaps between them,
// would have nothing left for the objects.

import CSQLite
import Foundation

let rowCount = 100_000
let saveCount = 2_000

/// A file of the benchmarks' layout, and the statements of a save.
final class Store {
    let path: String
    var database: OpaquePointer?
    var statements: [String: OpaquePointer] = [:]
    var nextKey: Int64 = 0
    var reservedKeys: Int64 = 0

    init(_ name: String) {
        path = NSTemporaryDirectory() + "saves-of-one-object-\(getpid())-\(name).sqlite"
        precondition(sqlite3_open(path, &database) == 0)
        execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;
            CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOLLECTED INTEGER, ZLISTED INTEGER,
            ZLOCATIONATHOME INTEGER, ZLOCATIONATSHOP INTEGER, ZUNIT INTEGER, ZQUANTITY FLOAT, ZNAME VARCHAR, ZPHOTO BLOB );
            CREATE INDEX ZITEM_ZLOCATIONATHOME_INDEX ON ZITEM (ZLOCATIONATHOME);
            CREATE INDEX ZITEM_ZLOCATIONATSHOP_INDEX ON ZITEM (ZLOCATIONATSHOP);
            CREATE INDEX ZITEM_ZUNIT_INDEX ON ZITEM (ZUNIT);
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            INSERT INTO Z_PRIMARYKEY VALUES (1, 'Item', 0, \(rowCount));
            BEGIN;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount)) INSERT INTO ZITEM
            SELECT i, 1, 1, i % 5 = 0, i % 3 <> 0, 1 + i * 31 % \(rowCount / 10), 1 + i * 17 % \(rowCount / 100), 1 + i % 20,
            i * 37 % 100 * 0.25, printf('Item %07d', i), NULL FROM n;
            """)
        for (table, count) in [
            ("ZLOCATIONATHOME", rowCount / 10), ("ZLOCATIONATSHOP", rowCount / 100), ("ZUNIT", 20),
        ] {
            execute(
                """
                CREATE TABLE \(table) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) INSERT INTO \(table)
                SELECT i, 2, 1, printf('Shelf %06d', i) FROM n;
                """)
        }
        execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    deinit {
        for statement in statements.values { _ = sqlite3_finalize(statement) }
        _ = sqlite3_close(database)
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    func execute(_ sql: String) { precondition(sqlite3_exec(database, sql, nil, nil, nil) == 0, sql) }

    func run(_ sql: String, _ values: Int64...) {
        let statement = statement(sql)
        for (index, value) in values.enumerated() { _ = sqlite3_bind_int64(statement, Int32(index + 1), value) }
        precondition(sqlite3_step(statement) == 101, sql)
        _ = sqlite3_reset(statement)
    }

    func statement(_ sql: String) -> OpaquePointer? {
        if let known = statements[sql] { return known }
        var statement: OpaquePointer?
        precondition(sqlite3_prepare_v2(database, sql, -1, &statement, nil) == 0, sql)
        statements[sql] = statement
        return statement
    }

    /// One save: keys are taken `block` at a time.
    func save(changesOwners: Bool, block: Int64) {
        run("BEGIN IMMEDIATE")
        if reservedKeys == 0 {
            let query = statement("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 1")
            precondition(sqlite3_step(query) == 100)
            nextKey = sqlite3_column_int64(query, 0) + 1
            _ = sqlite3_reset(query)
            run("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = 1", nextKey + block - 1)
            reservedKeys = block
        }
        let key = nextKey
        nextKey += 1
        reservedKeys -= 1
        let owners = [
            ("ZLOCATIONATHOME", 1 + key * 31 % Int64(rowCount / 10)),
            ("ZLOCATIONATSHOP", 1 + key * 17 % Int64(rowCount / 100)), ("ZUNIT", 1 + key % 20),
        ]
        if changesOwners {
            for (table, owner) in owners { run("UPDATE \(table) SET Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", owner) }
        }
        let insert = statement("INSERT INTO ZITEM VALUES (?, 1, 1, 0, 1, ?, ?, ?, ?, ?, NULL)")
        _ = sqlite3_bind_int64(insert, 1, key)
        for (index, owner) in owners.enumerated() { _ = sqlite3_bind_int64(insert, Int32(index + 2), owner.1) }
        _ = sqlite3_bind_double(insert, 5, Double(key % 100) * 0.25)
        "Item 0000000".withCString { name in
            _ = sqlite3_bind_text(insert, 6, name, 12, nil)
            precondition(sqlite3_step(insert) == 101)
        }
        _ = sqlite3_reset(insert)
        run("COMMIT")
    }
}

func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

let ways: [(name: String, store: Store, changesOwners: Bool, block: Int64)] = [
    ("plain C", Store("plain"), false, 1),
    ("owners' versions too", Store("owners"), true, 1),
    ("the same, keys reserved", Store("reserved"), true, 32),
]
var times = ways.map { _ in [Double]() }
for round in 0...9 {
    for (index, way) in ways.enumerated() {
        let start = processorTime()
        for _ in 0..<saveCount { way.store.save(changesOwners: way.changesOwners, block: way.block) }
        // The first round only warms up.
        if round > 0 { times[index].append((processorTime() - start) / Double(saveCount)) }
    }
}
for (index, way) in ways.enumerated() {
    let ratios = zip(times[index], times[0]).map { $0 / $1 }.sorted()
    print(
        way.name.padding(toLength: 26, withPad: " ", startingAt: 0),
        String(format: "%8.0f ns   %.2f", times[index].sorted()[times[index].count / 2], ratios[ratios.count / 2]))
}
