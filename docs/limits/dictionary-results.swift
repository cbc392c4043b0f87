// What dictionary results can cost at best on Linux, beside stepping through the same rows.
//
//     swiftc -O -I Sources/CSQLite docs/limits/dictionary-results.swift -o /tmp/dictionary-results
//     /tmp/dictionary-results                # processor time of 100,000 rows of two columns, the best of 7 runs
//
// What it showed (Swift 6.3.1, Debian 12, two processors with other work; nanoseconds of processor time a row, the best of four
// processes, and the ratio to the first line):
//
//     SQLite: step and look at both columns                                           80    1.0
//     the values as Swift's own, in an array                                         134    1.7
//     an NSString and an NSNumber of each row, in no dictionary                      463    5.8
//     NSMutableDictionary, set by Swift strings: make                               1994   24.9
//     NSMutableDictionary, set by Swift strings: make and read both values          2323   29.0
//     [String: Any], bridged: make                                                  1750   21.9
//     [String: Any], bridged: make and read both values                             3196   40.0
//     NSDictionary(objects:forKeys:count:): make                                     863   10.8
//     NSDictionary(objects:forKeys:count:): make and read both values               1854   23.2
//     one NSMutableDictionary, changed and copied: make                             1825   22.8
//     one NSMutableDictionary, changed and copied: make and read both values        2732   34.1
//     NSDictionary with a template's entries, copied: make                           469    5.9
//     NSDictionary with a template's entries, copied: make and read both values     1354   16.9
//     a subclass that keeps the values: make                                         188    2.4
//     a subclass that keeps the values: make and read both values                    315    3.9
//
// So a dictionary of Foundation's own class costs several times what raw SQLite does even when nothing is hashed to make
// it, and to read two values of it by Foundation's subscript (which makes an object of the key, hashes it and casts) costs
// more than that again: a ratio of 3 is out of reach while results are of that class. The template's way is what
// `DictionaryMaker` does.
//
// A cast of a subclass to `[String: Any]` cannot be mended. Where the compiler knows that the source is an
// `NSDictionary`, it calls `Dictionary._conditionallyBridgeFromObjectiveC` of Foundation, which looks at the entries of
// exactly three classes (NSDictionary, NSMutableDictionary and one of its own) and gives an empty dictionary for any
// other; it asks the object nothing. A subclass that conforms to `_NSSwiftValue` is unwrapped by casts from `Any` and
// `AnyObject`, which the runtime makes, but not by those that the compiler makes: `results[0] as? [String: Any]` stays
// empty. The end of the program shows both.

import CSQLite
import Foundation
@_spi(Reflection) import Swift

// MARK: SQLite

let rowCount = 100_000

func makeStatement() -> OpaquePointer? {
    var database: OpaquePointer?
    var statement: OpaquePointer?
    precondition(sqlite3_open(":memory:", &database) == 0)
    let sql = """
        CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, ZQUANTITY FLOAT, ZNAME VARCHAR);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount)) INSERT INTO ZITEM SELECT i, i % 97,
        CASE WHEN i % 2 THEN printf('Item %07d', i) ELSE printf('An item of a longer name %05d', i) END FROM n
        """
    precondition(sqlite3_exec(database, sql, nil, nil, nil) == 0)
    precondition(sqlite3_prepare_v2(database, "SELECT ZNAME, ZQUANTITY FROM ZITEM", -1, &statement, nil) == 0)
    return statement
}

let statement = makeStatement()

func forEachRow(_ body: (UnsafeBufferPointer<UInt8>, Double) -> Void) {
    while sqlite3_step(statement) == 100 {
        let text = sqlite3_column_text(statement, 0)
        body(
            UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, 0))),
            sqlite3_column_double(statement, 1))
    }
    _ = sqlite3_reset(statement)
}

// MARK: Measuring

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
    let ratio = String(format: "%8.0f ns  %5.1f", best, best / raw)
    print("// " + name.padding(toLength: 84, withPad: " ", startingAt: 0) + ratio)
}

/// Makes a dictionary of each row, keeps them all, reads them if asked, and gives them back.
func measureMaking(_ name: String, _ make: (UnsafeBufferPointer<UInt8>, Double) -> NSDictionary) {
    func makeAll() -> [NSDictionary] {
        var all: [NSDictionary] = []
        forEachRow { all.append(make($0, $1)) }
        return all
    }
    measure(name + ": make") { makeAll().count }
    measure(name + ": make and read both values") {
        var bytes = 0
        var number = 0.0
        for row in makeAll() {
            bytes += (row["name"] as? String)?.utf8.count ?? 0
            number += (row["quantity"] as? NSNumber)?.doubleValue ?? 0
        }
        return bytes + (number < 0 ? 1 : 0)
    }
}

func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

// MARK: The ways

let names = [NSString(string: "name"), NSString(string: "quantity")]

