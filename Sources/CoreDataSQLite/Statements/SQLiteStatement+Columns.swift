import CSQLite
import CoreDataPrimitives
import CoreDataSQL
import Foundation

extension SQLiteStatement {
    var columnCount: Int { Int(sqlite3_column_count(pointer)) }

    func columnName(_ column: Int) -> String {
        sqlite3_column_name(pointer, Int32(column)).map { String(cString: $0) } ?? ""
    }

    func value(_ column: Int) -> SQLValue {
        SQLValue(sqlite3_column_value(pointer, Int32(column)))
    }

    func integer(_ column: Int) -> Int64 { sqlite3_column_int64(pointer, Int32(column)) }

    func threeIntegers(from first: Int) -> (Int64, Int64, Int64) {
        (integer(first), integer(first + 1), integer(first + 2))
    }

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(pointer, Int32(column)) == SQLITE_NULL }

    func read(into builder: RowBuilder, kinds: [ColumnKind], from first: Int) {
        let first = Int32(truncatingIfNeeded: first)
        kinds.withUnsafeBufferPointer { kinds in
            for group in stride(from: 0, to: kinds.count, by: 64) {
                builder.fill(group) { word(first + Int32(truncatingIfNeeded: $0), kinds[$0], builder) }
            }
        }
    }

    func read(into builder: RowBuilder, kinds: [ColumnKind], columns: [Int]) {
        for group in stride(from: 0, to: kinds.count, by: 64) {
            builder.fill(group) { index in
                columns[index] < 0 ? nil : word(Int32(truncatingIfNeeded: columns[index]), kinds[index], builder)
            }
        }
    }

    /// The column's word, `nil` for NULL; bytes go to the builder.
    ///
    /// Asking for a value's type costs as much as the value, so only a value that may be NULL is asked.
    @inline(__always)
    private func word(_ column: Int32, _ kind: ColumnKind, _ builder: RowBuilder) -> UInt64? {
        switch kind {
        case .integer:
            let value = sqlite3_column_int64(pointer, column)
            return value == 0 && sqlite3_column_type(pointer, column) == SQLITE_NULL ? nil : UInt64(bitPattern: value)
        case .real:
            let value = sqlite3_column_double(pointer, column)
            return value == 0 && sqlite3_column_type(pointer, column) == SQLITE_NULL ? nil : value.bitPattern
        case .text:
            // A value costs one look at the row, where its text and its length by column cost two.
            let value = sqlite3_column_value(pointer, column)
            guard let text = sqlite3_value_text(value) else { return nil }
            let count = Int(sqlite3_value_bytes(value))
            return builder.keep(UnsafeRawBufferPointer(start: text, count: count))
        case .blob:
            let value = sqlite3_column_value(pointer, column)
            guard sqlite3_value_type(value) != SQLITE_NULL else { return nil }
            // Asked first: it may turn a number into text.
            let blob = sqlite3_value_blob(value)
            let count = Int(sqlite3_value_bytes(value))
            return builder.keep(UnsafeRawBufferPointer(start: blob, count: count))
        }
    }
}

extension SQLValue {
    /// The value as SQLite holds it, whatever the column was declared as.
    init(_ value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER:
            self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT:
            self = .real(sqlite3_value_double(value))
        case SQLITE_TEXT:
            let text = sqlite3_value_text(value)
            let count = Int(sqlite3_value_bytes(value))
            self = .text(String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            let blob = sqlite3_value_blob(value)
            let count = Int(sqlite3_value_bytes(value))
            self = .blob(Data(UnsafeRawBufferPointer(start: blob, count: count)))
        default:
            self = .null
        }
    }
}
