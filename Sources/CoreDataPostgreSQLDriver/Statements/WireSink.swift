import CPostgreSQL
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// A receiver of values in the wire format, each after its length, in the type of its destination.
protocol WireSink: AnyObject {
    func type(_ index: Int) -> Oid
    func appendNull(to index: Int)
    func put<T>(_ value: T, to index: Int)
    func put(_ source: UnsafeRawBufferPointer, to index: Int)
}

extension WireSink {
    @inline(__always)
    func append(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind], at first: Int) throws {
        var index = first
        for column in columns {
            if row.isNull(column) {
                appendNull(to: index)
            } else {
                switch kinds[column] {
                case .integer: try append(row.integer(column), to: index)
                case .real: try append(real: row.real(column), to: index)
                case .text: try row.withBytes(column) { try append(text: $0, to: index) }
                case .blob: try row.withBytes(column) { try append(blob: $0, to: index) }
                }
            }
            index += 1
        }
    }

    @inline(__always)
    func append(_ value: Int64, to index: Int) throws {
        switch type(index) {
        case PostgreSQLType.int8: put(value.bigEndian, to: index)
        case PostgreSQLType.int4:
            put(try ParameterBuffer.narrow(value, Int32.self, "integer").bigEndian, to: index)
        case PostgreSQLType.int2:
            put(try ParameterBuffer.narrow(value, Int16.self, "smallint").bigEndian, to: index)
        case PostgreSQLType.boolean:
            guard value == 0 || value == 1 else {
                throw ParameterBuffer.unfit("a number that is neither 0 nor 1", "boolean")
            }
            put(UInt8(value), to: index)
        case PostgreSQLType.float8, PostgreSQLType.timestampTZ: try append(real: Double(value), to: index)
        default: append(String(value), to: index)
        }
    }

    /// Appends a double. NaN is stored as NULL; see ``ParameterBuffer/set(_:real:)``.
    func append(real value: Double, to index: Int) throws {
        if value.isNaN { return appendNull(to: index) }
        switch type(index) {
        case PostgreSQLType.float8: put(value.bitPattern.bigEndian, to: index)
        case PostgreSQLType.timestampTZ: put(try ParameterBuffer.microseconds(value).bigEndian, to: index)
        case PostgreSQLType.int8, PostgreSQLType.int4, PostgreSQLType.int2, PostgreSQLType.boolean:
            guard let whole = Int64(exactly: value) else { throw ParameterBuffer.unfit("a fraction", "integer") }
            try append(whole, to: index)
        default:
            append(value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : value.description, to: index)
        }
    }

    func append(text: UnsafeRawBufferPointer, to index: Int) throws {
        try ParameterBuffer.checkIsKept(text)
        switch type(index) {
        case PostgreSQLType.varchar where text.elementsEqual("NaN".utf8): appendNull(to: index)
        case PostgreSQLType.text, PostgreSQLType.varchar, PostgreSQLType.bytes: put(text, to: index)
        default: throw ParameterBuffer.unfit("a text", "number \(type(index))")
        }
    }

    func append(blob: UnsafeRawBufferPointer, to index: Int) throws {
        if type(index) == PostgreSQLType.uuid, blob.count != 16 {
            throw ParameterBuffer.unfit("data of \(blob.count) bytes", "uuid")
        }
        put(blob, to: index)
    }

    private func append(_ text: String, to index: Int) {
        var text = text
        text.withUTF8 { put(UnsafeRawBufferPointer($0), to: index) }
    }
}
