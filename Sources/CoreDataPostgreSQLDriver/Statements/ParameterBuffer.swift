import CPostgreSQL
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The parameters of a statement in the wire format, in the types that the server expects.
///
/// Values persist from run to run; a new value reuses the memory of the old one if it fits.
///
/// ```
///  values   ──▶ numbers: eight bytes for each parameter
///           ──▶ bytes:   texts and data, one after another
/// ```
final class ParameterBuffer {
    let types: [Oid]
    private let count: Int
    /// The values; `nil` for NULL.
    private let values: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let lengths: UnsafeMutablePointer<Int32>
    private let formats: UnsafeMutablePointer<Int32>
    private let numbers: UnsafeMutableRawPointer
    /// The size and position of each parameter among the bytes; 0 for none.
    private let rooms: UnsafeMutablePointer<Int>
    private let offsets: UnsafeMutablePointer<Int>
    private var bytes: UnsafeMutableRawPointer?
    private var capacity = 0
    private var used = 0

    init(_ types: [Oid]) {
        self.types = types
        count = types.count
        values = .allocate(capacity: count)
        values.initialize(repeating: nil, count: count)
        lengths = .allocate(capacity: count)
        lengths.initialize(repeating: 0, count: count)
        formats = .allocate(capacity: count)
        formats.initialize(repeating: 1, count: count)
        numbers = .allocate(byteCount: 8 * count, alignment: 8)
        rooms = .allocate(capacity: count)
        rooms.initialize(repeating: 0, count: count)
        offsets = .allocate(capacity: count)
        offsets.initialize(repeating: 0, count: count)
    }

    deinit {
        values.deallocate()
        lengths.deallocate()
        formats.deallocate()
        numbers.deallocate()
        rooms.deallocate()
        offsets.deallocate()
        bytes?.deallocate()
    }

    func setNull(_ index: Int) {
        check(index)
        values[index] = nil
    }

    func removeAll() {
        for index in 0..<count {
            values[index] = nil
            rooms[index] = 0
        }
        used = 0
        guard capacity > 1 << 20 else { return }
        bytes?.deallocate()
        (bytes, capacity) = (nil, 0)
    }

    /// Calls `body` with the arguments for libpq.
    func withValues<R>(
        _ body: (
            _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> R
    ) -> R { body(values, lengths, formats) }

    /// Appends the arguments for libpq to those of other statements.
    func append(
        to values: UnsafeMutablePointer<UnsafePointer<CChar>?>, _ lengths: UnsafeMutablePointer<Int32>,
        _ formats: UnsafeMutablePointer<Int32>
    ) {
        values.update(from: self.values, count: count)
        lengths.update(from: self.lengths, count: count)
        formats.update(from: self.formats, count: count)
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

    /// Binds a double. NaN is stored as NULL, as in SQLite: servers sort NaN last and treat it as equal to itself.
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
        // As text for any type: the server parses it.
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

    /// Converts seconds since 2001 to the server's time, rounded to the nearest microsecond.
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

    private func check(_ index: Int) { precondition(index >= 0 && index < count, "there is no parameter \(index)") }

    private func put<T>(_ index: Int, _ value: T) {
        check(index)
        let place = numbers + 8 * index
        place.storeBytes(of: value, as: T.self)
        values[index] = UnsafePointer(place.assumingMemoryBound(to: CChar.self))
        lengths[index] = Int32(MemoryLayout<T>.size)
        formats[index] = 1
    }

    private func put(_ index: Int, asText text: String) {
        var text = text
        text.withUTF8 { put(index, UnsafeRawBufferPointer($0), format: 0, terminated: true) }
    }

    private func put(_ index: Int, _ source: UnsafeRawBufferPointer, format: Int32, terminated: Bool = false) {
        check(index)
        let start = place(index, source.count + (terminated ? 1 : 0))
        if let base = source.baseAddress, !source.isEmpty { start.copyMemory(from: base, byteCount: source.count) }
        if terminated { start.storeBytes(of: 0, toByteOffset: source.count, as: UInt8.self) }
        values[index] = UnsafePointer(start.assumingMemoryBound(to: CChar.self))
        lengths[index] = Int32(truncatingIfNeeded: source.count)
        formats[index] = format
    }

    /// Returns the address for a value of that size, aligned to eight bytes.
    private func place(_ index: Int, _ size: Int) -> UnsafeMutableRawPointer {
        if let bytes, rooms[index] >= size, rooms[index] > 0 { return bytes + offsets[index] }
        let room = (max(size, 8) + 7) & ~7
        // The parameter's old memory is unused now.
        rooms[index] = 0
        let bytes = used + room > capacity ? grow(by: room) : self.bytes ?? grow(by: room)
        (rooms[index], offsets[index]) = (room, used)
        used += room
        return bytes + offsets[index]
    }

    /// Moves the used values to a buffer of twice the size.
    private func grow(by room: Int) -> UnsafeMutableRawPointer {
        var kept = 0
        for index in 0..<count { kept += rooms[index] }
        capacity = max(2 * (kept + room), 256)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        var end = 0
        if let bytes {
            for index in 0..<count where rooms[index] > 0 {
                let former = bytes + offsets[index]
                (larger + end).copyMemory(from: former, byteCount: rooms[index])
                if values[index] == UnsafePointer(former.assumingMemoryBound(to: CChar.self)) {
                    values[index] = UnsafePointer((larger + end).assumingMemoryBound(to: CChar.self))
                }
                offsets[index] = end
                end += rooms[index]
            }
            bytes.deallocate()
        }
        bytes = larger
        used = end
        return larger
    }
}
