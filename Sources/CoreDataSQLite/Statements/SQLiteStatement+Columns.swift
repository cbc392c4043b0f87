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
        var column = Int32(truncatingIfNeeded: first)
        for index in kinds.indices {
            read(column, into: builder, at: index, kinds[index])
            column += 1
        }
    }

    func read(into builder: RowBuilder, kinds: [ColumnKind], columns: [Int]) {
        for index in columns.indices where columns[index] >= 0 {
            read(Int32(truncatingIfNeeded: columns[index]), into: builder, at: index, kinds[index])
        }
    }

    /// Asking for a value's type costs as much as the value, so only a value that may be NULL is asked.
    @inline(__always)
    private func read(_ column: Int32, into builder: RowBuilder, at index: Int, _ kind: ColumnKind) {
        switch kind {
        case .integer:
            let value = sqlite3_column_int64(pointer, column)
            if value != 0 || sqlite3_column_type(pointer, column) != SQLITE_NULL {
                builder.setInteger(value, at: index)
            }
        case .real:
            let value = sqlite3_column_double(pointer, column)
            if value != 0 || sqlite3_column_type(pointer, column) != SQLITE_NULL {
                builder.setReal(value, at: index)
            }
        case .text:
            // A value costs one look at the row, where its text and its length by column cost two.
            let value = sqlite3_column_value(pointer, column)
            if let text = sqlite3_value_text(value) {
                let count = Int(sqlite3_value_bytes(value))
                builder.setBytes(UnsafeRawBufferPointer(start: text, count: count), at: index)
            }
        case .blob:
            let blob = sqlite3_column_blob(pointer, column)
            if blob != nil || sqlite3_column_type(pointer, column) != SQLITE_NULL {
                let count = Int(sqlite3_column_bytes(pointer, column))
                builder.setBytes(UnsafeRawBufferPointer(start: blob, count: count), at: index)
            }
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
