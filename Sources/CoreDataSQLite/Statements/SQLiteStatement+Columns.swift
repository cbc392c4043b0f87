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
        let values = ResultValues(of: pointer, from: first, count: 3)
        return (values.integer(0), values.integer(1), values.integer(2))
    }

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(pointer, Int32(column)) == SQLITE_NULL }

    func read(into builder: RowBuilder, kinds: [ColumnKind], from first: Int) {
        let values = ResultValues(of: pointer, from: first, count: kinds.count)
        kinds.withUnsafeBufferPointer { kinds in
            for group in stride(from: 0, to: kinds.count, by: 64) {
                builder.fill(group) { values.word($0, kinds[$0], builder) }
            }
        }
    }

    func read(into builder: RowBuilder, kinds: [ColumnKind], columns: [Int]) {
        let values = ResultValues(of: pointer, from: 0, count: columnCount)
        for group in stride(from: 0, to: kinds.count, by: 64) {
            builder.fill(group) { columns[$0] < 0 ? nil : values.word(columns[$0], kinds[$0], builder) }
        }
    }
}

extension SQLValue {
    /// Reads the value in SQLite's storage class, regardless of the declared type.
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
