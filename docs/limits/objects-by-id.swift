// What it costs at best on Linux to ask for objects by their IDs, beside stepping through the same rows.
//
//     swiftc -O -I Sources/CSQLite docs/limits/objects-by-id.swift -o /tmp/objects-by-id
//     /tmp/objects-by-id                     # processor time a row, 100,000 rows in random order, the best of 9 rounds
//
// The objects do next to nothing: no context, no lock, no validation, no notifications, no change tracking, no row shared
// with others. What they have is what the interface asks for: an ID is an instance of a class that somebody keeps in an array, an
// object is an instance of a class that is found by its ID's key and is the same one each time, and a name is a `String`.
//
// The last line has what any registry needs: keys may be any numbers, and there is a lock.
//
// Plain C has the keys themselves in an array, one behind the other, and reads the values where SQLite has put them.
//
// What it showed (Swift 6.3.1, Debian 12, AMD EPYC, two processes):
//
//     plain C                            858 ns   1.00            793 ns   1.00
//     objects, each read                1417 ns   1.65           1279 ns   1.61
//     objects, registered                512 ns   0.60            481 ns   0.61
//
// and on an Intel Xeon at 2.80 GHz:
//
//     plain C                            990 ns   1.00            985 ns   1.00
//     objects, each read                1500 ns   1.51           1513 ns   1.54
//     objects, registered                454 ns   0.46            482 ns   0.49
//     the same, any keys, a lock         471 ns   0.48            488 ns   0.50
//
// So registered objects are not read in 0.4 of plain C's time there: an ID, an object and its row are three places in memory, each
// of which is known when the one before has been read. With other work beside it, which slows plain C more, ratios fell to 0.41 on
// the EPYC and to 0.30 on the Xeon.

import CSQLite
import Foundation
import Synchronization

let rowCount = 100_000

// MARK: The table of the benchmarks

func makeStatement(_ path: String) -> OpaquePointer? {
    var database: OpaquePointer?
    var statement: OpaquePointer?
    precondition(sqlite3_open(path, &database) == 0)
    let sql = """
        PRAGMA journal_mode = WAL; PRAGMA cache_size = -65536;
        CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOLLECTED INTEGER, ZLISTED INTEGER,
        ZLOCATIONATHOME INTEGER, ZLOCATIONATSHOP INTEGER, ZUNIT INTEGER, ZQUANTITY FLOAT, ZNAME VARCHAR, ZPHOTO BLOB );
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount)) INSERT INTO ZITEM SELECT i, 1, 1,
        i % 2, i % 3 = 0, i % 10000, i % 1000, i % 20, i % 97 + 0.5,
        CASE WHEN i % 2 THEN printf('Item %07d', i) ELSE printf('An item of a longer name %05d', i) END, NULL FROM n;
        BEGIN
        """
    precondition(sqlite3_exec(database, sql, nil, nil, nil) == 0)
    let select =
        "SELECT Z_PK, Z_ENT, Z_OPT, ZCOLLECTED, ZLISTED, ZLOCATIONATHOME, ZLOCATIONATSHOP, ZUNIT, ZQUANTITY, ZNAME, ZPHOTO "
        + "FROM ZITEM WHERE Z_PK = ?"
    precondition(sqlite3_prepare_v2(database, select, -1, &statement, nil) == 0)
    return statement
}

let path = NSTemporaryDirectory() + "objects-by-id-\(getpid()).sqlite"
let statement = makeStatement(path)

// MARK: Objects

final class ID {
    let key: Int64
    init(_ key: Int64) { self.key = key }
}

/// Seven numbers, the length of the name, the name.
final class Item: NSObject {
    let row: UnsafeMutablePointer<Int64>

    init(row: UnsafeMutablePointer<Int64>) { self.row = row }
    deinit { free(row) }

    var listed: Bool { row[1] != 0 }
    var quantity: Float { Float(Double(bitPattern: UInt64(bitPattern: row[5]))) }
    var name: String {
        String(decoding: UnsafeRawBufferPointer(start: row + 7, count: Int(row[6])), as: UTF8.self)
    }
}

/// The objects by key: nothing finds faster than a place in an array.
let objects = UnsafeMutablePointer<Unmanaged<Item>?>.allocate(capacity: rowCount + 1)
objects.initialize(repeating: nil, count: rowCount + 1)

