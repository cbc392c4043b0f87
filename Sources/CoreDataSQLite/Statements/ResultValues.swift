import CSQLite
import CoreDataPrimitives

/// Reads the values of a statement's current row by address.
///
/// Requesting a column from a statement costs four times as much as reading the value. SQLite keeps the values of a row
/// in an array, so the address of one value gives the addresses of the others. A separate statement measures their
/// distance once. If that shows no array, each column is requested from the statement. One thread uses the connection
/// at a time, so SQLite's "unprotected" values are safe to read.
struct ResultValues {
    private let first: OpaquePointer?
    private let distance: Int
    /// The statement, and the column of the first value, for the case that the values are no array.
    private let asked: (statement: OpaquePointer, column: Int32)

    /// Reads `count` columns from `first` on.
    ///
    /// - Precondition: the statement has a current row with that many columns.
    @inline(__always)
    init(of statement: OpaquePointer, from first: Int, count: Int) {
        precondition(
            Int(sqlite3_data_count(statement)) >= first + count, "the statement is at no row, or its rows are shorter")
        distance = Self.distance
        asked = (statement, Int32(truncatingIfNeeded: first))
        self.first = count == 0 ? nil : sqlite3_column_value(statement, asked.column)
        assert(count == 0 || self[count - 1] == sqlite3_column_value(statement, Int32(first + count - 1)))
    }

    @inline(__always)
    subscript(index: Int) -> OpaquePointer? {
        guard distance > 0 else {
            return sqlite3_column_value(asked.statement, asked.column + Int32(truncatingIfNeeded: index))
        }
        return OpaquePointer(UnsafeRawPointer(first.unsafelyUnwrapped) + index &* distance)
    }

    @inline(__always)
    func integer(_ index: Int) -> Int64 { sqlite3_value_int64(self[index]) }

    /// Returns the value's word, `nil` for NULL; the builder receives the bytes.
    ///
    /// Only values that may be NULL are checked for their type.
    @inline(__always)
    func word(_ index: Int, _ kind: ColumnKind, _ builder: RowBuilder) -> UInt64? {
        let value = self[index]
        switch kind {
        case .integer:
            let integer = sqlite3_value_int64(value)
            return integer == 0 && sqlite3_value_type(value) == SQLITE_NULL ? nil : UInt64(bitPattern: integer)
        case .real:
            let real = sqlite3_value_double(value)
            return real == 0 && sqlite3_value_type(value) == SQLITE_NULL ? nil : real.bitPattern
        case .text:
            guard let text = sqlite3_value_text(value) else { return nil }
            let count = Int(sqlite3_value_bytes(value))
            return builder.keep(UnsafeRawBufferPointer(start: text, count: count))
        case .blob:
            guard sqlite3_value_type(value) != SQLITE_NULL else { return nil }
            // Call it before the others: it may convert a number to text.
            let blob = sqlite3_value_blob(value)
            let count = Int(sqlite3_value_bytes(value))
            return builder.keep(UnsafeRawBufferPointer(start: blob, count: count))
        }
    }

    // MARK: Distance between values

    /// The distance in bytes; 0 if the values are not known to be an array.
    private static let distance: Int = {
        var database: OpaquePointer?
        defer { sqlite3_close_v2(database) }
        guard sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK
        else {
            return 0
        }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        // Sorted, so that SQLite reads the rows from the sorter and not directly from the constants.
        let sql = "SELECT * FROM (VALUES (3, 'c', 0.5, NULL), (1, 'a', x'00', NULL), (2, 'b', 7, NULL)) ORDER BY 1"
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { return 0 }
        var distances: Set<Int> = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let places = (0..<sqlite3_data_count(statement)).map {
                Int(bitPattern: sqlite3_column_value(statement, $0))
            }
            for (place, next) in zip(places, places.dropFirst()) { distances.insert(next - place) }
        }
        guard distances.count == 1, let distance = distances.first, (8...256).contains(distance) else { return 0 }
        return distance
    }()
}
