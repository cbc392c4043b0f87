import CPostgreSQL
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The values of a statement's parameters as they go over the wire, each in the type that the server asks for.
///
/// Values stay from run to run; one that is bound anew takes the place of the old where it has room.
final class ParameterBuffer {
    private struct Place {
        var offset = 0
        var room = 0
    }

    let types: [Oid]
    private var places: [Place]
    /// -1 for NULL.
    private var lengths: [Int32]
    private var formats: [Int32]
    private var bytes: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0

    init(_ types: [Oid]) {
        self.types = types
        places = Array(repeating: Place(), count: types.count)
        lengths = Array(repeating: -1, count: types.count)
        formats = Array(repeating: 1, count: types.count)
        capacity = 64 + 16 * types.count
        bytes = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { bytes.deallocate() }

    func setNull(_ index: Int) { lengths[index] = -1 }

    func removeAll() {
        for index in lengths.indices {
            lengths[index] = -1
            places[index] = Place()
        }
        count = 0
        guard capacity > 1 << 20 else { return }
        bytes.deallocate()
        capacity = 64 + 16 * types.count
        bytes = .allocate(byteCount: capacity, alignment: 8)
    }

    /// Calls `body` with what libpq takes.
    func withValues<R>(
        _ body: (
            _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> R
    ) -> R {
        withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: max(1, types.count)) { values in
            for index in types.indices {
                let value: UnsafePointer<CChar>? =
                    lengths[index] < 0
                    ? nil : UnsafePointer((bytes + places[index].offset).assumingMemoryBound(to: CChar.self))
                values.initializeElement(at: index, to: value)
            }
            return lengths.withUnsafeBufferPointer { lengths in
                formats.withUnsafeBufferPointer { formats in
                    body(values.baseAddress.map { UnsafePointer($0) }, lengths.baseAddress, formats.baseAddress)
                }
            }
        }
    }

    // MARK: Values

    func set(_ index: Int, _ value: SQLValue) throws {
        switch value {
        case .null: setNull(index)
        case .integer(let value): try set(index, integer: value)
        case .real(let value): try set(index, real: value)
        case .text(var value): try value.withUTF8 { try set(index, text: UnsafeRawBufferPointer($0)) }
        case .blob(let value): try value.withUnsafeBytes { try set(index, blob: $0) }
        }
    }

    func set(_ index: Int, integer value: Int64) throws {
        switch types[index] {
        case PostgreSQLType.int8: put(index, value.bigEndian)
        case PostgreSQLType.int4: put(index, try Self.narrow(value, Int32.self, "integer").bigEndian)
        case PostgreSQLType.int2: put(index, try Self.narrow(value, Int16.self, "smallint").bigEndian)
        case PostgreSQLType.boolean:
            guard value == 0 || value == 1 else { throw Self.unfit("a number that is neither 0 nor 1", "boolean") }
            put(index, UInt8(value))
        case PostgreSQLType.float8, PostgreSQLType.float4, PostgreSQLType.timestampTZ:
            try set(index, real: Double(value))
        default: put(index, asText: String(value))
        }
    }

    /// What is not a number is kept as NULL, as SQLite keeps it: servers sort it last and call it equal to itself.
    func set(_ index: Int, real value: Double) throws {
        if value.isNaN { return setNull(index) }
        switch types[index] {
        case PostgreSQLType.float8: put(index, value.bitPattern.bigEndian)
        case PostgreSQLType.float4: put(index, Float(value).bitPattern.bigEndian)
        case PostgreSQLType.timestampTZ: put(index, try Self.microseconds(value).bigEndian)
        case PostgreSQLType.int8, PostgreSQLType.int4, PostgreSQLType.int2, PostgreSQLType.boolean:
            guard let whole = Int64(exactly: value) else { throw Self.unfit("a fraction", "integer") }
            try set(index, integer: whole)
        default:
            let text = value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : value.description
            put(index, asText: text)
        }
    }

    func set(_ index: Int, text: UnsafeRawBufferPointer) throws {
        try Self.checkIsKept(text)
        switch types[index] {
        case PostgreSQLType.numeric where text.elementsEqual("NaN".utf8): setNull(index)
        // As text, whatever the type: the server reads it.
        case PostgreSQLType.bytes: put(index, text, format: 1)
        default: put(index, text, format: 0, terminated: true)
        }
    }

    static func checkIsKept(_ text: UnsafeRawBufferPointer) throws {
        guard let start = text.baseAddress, memchr(start, 0, text.count) != nil else { return }
        throw SQLFailure(
            kind: .unkept, code: SQLFailure.number(ofState: "22021"),
            message:
                "a text has the character U+0000, which PostgreSQL cannot keep: take it out, or keep the text as data")
    }

    func set(_ index: Int, blob: UnsafeRawBufferPointer) throws {
        if types[index] == PostgreSQLType.uuid, blob.count != 16 {
            throw Self.unfit("data of \(blob.count) bytes", "uuid")
        }
        put(index, blob, format: 1)
    }

    /// Seconds since 2001 as the server counts them: to the nearest microsecond.
    static func microseconds(_ value: Double) throws -> Int64 {
        if value == .infinity { return .max }
        if value == -.infinity { return .min }
        guard let microseconds = Microseconds(value) else {
            throw unfit("a date before 4713 BC or after 294275 AD", "timestamptz")
        }
        return microseconds.count + PostgreSQLType.epoch
    }

    static func narrow<I: FixedWidthInteger>(_ value: Int64, _: I.Type, _ name: String) throws -> I {
        guard let narrow = I(exactly: value) else { throw unfit("a number so large", name) }
        return narrow
    }

    static func unfit(_ what: String, _ type: String) -> SQLFailure {
        SQLFailure(
            kind: .other, code: SQLFailure.number(ofState: "22003"),
            message: "\(what) does not fit a column of type \(type)")
    }

    // MARK: Bytes

    private func put<T>(_ index: Int, _ value: T) {
        let size = MemoryLayout<T>.size
        // First the place: to make room may move all bytes.
        let offset = place(index, size)
        (bytes + offset).storeBytes(of: value, as: T.self)
        reserveDone(index, size, format: 1)
    }

    private func put(_ index: Int, asText text: String) {
        var text = text
        text.withUTF8 { put(index, UnsafeRawBufferPointer($0), format: 0, terminated: true) }
    }

    private func put(_ index: Int, _ source: UnsafeRawBufferPointer, format: Int32, terminated: Bool = false) {
        let start = bytes(place(index, source.count + (terminated ? 1 : 0)))
        if let base = source.baseAddress, !source.isEmpty { start.copyMemory(from: base, byteCount: source.count) }
        if terminated { start.storeBytes(of: 0, toByteOffset: source.count, as: UInt8.self) }
        reserveDone(index, source.count, format: format)
    }

    private func bytes(_ offset: Int) -> UnsafeMutableRawPointer { bytes + offset }

    private func reserveDone(_ index: Int, _ length: Int, format: Int32) {
        lengths[index] = Int32(truncatingIfNeeded: length)
        formats[index] = format
    }

    /// Where a value of that size goes, on a boundary of eight bytes.
    private func place(_ index: Int, _ size: Int) -> Int {
        if places[index].room >= size, size > 0 { return places[index].offset }
        let room = (max(size, 8) + 7) & ~7
        if count + room > capacity { grow(by: room) }
        places[index] = Place(offset: count, room: room)
        count += room
        return places[index].offset
    }

    /// Moves what is still in use together, into twice the room.
    private func grow(by room: Int) {
        var used = 0
        for place in places { used += place.room }
        capacity = max(2 * (used + room), 64 + 16 * types.count)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        var end = 0
        for index in places.indices where places[index].room > 0 {
            (larger + end).copyMemory(from: bytes + places[index].offset, byteCount: places[index].room)
            places[index].offset = end
            end += places[index].room
        }
        bytes.deallocate()
        bytes = larger
        count = end
    }
}
