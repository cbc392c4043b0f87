import CPostgreSQL
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The values of one row of a result, in the wire format.
struct WireValues {
    private let result: OpaquePointer
    private let row: Int32
    private let types: UnsafeBufferPointer<Oid>

    @inline(__always)
    init(_ result: OpaquePointer, row: Int32, types: UnsafeBufferPointer<Oid>) {
        self.result = result
        self.row = row
        self.types = types
    }

    @inline(__always)
    private func bytes(_ column: Int) -> UnsafeRawPointer? {
        let column = Int32(truncatingIfNeeded: column)
        guard let value = PQgetvalue(result, row, column) else { return nil }
        return UnsafeRawPointer(value)
    }

    @inline(__always)
    private func length(_ column: Int) -> Int { Int(PQgetlength(result, row, Int32(truncatingIfNeeded: column))) }

    @inline(__always)
    func isNull(_ column: Int) -> Bool { PQgetisnull(result, row, Int32(truncatingIfNeeded: column)) != 0 }

    /// Returns the integer, 0 for NULL.
    @inline(__always)
    func integer(_ column: Int) -> Int64 {
        guard !isNull(column), let bytes = bytes(column) else { return 0 }
        return integer(bytes, column)
    }

    /// Returns the value's word, `nil` for NULL; the builder receives the bytes.
    @inline(__always)
    func word(_ column: Int, _ kind: ColumnKind, _ builder: RowBuilder) -> UInt64? {
        guard !isNull(column), let bytes = bytes(column) else { return nil }
        switch kind {
        case .integer: return UInt64(bitPattern: integer(bytes, column))
        case .real: return real(bytes, column).bitPattern
        case .text, .blob:
            switch types[column] {
            case PostgreSQLType.int8, PostgreSQLType.int4, PostgreSQLType.int2, PostgreSQLType.float8,
                PostgreSQLType.numeric, PostgreSQLType.timestampTZ, PostgreSQLType.boolean, PostgreSQLType.float4:
                var text = text(bytes, column)
                return text.withUTF8 { builder.keep(UnsafeRawBufferPointer($0)) }
            default: return builder.keep(UnsafeRawBufferPointer(start: bytes, count: length(column)))
            }
        }
    }

    @inline(__always)
    private func integer(_ bytes: UnsafeRawPointer, _ column: Int) -> Int64 {
        switch types[column] {
        case PostgreSQLType.int8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case PostgreSQLType.int4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case PostgreSQLType.int2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case PostgreSQLType.boolean: Int64(bytes.loadUnaligned(as: UInt8.self))
        default: otherInteger(bytes, column)
        }
    }

    private func otherInteger(_ bytes: UnsafeRawPointer, _ column: Int) -> Int64 {
        switch types[column] {
        case PostgreSQLType.oid: Int64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
        case PostgreSQLType.float8, PostgreSQLType.float4, PostgreSQLType.timestampTZ:
            Int64(exactly: real(bytes, column).rounded(.towardZero)) ?? 0
        default:
            Int64(text(bytes, column))
                ?? Int64(exactly: (Double(text(bytes, column)) ?? 0).rounded(.towardZero)) ?? 0
        }
    }

    @inline(__always)
    private func real(_ bytes: UnsafeRawPointer, _ column: Int) -> Double {
        switch types[column] {
        case PostgreSQLType.float8:
            Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
        case PostgreSQLType.timestampTZ: Self.seconds(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        default: otherReal(bytes, column)
        }
    }

    private func otherReal(_ bytes: UnsafeRawPointer, _ column: Int) -> Double {
        switch types[column] {
        case PostgreSQLType.float4: Double(Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))))
        case PostgreSQLType.int8, PostgreSQLType.int4, PostgreSQLType.int2, PostgreSQLType.boolean:
            Double(integer(bytes, column))
        default: Double(text(bytes, column)) ?? 0
        }
    }

    /// Converts to seconds since 2001.
    @inline(__always)
    private static func seconds(_ microseconds: Int64) -> Double {
        if microseconds == .max { return .infinity }
        if microseconds == .min { return -.infinity }
        return Microseconds(count: microseconds &- PostgreSQLType.epoch).seconds
    }

    private func text(_ bytes: UnsafeRawPointer, _ column: Int) -> String {
        switch types[column] {
        case PostgreSQLType.int8, PostgreSQLType.int4, PostgreSQLType.int2, PostgreSQLType.boolean:
            String(integer(bytes, column))
        case PostgreSQLType.float8, PostgreSQLType.float4, PostgreSQLType.timestampTZ: String(real(bytes, column))
        case PostgreSQLType.numeric: NumericText.text(bytes)
        default: String(decoding: UnsafeRawBufferPointer(start: bytes, count: length(column)), as: UTF8.self)
        }
    }

    func value(_ column: Int) -> SQLValue {
        guard !isNull(column), let bytes = bytes(column) else { return .null }
        switch types[column] {
        case PostgreSQLType.int8, PostgreSQLType.int4, PostgreSQLType.int2, PostgreSQLType.boolean, PostgreSQLType.oid:
            return .integer(integer(bytes, column))
        case PostgreSQLType.float8, PostgreSQLType.float4, PostgreSQLType.timestampTZ:
            return .real(real(bytes, column))
        case PostgreSQLType.bytes, PostgreSQLType.uuid: return .blob(Data(bytes: bytes, count: length(column)))
        case PostgreSQLType.numeric:
            let text = text(bytes, column)
            return Int64(text).map { .integer($0) } ?? .text(text)
        default: return .text(text(bytes, column))
        }
    }
}
