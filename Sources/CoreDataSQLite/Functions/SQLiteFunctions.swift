import CSQLite
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The implementations of each ``SQLFunction`` that SQLite lacks, and of each ``SQLCollation``.
enum SQLiteFunctions {
    typealias Function = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// Registers replacements of SQLite's own functions; no statement would fail to signal that they are missing.
    static func registerReplacements(on connection: ConnectionState) throws {
        try registerTotals(on: connection)
        for (name, count, function) in replacements {
            try register(name, count, function, isDeterministic: true, on: connection)
        }
    }

    /// Registers all other functions.
    static func register(on connection: ConnectionState) throws {
        for (name, count, function) in text + arithmetic + decimals {
            let isDeterministic = ![SQLFunction.random, .outOfRange].contains { $0.rawValue == name }
            try register(name, count, function, isDeterministic: isDeterministic, on: connection)
        }
        try registerAggregates(on: connection)
        try registerSums(on: connection)
        try registerReports(on: connection)
        try registerNextKey(on: connection)
        try registerNow(on: connection)
        try registerCollations(on: connection)
    }

    private static func register(
        _ name: String, _ argumentCount: Int32, _ function: Function, isDeterministic: Bool,
        context: UnsafeMutableRawPointer? = nil, on connection: ConnectionState
    ) throws {
        // Innocuous functions may be called by triggers and indexes even if the schema is not trusted.
        let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
        let code = sqlite3_create_function_v2(
            connection.database, name, argumentCount, flags, context, function, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLFailure.last(of: connection.database, code: code) }
    }

    // MARK: Text

    private static let text: [(String, Int32, Function)] = [
        (
            SQLFunction.textEqual.rawValue, 3,
            { context, _, arguments in
                compareTexts(context, arguments) { TextComparison.equal($0, $1, options: $2) ? 1 : 0 }
            }
        ),
        (
            SQLFunction.textBeginsWith.rawValue, 3,
            { context, _, arguments in
                compareTexts(context, arguments) { TextComparison.beginsWith($0, $1, options: $2) ? 1 : 0 }
            }
        ),
        (
            SQLFunction.textEndsWith.rawValue, 3,
            { context, _, arguments in
                compareTexts(context, arguments) { TextComparison.endsWith($0, $1, options: $2) ? 1 : 0 }
            }
        ),
        (
            SQLFunction.textContains.rawValue, 3,
            { context, _, arguments in
                compareTexts(context, arguments) { TextComparison.contains($0, $1, options: $2) ? 1 : 0 }
            }
        ),
        (
            SQLFunction.textLike.rawValue, 3,
            { context, _, arguments in
                compareTexts(context, arguments) { TextComparison.like($0, $1, options: $2) ? 1 : 0 }
            }
        ),
        (
            SQLFunction.textCompare.rawValue, 3,
            { context, _, arguments in
                compareTexts(context, arguments) { TextComparison.compare($0, $1, options: $2).signum() }
            }
        ),
        (
            SQLFunction.textMatches.rawValue, 3,
            { context, _, arguments in
                do {
                    try compareTexts(context, arguments) {
                        try TextComparison.matches(
                            String(decoding: $0, as: UTF8.self), String(decoding: $1, as: UTF8.self), options: $2)
                            ? 1 : 0
                    }
                } catch {
                    let message = (error as? TextComparison.InvalidPattern)?.message ?? "\(error)"
                    sqlite3_result_error(context, message, -1)
                    // An error code that SQLite itself does not use.
                    if error is TextComparison.InvalidPattern { sqlite3_result_error_code(context, SQLITE_FORMAT) }
                }
            }
        ),
        (
            SQLFunction.uppercase.rawValue, 1,
            { context, _, arguments in changeText(context, arguments) { $0.uppercased() } }
        ),
        (
            SQLFunction.lowercase.rawValue, 1,
            { context, _, arguments in changeText(context, arguments) { $0.lowercased() } }
        ),
        (
            SQLFunction.canonical.rawValue, 1,
            { context, _, arguments in changeText(context, arguments) { TextComparison.fold($0, options: 3) } }
        ),
        (
            SQLFunction.searchText.rawValue, 1,
            { context, _, arguments in
                guard let bytes = textArgument(arguments, 0) else { return sqlite3_result_null(context) }
                setResult(SearchText.indexed(bytes), context)
            }
        ),
        (
            SQLFunction.textLength.rawValue, 1,
            { context, _, arguments in
                guard let bytes = textArgument(arguments, 0) else { return sqlite3_result_null(context) }
                var units: Int64 = 0
                // A four-byte sequence is a surrogate pair; continuation bytes do not count.
                for byte in bytes where byte & 0xC0 != 0x80 { units += byte >= 0xF0 ? 2 : 1 }
                sqlite3_result_int64(context, units)
            }
        ),
        (
            SQLFunction.characterCount.rawValue, 1,
            { context, _, arguments in
                guard let bytes = textArgument(arguments, 0) else { return sqlite3_result_null(context) }
                sqlite3_result_int64(context, Int64(String(decoding: bytes, as: UTF8.self).count))
            }
        ),
    ]

    /// Calls `body` with the argument's bytes; `nil` for NULL.
    static func textArgument(
        _ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ index: Int
    ) -> UnsafeBufferPointer<UInt8>? {
        guard let value = arguments?[index], let text = sqlite3_value_text(value) else { return nil }
        return UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
    }

