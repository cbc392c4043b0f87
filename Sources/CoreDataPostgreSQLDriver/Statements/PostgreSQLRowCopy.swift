import CPostgreSQL
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// Sends rows with COPY in its binary format.
///
/// ```
///  "PGCOPY\n" FF 0D 0A 00 · flags · 0      0003    0000 0008 …  0000 0005 …  FFFF FFFF    …    FFFF
///  signature                               columns  length value length value NULL              end
/// ```
final class PostgreSQLRowCopy: SQLRowCopy, WireSink {
    private static let signature: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)
    /// The number of bytes per call of libpq.
    private static let portion = 1 << 16

    private let connection: PostgreSQLConnection
    private let types: [Oid]
    private var bytes: UnsafeMutableRawPointer
    private var capacity = 2 * portion
    private var count = 0
    /// The next column.
    private var column = 0
    private var hasEnded = false

    /// - Parameter types: the types of the columns.
    init(_ connection: PostgreSQLConnection, _ types: [Oid]) {
        self.connection = connection
        self.types = types
        bytes = .allocate(byteCount: capacity, alignment: 8)
        Self.signature.withUnsafeBytes { add($0) }
    }

    deinit { bytes.deallocate() }

    /// Returns whether values of the type are copied in the column's format. Decimals, for example, are text elsewhere.
    static func takes(_ type: Oid) -> Bool {
        [
            PostgreSQLType.boolean, PostgreSQLType.bytes, PostgreSQLType.int2, PostgreSQLType.int4, PostgreSQLType.int8,
            PostgreSQLType.text, PostgreSQLType.float8, PostgreSQLType.timestampTZ, PostgreSQLType.uuid,
        ].contains(type)
    }

    func beginRow() throws {
        if count >= Self.portion { try send() }
        column = 0
        add(UInt16(truncatingIfNeeded: types.count).bigEndian)
    }

    func append(_ value: Int64) throws {
        try append(value, to: column)
        column += 1
    }

    func append(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind]) throws {
        try append(row, columns: columns, kinds: kinds, at: column)
        column += columns.count
    }

    func end() throws {
        add(UInt16.max)
        try send()
        hasEnded = true
        try connection.endCopy()
    }

    func giveUp() {
        guard !hasEnded else { return }
        hasEnded = true
        connection.giveUpCopy()
    }

    private func send() throws {
        try connection.sendCopy(UnsafeRawBufferPointer(start: bytes, count: count))
        count = 0
    }

    // MARK: Values

    func type(_ index: Int) -> Oid { types[index] }

    func appendNull(to index: Int) { add(UInt32.max) }

    @inline(__always)
    func put<T>(_ value: T, to index: Int) {
        add(UInt32(truncatingIfNeeded: MemoryLayout<T>.size).bigEndian)
        add(value)
    }

    func put(_ source: UnsafeRawBufferPointer, to index: Int) {
        add(UInt32(truncatingIfNeeded: source.count).bigEndian)
        add(source)
    }

    @inline(__always)
    private func add<T>(_ value: T) {
        makeRoom(MemoryLayout<T>.size)
        bytes.storeBytes(of: value, toByteOffset: count, as: T.self)
        count += MemoryLayout<T>.size
    }

    private func add(_ source: UnsafeRawBufferPointer) {
        makeRoom(source.count)
        if let base = source.baseAddress { (bytes + count).copyMemory(from: base, byteCount: source.count) }
        count += source.count
    }

    @inline(__always)
    private func makeRoom(_ length: Int) {
        if count + length > capacity { grow(by: length) }
    }

    private func grow(by length: Int) {
        capacity = 2 * (count + length)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        larger.copyMemory(from: bytes, byteCount: count)
        bytes.deallocate()
        bytes = larger
    }
}