/// The whole row, as an object keeps it.
func readItem(_ key: Int64) -> Item {
    _ = sqlite3_bind_int64(statement, 1, key)
    precondition(sqlite3_step(statement) == 100)
    let text = sqlite3_column_text(statement, 9)
    let length = Int(sqlite3_column_bytes(statement, 9))
    let row = malloc(56 + length)!.bindMemory(to: Int64.self, capacity: 7)
    for column in 0..<5 { row[column] = sqlite3_column_int64(statement, Int32(column + 3)) }
    row[5] = Int64(bitPattern: sqlite3_column_double(statement, 8).bitPattern)
    row[6] = Int64(length)
    if let text { memcpy(row + 7, text, length) }
    _ = sqlite3_reset(statement)
    return Item(row: row)
}

func item(_ id: ID) -> Item {
    if let known = objects[Int(id.key)] { return known.takeUnretainedValue() }
    let made = readItem(id.key)
    objects[Int(id.key)] = .passUnretained(made)
    return made
}

/// The objects by key where keys may be any numbers, and where an object may be looked for on one thread while the last
/// reference to another goes on a second: a table half full, and a lock, which nobody else wants here.
final class Registry: Sendable {
    private struct Slot {
        var key: Int64
        var item: Unmanaged<Item>?
    }

    private let lock = Mutex(())
    private nonisolated(unsafe) let slots: UnsafeMutablePointer<Slot>
    private let mask: Int

    init(_ items: [(ID, Item)]) {
        var capacity = 1
        while capacity < items.count * 2 { capacity *= 2 }
        mask = capacity - 1
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: Slot(key: 0, item: nil), count: capacity)
        for (id, item) in items { slots[place(of: id.key)] = Slot(key: id.key, item: .passUnretained(item)) }
    }

    deinit { slots.deallocate() }

    private func place(of key: Int64) -> Int {
        var place = Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
        while slots[place].item != nil, slots[place].key != key { place = (place + 1) & mask }
        return place
    }

    func item(_ id: ID) -> Item? {
        lock.withLock { _ in slots[place(of: id.key)].item?.takeUnretainedValue() }
    }
}

// MARK: Measuring

var generator = SystemRandomNumberGenerator()
let keys = (1...Int64(rowCount)).shuffled(using: &generator)
/// Made in the order of the keys, as by a fetch, and then shuffled.
let idsInOrder = (1...Int64(rowCount)).map(ID.init)
let ids = keys.map { idsInOrder[Int($0) - 1] }

func plainC() -> Int {
    var bytes = 0
    var number = 0.0
    for key in keys {
        _ = sqlite3_bind_int64(statement, 1, key)
        precondition(sqlite3_step(statement) == 100)
        number += sqlite3_column_double(statement, 8) + Double(sqlite3_column_int64(statement, 4))
        if sqlite3_column_text(statement, 9) != nil { bytes += Int(sqlite3_column_bytes(statement, 9)) }
        _ = sqlite3_reset(statement)
    }
    return bytes + Int(number)
}

func objectsByID() -> Int {
    var bytes = 0
    var number = 0.0
    for id in ids {
        let item = item(id)
        number += Double(item.quantity) + (item.listed ? 1 : 0)
        bytes += item.name.utf8.count
        // Nobody keeps it: the next one is read again, as in W4.
        if held.isEmpty { objects[Int(id.key)] = nil }
    }
    return bytes + Int(number)
}

func objectsInRegistry(_ registry: Registry) -> Int {
    var bytes = 0
    var number = 0.0
    for id in ids {
        guard let item = registry.item(id) else { continue }
        number += Double(item.quantity) + (item.listed ? 1 : 0)
        bytes += item.name.utf8.count
    }
    return bytes + Int(number)
}

var held: [Item] = []

@inline(never) func time(_ body: () -> Int) -> Double {
    let start = clock()
    precondition(body() > 0)
    return Double(clock() - start) * 1e9 / Double(CLOCKS_PER_SEC) / Double(rowCount)
}

var best: [String: Double] = [:]
func note(_ name: String, _ time: Double) { best[name] = min(best[name] ?? .infinity, time) }
for _ in 0..<9 {
    note("plain C", time(plainC))
    note("objects, each read", time(objectsByID))
    held = idsInOrder.map { item($0) }
    note("objects, registered", time(objectsByID))
    let registry = Registry(Array(zip(idsInOrder, held)))
    note("the same, any keys, a lock", time { objectsInRegistry(registry) })
    held = []
    for key in 0...rowCount { objects[key] = nil }
}
for name in ["plain C", "objects, each read", "objects, registered", "the same, any keys, a lock"] {
    let ratio = String(format: "%8.0f ns  %5.2f", best[name]!, best[name]! / best["plain C"]!)
    print("//     " + name.padding(toLength: 30, withPad: " ", startingAt: 0) + ratio)
}
for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
