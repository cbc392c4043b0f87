// What a batch insert whose handler fills dictionaries can cost at best, beside inserting the same rows.
//
//     swiftc -O -I Sources/CSQLite docs/limits/batch-dictionaries.swift -o /tmp/batch-dictionaries
//     /tmp/batch-dictionaries        # processor time of 100,000 rows of seven values, the best of 7 runs
//
// What it showed (Swift 6.3.1, Debian 12, AMD EPYC, two processors with other work; two processes):
//
//     SQLite: bind and insert                                                      3264, 3707 ns   1.00
//     the same, and a handler gives the values to a dictionary that drops them     3864, 4171 ns   1.18, 1.13
//     the same, and a Foundation dictionary that keeps them                        8706, 9282 ns   2.67, 2.50
//
// In the benchmark, whose plain C takes 2,350 ns a row, those 460 to 600 ns alone are 1.20 to 1.26 times it, and nothing has been found, converted or bound
// yet: 1.2 is out of reach of dictionaries, and met by handlers that fill an object (F5o) and by rows of typed values (F5r).
//
// A handler is called with an NSMutableDictionary. Each `row["name"] = value` boxes key and value, looks whether the key is hashable, and calls a method of
// the dictionary's class: before anybody keeps, finds or binds a value.

import CSQLite
import Foundation

let rowCount = 100_000

struct Sample {
    var name: String
    var quantity: Double
    var collected: Bool
    var listed: Bool
    var home: Int
    var shop: Int
    var unit: Int
}

let samples = (0..<rowCount).map { number in
    Sample(
        name: number % 2 == 0 ? "Item \(number)" : "Item \(number) of a longer name here", quantity: Double(number % 97),
        collected: number % 3 == 0, listed: number % 2 == 0, home: number % 20 + 1, shop: number % 30 + 1,
        unit: number % 10 + 1)
}

/// An object such as a relationship is set to.
final class Reference: NSObject {}
let references = (0..<32).map { _ in Reference() }

/// Takes what it is given, and does nothing with it.
final class Sink: NSMutableDictionary {
    nonisolated(unsafe) var calls = 0
    override func setObject(_ object: Any, forKey key: AnyHashable) { calls += 1 }
    override func object(forKey key: Any) -> Any? { nil }
    override func removeObject(forKey key: Any) {}
    override var count: Int { 0 }
}

/// A database of one table with the indexes that to-ones have.
func withDatabase(_ body: (OpaquePointer?, OpaquePointer?) -> Int) -> Int {
    let path = "/tmp/batch-dictionaries.sqlite"
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    var database: OpaquePointer?
    var statement: OpaquePointer?
    precondition(sqlite3_open(path, &database) == 0)
    let sql = """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
        CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOLLECTED INTEGER, ZLISTED INTEGER,
            ZLOCATIONATHOME INTEGER, ZLOCATIONATSHOP INTEGER, ZUNIT INTEGER, ZQUANTITY FLOAT, ZNAME VARCHAR, ZPHOTO BLOB);
        CREATE INDEX A ON ZITEM (ZLOCATIONATHOME); CREATE INDEX B ON ZITEM (ZLOCATIONATSHOP); CREATE INDEX C ON ZITEM (ZUNIT);
        BEGIN
        """
    precondition(sqlite3_exec(database, sql, nil, nil, nil) == 0)
    let insert = "INSERT INTO ZITEM VALUES (?, 1, 1, ?, ?, ?, ?, ?, ?, ?, NULL)"
    precondition(sqlite3_prepare_v2(database, insert, -1, &statement, nil) == 0)
    let done = body(database, statement)
    sqlite3_finalize(statement)
    precondition(sqlite3_exec(database, "COMMIT", nil, nil, nil) == 0)
    sqlite3_close(database)
    return done
}

@inline(__always) func insert(_ sample: Sample, _ number: Int, _ statement: OpaquePointer?) {
    sqlite3_bind_int64(statement, 1, Int64(number + 1))
    sqlite3_bind_int64(statement, 2, sample.collected ? 1 : 0)
    sqlite3_bind_int64(statement, 3, sample.listed ? 1 : 0)
    sqlite3_bind_int64(statement, 4, Int64(sample.home))
    sqlite3_bind_int64(statement, 5, Int64(sample.shop))
    sqlite3_bind_int64(statement, 6, Int64(sample.unit))
    sqlite3_bind_double(statement, 7, sample.quantity)
    var name = sample.name
    name.withUTF8 { bytes in
        _ = bytes.withMemoryRebound(to: CChar.self) {
            sqlite3_bind_text(statement, 8, $0.baseAddress, Int32($0.count), nil)
        }
        precondition(sqlite3_step(statement) == SQLITE_DONE)
    }
    sqlite3_reset(statement)
}

@inline(never) func call(_ handler: (NSMutableDictionary) -> Bool, _ row: NSMutableDictionary) -> Bool { handler(row) }

var raw = 0.0
@inline(never) func measure(_ name: String, _ body: () -> Int) {
    _ = body()
    var best = Double.infinity
    for _ in 0..<7 {
        let start = clock()
        precondition(body() > 0)
        best = min(best, Double(clock() - start) * 1e9 / Double(CLOCKS_PER_SEC) / Double(rowCount))
    }
    if raw == 0 { raw = best }
    let ratio = String(format: "%8.0f ns  %5.2f", best, best / raw)
    print("//     " + name.padding(toLength: 78, withPad: " ", startingAt: 0) + ratio)
}

measure("SQLite: bind and insert") {
    withDatabase { _, statement in
        for number in 0..<rowCount { insert(samples[number], number, statement) }
        return rowCount
    }
}
measure("the same, and a handler gives the values to a dictionary that drops them") {
    withDatabase { _, statement in
        let sink = Sink()
        var next = 0
        let handler: (NSMutableDictionary) -> Bool = { row in
            let sample = samples[next]
            next += 1
            row["name"] = sample.name
            row["quantity"] = Float(sample.quantity)
            row["collected"] = sample.collected
            row["listed"] = sample.listed
            row["locationAtHome"] = references[sample.home]
            row["locationAtShop"] = references[sample.shop]
            row["unit"] = references[sample.unit]
            return false
        }
        for number in 0..<rowCount {
            _ = call(handler, sink)
            insert(samples[number], number, statement)
        }
        precondition(sink.calls == 7 * rowCount)
        return rowCount
    }
}
measure("the same, and a Foundation dictionary that keeps them") {
    withDatabase { _, statement in
        var next = 0
        let row = NSMutableDictionary()
        let handler: (NSMutableDictionary) -> Bool = { row in
            let sample = samples[next]
            next += 1
            row["name"] = sample.name
            row["quantity"] = Float(sample.quantity)
            row["collected"] = sample.collected
            row["listed"] = sample.listed
            row["locationAtHome"] = references[sample.home]
            row["locationAtShop"] = references[sample.shop]
            row["unit"] = references[sample.unit]
            return false
        }
        for number in 0..<rowCount {
            _ = call(handler, row)
            insert(samples[number], number, statement)
        }
        return rowCount
    }
}
