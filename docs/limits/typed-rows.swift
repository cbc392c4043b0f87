// What rows of a program's own types can cost at best, beside stepping through the same rows.
//
//     swiftc -O -I Sources/CSQLite docs/limits/typed-rows.swift -o /tmp/typed-rows
//     /tmp/typed-rows                # processor time of 100,000 rows of three columns, the best of 7 runs
//
// What it showed (Swift 6.3.1, Debian 12, AMD EPYC, two processors with other work; the best of two processes):
//
//     SQLite: step and look at the columns                                               122 ns   1.00
//     a String of each row, given back at once                                           144 ns   1.18
//     tuples in an array whose size is known, of types that the compiler knows           187 ns   1.53
//     a Decodable struct, of a decoder that looks at no key                              315 ns   2.59
//
// Half of the names are too long to be kept in a String itself. So decoding by Swift's own protocols cannot take less than about 2.6 times what SQLite
// does, whoever decodes: each value is asked for by a call of the container, of the class that the standard library boxes it in, and of the protocol.

import CSQLite
import Foundation

let rowCount = 100_000

func makeStatement() -> OpaquePointer? {
    var database: OpaquePointer?
    var statement: OpaquePointer?
    precondition(sqlite3_open(":memory:", &database) == 0)
    let sql = """
        CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, ZLISTED INTEGER, ZQUANTITY FLOAT, ZNAME VARCHAR);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount))
        INSERT INTO ZITEM SELECT i, i % 2, i % 97,
        CASE WHEN i % 2 THEN printf('Item %07d', i) ELSE printf('Item %07d of a longer name here', i) END FROM n
        """
    precondition(sqlite3_exec(database, sql, nil, nil, nil) == 0)
    precondition(
        sqlite3_prepare_v2(database, "SELECT ZNAME, ZQUANTITY, ZLISTED FROM ZITEM", -1, &statement, nil) == 0)
    return statement
}

let statement = makeStatement()

@inline(__always) func text() -> String {
    let bytes = sqlite3_column_text(statement, 0)
    let buffer = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, 0)))
    return String(decoding: buffer, as: UTF8.self)
}

var raw = 0.0

@inline(never) func measure(_ name: String, _ body: () throws -> Int) {
    do {
        _ = try body()
        var best = Double.infinity
        for _ in 0..<7 {
            let start = clock()
            let done = try body()
            precondition(done > 0)
            best = min(best, Double(clock() - start) * 1e9 / Double(CLOCKS_PER_SEC) / Double(rowCount))
        }
        if raw == 0 { raw = best }
        let ratio = String(format: "%8.0f ns  %5.2f", best, best / raw)
        print("//     " + name.padding(toLength: 78, withPad: " ", startingAt: 0) + ratio)
    } catch { print(error) }
}

measure("SQLite: step and look at the columns") {
    var (bytes, number) = (0, 0.0)
    while sqlite3_step(statement) == 100 {
        _ = sqlite3_column_text(statement, 0)
        bytes += Int(sqlite3_column_bytes(statement, 0))
        number += sqlite3_column_double(statement, 1) + Double(sqlite3_column_int(statement, 2))
    }
    _ = sqlite3_reset(statement)
    return bytes + Int(number)
}

measure("a String of each row, given back at once") {
    var (bytes, number) = (0, 0.0)
    while sqlite3_step(statement) == 100 {
        bytes += text().utf8.count
        number += sqlite3_column_double(statement, 1) + Double(sqlite3_column_int(statement, 2))
    }
    _ = sqlite3_reset(statement)
    return bytes + Int(number)
}

@inline(never) func tuples() -> [(String?, Float, Bool)] {
    var all: [(String?, Float, Bool)] = []
    all.reserveCapacity(rowCount)
    while sqlite3_step(statement) == 100 {
        all.append((text(), Float(sqlite3_column_double(statement, 1)), sqlite3_column_int(statement, 2) != 0))
    }
    _ = sqlite3_reset(statement)
    return all
}

measure("tuples in an array whose size is known, of types that the compiler knows") {
    tuples().reduce(0) { $0 + ($1.0?.utf8.count ?? 0) + ($1.2 ? 1 : 0) }
}

// MARK: Decodable

struct Row: Decodable {
    var name: String?
    var quantity: Float
    var listed: Bool
}

/// A decoder that knows nothing of names: it is asked for three values in a fixed order, and looks at no key.
final class Cells: Decoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    private var made: UnsafeMutableRawPointer?

    /// The same container each time: to make one costs an allocation.
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if let made { return made.assumingMemoryBound(to: KeyedDecodingContainer<Key>.self).pointee }
        let place = UnsafeMutablePointer<KeyedDecodingContainer<Key>>.allocate(capacity: 1)
        place.initialize(to: KeyedDecodingContainer(CellContainer<Key>()))
        made = UnsafeMutableRawPointer(place)
        return place.pointee
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw CocoaError(.coderInvalidValue) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw CocoaError(.coderInvalidValue) }
}

struct CellContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { text() }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { text() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { Float(sqlite3_column_double(statement, 1)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { sqlite3_column_int(statement, 2) != 0 }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { throw CocoaError(.coderInvalidValue) }
    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
        throw CocoaError(.coderInvalidValue)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw CocoaError(.coderInvalidValue)
    }
    func superDecoder() throws -> any Decoder { Cells() }
    func superDecoder(forKey key: Key) throws -> any Decoder { Cells() }
}

// A library does not know the type, so that nothing is specialised for it.
@inline(never) func decoded<T: Decodable>(_ type: T.Type) throws -> [T] {
    var all: [T] = []
    all.reserveCapacity(rowCount)
    let decoder = Cells()
    while sqlite3_step(statement) == 100 { all.append(try T(from: decoder)) }
    _ = sqlite3_reset(statement)
    return all
}
@inline(never) func opaque(_ type: any Decodable.Type) -> any Decodable.Type { type }
extension Decodable { static func all() throws -> Any { try decoded(Self.self) } }

measure("a Decodable struct, of a decoder that looks at no key") {
    (try opaque(Row.self).all() as? [Row] ?? []).reduce(0) { $0 + ($1.name?.utf8.count ?? 0) + ($1.listed ? 1 : 0) }
}