    private static func compareTexts(
        _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?,
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>, UInt) throws -> Int
    ) rethrows {
        guard let left = textArgument(arguments, 0), let right = textArgument(arguments, 1) else {
            return sqlite3_result_null(context)
        }
        let options = UInt(truncatingIfNeeded: sqlite3_value_int64(arguments?[2]))
        sqlite3_result_int64(context, Int64(try body(left, right, options)))
    }

    private static func changeText(
        _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ body: (String) -> String
    ) {
        guard let bytes = textArgument(arguments, 0) else { return sqlite3_result_null(context) }
        setResult(body(String(decoding: bytes, as: UTF8.self)), context)
    }

    private static func setResult(_ text: String, _ context: OpaquePointer?) {
        var text = text
        text.withUTF8 { buffer in
            let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            buffer.withMemoryRebound(to: CChar.self) {
                sqlite3_result_text64(
                    context, $0.baseAddress, UInt64($0.count), transient, UInt8(SQLITE_UTF8))
            }
        }
    }

    // MARK: Collations

    private static func registerCollations(on connection: ConnectionState) throws {
        try registerCollation(SQLCollation.caseInsensitive.rawValue, on: connection) { _, countA, a, countB, b in
            SQLiteFunctions.compare(a, countA, b, countB, by: .caseInsensitive)
        }
        try registerCollation(SQLCollation.localized.rawValue, on: connection) { _, countA, a, countB, b in
            SQLiteFunctions.compare(a, countA, b, countB, by: .localized)
        }
        try registerCollation(SQLCollation.localizedCaseInsensitive.rawValue, on: connection) {
            _, countA, a, countB, b in
            SQLiteFunctions.compare(a, countA, b, countB, by: .localizedCaseInsensitive)
        }
        try registerCollation(SQLCollation.localizedStandard.rawValue, on: connection) { _, countA, a, countB, b in
            SQLiteFunctions.compare(a, countA, b, countB, by: .localizedStandard)
        }
    }

    private static func registerCollation(
        _ name: String, on connection: ConnectionState,
        _ compare:
            @convention(c) (
                UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
            ) -> Int32
    ) throws {
        let code = sqlite3_create_collation_v2(connection.database, name, SQLITE_UTF8, nil, compare, nil)
        guard code == SQLITE_OK else { throw SQLFailure.last(of: connection.database, code: code) }
    }

    private static func compare(
        _ a: UnsafeRawPointer?, _ countA: Int32, _ b: UnsafeRawPointer?, _ countB: Int32,
        by order: TextComparison.SortOrder
    ) -> Int32 {
        let first = UnsafeRawBufferPointer(start: a, count: Int(countA)).assumingMemoryBound(to: UInt8.self)
        let second = UnsafeRawBufferPointer(start: b, count: Int(countB)).assumingMemoryBound(to: UInt8.self)
        return Int32(TextComparison.compare(first, second, by: order).signum())
    }

    // MARK: Functions that use the connection's state

    /// Returns the user data of ``registerReports(on:)``, ``registerNextKey(on:)`` and ``registerNow(on:)``. The
    /// connection destroys its functions when it closes, so the state outlives them.
    private static func state(of connection: ConnectionState) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(connection).toOpaque()
    }

    private static func registerNextKey(on connection: ConnectionState) throws {
        try register(
            SQLFunction.nextKey.rawValue, 1,
            { context, _, _ in
                guard let state = sqlite3_user_data(context) else { return sqlite3_result_null(context) }
                Unmanaged<ConnectionState>.fromOpaque(state)._withUnsafeGuaranteedRef { state in
                    guard let key = state.nextKey else { return sqlite3_result_null(context) }
                    state.nextKey = nil
                    sqlite3_result_int64(context, key)
                }
            }, isDeterministic: false, context: state(of: connection), on: connection)
    }

    private static func registerNow(on connection: ConnectionState) throws {
        try register(
            SQLFunction.now.rawValue, 0,
            { context, _, _ in
                guard let state = sqlite3_user_data(context) else { return sqlite3_result_null(context) }
                Unmanaged<ConnectionState>.fromOpaque(state)._withUnsafeGuaranteedRef {
                    sqlite3_result_double(context, $0.clock.now)
                }
            }, isDeterministic: true, context: state(of: connection), on: connection)
    }

    private static func registerReports(on connection: ConnectionState) throws {
        let state = state(of: connection)
        for update in [SQLFunction.derivedAttributeUpdated, .predicateAttributeUpdated] {
            try register(
                update.rawValue, 5,
                { context, _, arguments in SQLiteFunctions.report(context, arguments, isInsertion: false) },
                isDeterministic: false, context: state, on: connection)
        }
        try register(
            SQLFunction.derivedAttributeInserted.rawValue, 5,
            { context, _, arguments in SQLiteFunctions.report(context, arguments, isInsertion: true) },
            isDeterministic: false, context: state, on: connection)
    }

    private static func report(
        _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?, isInsertion: Bool
    ) {
        sqlite3_result_null(context)
        guard let pointer = sqlite3_user_data(context), let arguments,
            let table = textArgument(arguments, 0), let attribute = textArgument(arguments, 3)
        else { return }
        Unmanaged<ConnectionState>.fromOpaque(pointer).takeUnretainedValue().reports.append(
            DerivedAttributeReport(
                table: String(decoding: table, as: UTF8.self), entityNumber: sqlite3_value_int64(arguments[1]),
                primaryKey: sqlite3_value_int64(arguments[2]), attribute: String(decoding: attribute, as: UTF8.self),
                value: SQLValue(arguments[4]), isInsertion: isInsertion))
    }
}
