import CPostgreSQL
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The array parameters of a statement, in the wire format.
///
/// ```
///  dimensions  has NULLs  type    count   first  length value     length value
///  00000001    00000000   elem.   n       00001  8      …         -1 (NULL)    …
/// ```
/// All numbers are big-endian. Values are appended; the buffer is cleared as a whole, and its memory is reused.
final class ArrayBuffer: WireSink {
    private struct Column {
        let type: Oid
        var bytes: UnsafeMutableRawPointer
        var count: Int
        var capacity: Int
        var elementCount: UInt32 = 0
        var hasNulls = false
    }

    private static let headLength = 20
    /// The capacity of an array that is kept for the next statement.
    private static let keptCapacity = 1 << 20

    private let columns: UnsafeMutableBufferPointer<Column>

    /// Makes a buffer; `nil` unless all types are arrays.
    init?(_ types: [Oid]) {
        let elements = types.compactMap(PostgreSQLType.element)
        guard !types.isEmpty, elements.count == types.count else { return nil }
        columns = .allocate(capacity: types.count)
        for (index, type) in elements.enumerated() {
            let capacity = 1 << 10
            columns.initializeElement(
                at: index,
                to: Column(
                    type: type, bytes: .allocate(byteCount: capacity, alignment: 8), count: Self.headLength,
                    capacity: capacity))
        }
    }

    deinit {
        for column in columns { column.bytes.deallocate() }
        columns.deallocate()
    }

    var byteCount: Int { columns.reduce(0) { $0 + $1.count } }

    /// The number of values in each array.
    var counts: [Int] { columns.map { Int($0.elementCount) } }

    func removeAll() {
        for index in columns.indices {
            columns[index].elementCount = 0
            columns[index].hasNulls = false
            columns[index].count = Self.headLength
            guard columns[index].capacity > Self.keptCapacity else { continue }
            columns[index].bytes.deallocate()
            columns[index].capacity = 1 << 10
            columns[index].bytes = .allocate(byteCount: 1 << 10, alignment: 8)
        }
    }

    /// Calls `body` with the arguments for libpq.
    func withValues<R>(
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> R
    ) -> R {
        var values: [UnsafePointer<CChar>?] = []
        var lengths: [Int32] = []
        for column in columns {
            // One dimension with the first index 1; an empty array has no dimensions.
            let head: [UInt32] = [
                column.elementCount == 0 ? 0 : 1, column.hasNulls ? 1 : 0, column.type, column.elementCount, 1,
            ]
            for (index, word) in head.enumerated() {
                column.bytes.storeBytes(of: word.bigEndian, toByteOffset: 4 * index, as: UInt32.self)
            }
            values.append(UnsafePointer(column.bytes.assumingMemoryBound(to: CChar.self)))
            lengths.append(Int32(truncatingIfNeeded: column.elementCount == 0 ? 12 : column.count))
        }
        return body(Int32(columns.count), values, lengths, Array(repeating: 1, count: columns.count))
    }

    // MARK: Bytes

    func type(_ index: Int) -> Oid { columns[index].type }

    func appendNull(to index: Int) {
        columns[index].hasNulls = true
        columns[index].elementCount += 1
        makeRoom(4, index)
        columns[index].bytes.storeBytes(of: .max, toByteOffset: columns[index].count, as: UInt32.self)
        columns[index].count += 4
    }

    @inline(__always)
    func put<T>(_ value: T, to index: Int) {
        let size = MemoryLayout<T>.size
        let place = begin(size, index)
        place.storeBytes(of: value, as: T.self)
    }

    func put(_ source: UnsafeRawBufferPointer, to index: Int) {
        let place = begin(source.count, index)
        if let base = source.baseAddress { place.copyMemory(from: base, byteCount: source.count) }
    }

    /// Returns the address for a value of that length, and writes the length before it.
    @inline(__always)
    private func begin(_ length: Int, _ index: Int) -> UnsafeMutableRawPointer {
        makeRoom(4 + length, index)
        let place = columns[index].bytes + columns[index].count
        place.storeBytes(of: UInt32(truncatingIfNeeded: length).bigEndian, as: UInt32.self)
        columns[index].count += 4 + length
        columns[index].elementCount += 1
        return place + 4
    }

    @inline(__always)
    private func makeRoom(_ length: Int, _ index: Int) {
        if columns[index].count + length > columns[index].capacity { grow(by: length, index) }
    }

    private func grow(by length: Int, _ index: Int) {
        let capacity = 2 * (columns[index].count + length)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        larger.copyMemory(from: columns[index].bytes, byteCount: columns[index].count)
        columns[index].bytes.deallocate()
        columns[index].bytes = larger
        columns[index].capacity = capacity
    }
}