measure("SQLite: step and look at both columns") {
    var bytes = 0
    var number = 0.0
    forEachRow {
        bytes += $0.count
        number += $1
    }
    return bytes + Int(number)
}

measure("the values as Swift's own, in an array") {
    var all: [(String, Double)] = []
    forEachRow { all.append((text($0), $1)) }
    return all.count
}

measure("an NSString and an NSNumber of each row, in no dictionary") {
    var all: [(NSString, NSNumber)] = []
    forEachRow { all.append((NSString(string: text($0)), NSNumber(value: Float($1)))) }
    return all.count
}

measureMaking("NSMutableDictionary, set by Swift strings") { name, quantity in
    let dictionary = NSMutableDictionary(capacity: 2)
    dictionary["name"] = text(name)
    dictionary["quantity"] = NSNumber(value: Float(quantity))
    return dictionary
}

measureMaking("[String: Any], bridged") { name, quantity in
    (["name": text(name), "quantity": NSNumber(value: Float(quantity))] as [String: Any])._bridgeToObjectiveC()
}

measureMaking("NSDictionary(objects:forKeys:count:)") { name, quantity in
    withUnsafeTemporaryAllocation(of: AnyObject.self, capacity: 2) { values in
        values.initializeElement(at: 0, to: NSString(string: text(name)))
        values.initializeElement(at: 1, to: NSNumber(value: Float(quantity)))
        defer { values.deinitialize() }
        return names.withUnsafeBufferPointer { keys in
            keys.withMemoryRebound(to: NSObject.self) { keys in
                NSDictionary(objects: values.baseAddress, forKeys: keys.baseAddress, count: 2)
            }
        }
    }
}

let shared = NSMutableDictionary(objects: [NSNull(), NSNull()], forKeys: names)
measureMaking("one NSMutableDictionary, changed and copied") { name, quantity in
    shared.setObject(NSString(string: text(name)), forKey: names[0])
    shared.setObject(NSNumber(value: Float(quantity)), forKey: names[1])
    return shared.copy() as? NSDictionary ?? [:]
}

// The entries of a template are copied, which hashes nothing, and put where Foundation keeps them.
typealias Entries = [NSObject: AnyObject]
let template: Entries = [names[0]: NSNull(), names[1]: NSNull()]
let places = names.compactMap { template.index(forKey: $0) }
let offset: Int = {
    var offset = 0
    _forEachField(of: NSDictionary.self, options: _EachFieldOptions(rawValue: 1)) { _, place, type, _ in
        if type == Entries.self { offset = place }
        return true
    }
    precondition(offset > 0)
    return offset
}()
measureMaking("NSDictionary with a template's entries, copied") { name, quantity in
    var entries = template
    entries.values[places[0]] = NSString(string: text(name))
    entries.values[places[1]] = NSNumber(value: Float(quantity))
    let dictionary = NSDictionary(objects: nil, forKeys: nil, count: 0)
    withExtendedLifetime(dictionary) {
        (Unmanaged.passUnretained(dictionary).toOpaque() + offset).assumingMemoryBound(to: Entries.self).pointee =
            entries
    }
    return dictionary
}

/// A subclass that keeps the values as they are: what all would be like if casts found something in it.
final class Row: NSDictionary, @unchecked Sendable, _NSSwiftValue {
    private let name: String
    private let quantity: Double

    init(_ name: String, _ quantity: Double) {
        self.name = name
        self.quantity = quantity
        super.init(objects: nil, forKeys: nil, count: 0)
    }

    required init(objects: UnsafePointer<AnyObject>!, forKeys keys: UnsafePointer<NSObject>!, count cnt: Int) {
        (name, quantity) = ("", 0)
        super.init(objects: nil, forKeys: nil, count: 0)
    }
    required convenience init(dictionaryLiteral elements: (Any, Any)...) { self.init("", 0) }
    required convenience init?(coder: NSCoder) { nil }
    convenience init(_ value: Any) { self.init("", 0) }

    override var count: Int { 2 }
    override func object(forKey key: Any) -> Any? {
        switch key as? String {
        case "name": name
        case "quantity": NSNumber(value: Float(quantity))
        default: nil
        }
    }
    override func keyEnumerator() -> NSEnumerator { NSArray(array: ["name", "quantity"]).objectEnumerator() }

    var value: Any { ["name": name, "quantity": NSNumber(value: Float(quantity))] as [String: Any] }
    static var null: AnyObject { NSNull() }
}
measureMaking("a subclass that keeps the values") { name, quantity in Row(text(name), quantity) }

// MARK: Casts

@inline(never) func opaque<T>(_ value: T) -> T { value }
let row: NSDictionary = opaque(Row("Milk", 2))
print("// a subclass as? [String: Any], from NSDictionary:", (row as? [String: Any])?.count ?? -1, "entries")
print(
    "// a subclass as? [String: Any], from AnyObject:", (opaque(row as AnyObject) as? [String: Any])?.count ?? -1,
    "entries")
