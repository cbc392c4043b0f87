import CSQLite
import CoreDataPrimitives
import CoreDataSQL
import Foundation

extension SQLiteStatement {
    func write(_ fields: UnsafeBufferPointer<TypedField>, to row: UnsafeMutableRawPointer) -> UInt64 {
        // The fields' columns are indexes of the statement's columns.
        write(ResultValues(of: pointer, from: 0, count: 1), fields, to: row)
    }

    func write(
        _ fields: UnsafeBufferPointer<TypedField>, to place: UnsafeMutableRawPointer, stride: Int, room: Int,
        rows: inout Int
    ) throws -> TypedRowsEnd {
        let whole = fields.count >= TypedField.most ? UInt64.max : 1 << UInt64(fields.count) - 1
        let mayBeWhole = fields.count <= TypedField.most
        var place = place
        while rows < room {
            let written = write(ResultValues(of: pointer, from: 0, count: 1), fields, to: place)
            guard written == whole, mayBeWhole else { return .part(written) }
            rows &+= 1
            place += stride
            guard try step() else { return .ended }
        }
        return .full
    }

    @inline(__always)
    private func write(
        _ values: ResultValues, _ fields: UnsafeBufferPointer<TypedField>, to row: UnsafeMutableRawPointer
    ) -> UInt64 {
        var written: UInt64 = 0
        var bit: UInt64 = 1
        for index in 0..<min(fields.count, TypedField.most) {
            let field = fields[index]
            defer { bit <<= 1 }
            if case .other = field.kind { continue }
            if Self.write(values[field.column], field, to: row + field.offset) { written |= bit }
        }
        return written
    }

    /// Writes the value if its storage class fits the field's type; returns whether it did.
    @inline(__always)
    private static func write(
        _ value: OpaquePointer?, _ field: TypedField, to place: UnsafeMutableRawPointer
    ) -> Bool {
        let type = sqlite3_value_type(value)
        if type == SQLITE_NULL {
            if field.isOptional { return writeNil(field.kind, to: place) }
            return field.readsNilAsZero && writeZero(field.kind, to: place)
        }
        @inline(__always) func put<T>(_ value: T?) -> Bool {
            guard let value else { return false }
            if field.isOptional {
                place.initializeMemory(as: T?.self, to: value)
            } else {
                place.initializeMemory(as: T.self, to: value)
            }
            return true
        }
        switch field.kind {
        case .text:
            guard type == SQLITE_TEXT else { return false }
            let text = sqlite3_value_text(value)
            let count = Int(sqlite3_value_bytes(value))
            return put(String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
        case .real:
            guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { return false }
            return put(sqlite3_value_double(value))
        case .single:
            guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { return false }
            return put(Float(sqlite3_value_double(value)))
        case .date:
            guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { return false }
            return put(Date(timeIntervalSinceReferenceDate: sqlite3_value_double(value)))
        case .flag, .short, .medium, .long:
            guard type == SQLITE_INTEGER else { return false }
            let number = sqlite3_value_int64(value)
            return switch field.kind {
            case .flag: put(number != 0)
            case .short: put(Int16(exactly: number))
            case .medium: put(Int32(exactly: number))
            default: put(number)
            }
        case .other: return false
        }
    }

    private static func writeNil(_ kind: TypedField.Kind, to place: UnsafeMutableRawPointer) -> Bool {
        switch kind {
        case .text: place.initializeMemory(as: String?.self, to: nil)
        case .real: place.initializeMemory(as: Double?.self, to: nil)
        case .single: place.initializeMemory(as: Float?.self, to: nil)
        case .flag: place.initializeMemory(as: Bool?.self, to: nil)
        case .short: place.initializeMemory(as: Int16?.self, to: nil)
        case .medium: place.initializeMemory(as: Int32?.self, to: nil)
        case .long: place.initializeMemory(as: Int64?.self, to: nil)
        case .date: place.initializeMemory(as: Date?.self, to: nil)
        case .other: return false
        }
        return true
    }

    private static func writeZero(_ kind: TypedField.Kind, to place: UnsafeMutableRawPointer) -> Bool {
        switch kind {
        case .real: place.initializeMemory(as: Double.self, to: 0)
        case .single: place.initializeMemory(as: Float.self, to: 0)
        case .flag: place.initializeMemory(as: Bool.self, to: false)
        case .short: place.initializeMemory(as: Int16.self, to: 0)
        case .medium: place.initializeMemory(as: Int32.self, to: 0)
        case .long: place.initializeMemory(as: Int64.self, to: 0)
        case .text, .date, .other: return false
        }
        return true
    }
}
