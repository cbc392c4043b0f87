import Foundation

/// Reads what ``ByteWriter`` wrote. Any bytes are safe to read: a count or length beyond the end is a ``FileFault``,
/// and no more memory is reserved than the bytes that are left could fill.
package struct ByteReader: Sendable {
    private let bytes: [UInt8]
    /// The number of bytes before the next one.
    package private(set) var offset: Int
    private let end: Int

    package init(_ bytes: [UInt8]) { (self.bytes, offset, end) = (bytes, 0, bytes.count) }
    package init(_ data: Data) { self.init([UInt8](data)) }

    private init(_ bytes: [UInt8], _ range: Range<Int>) {
        (self.bytes, offset, end) = (bytes, range.lowerBound, range.upperBound)
    }

    package var remaining: Int { end - offset }
    package var isAtEnd: Bool { offset == end }

    package func fault(_ detail: String) -> FileFault { FileFault(.malformed, detail, at: offset) }

    /// Advances over a number of bytes that must exist.
    private mutating func take(_ count: Int) throws(FileFault) -> Int {
        guard count <= remaining else { throw fault("\(count) bytes are expected, \(remaining) are left") }
        defer { offset += count }
        return offset
    }

    package mutating func byte() throws(FileFault) -> UInt8 {
        guard offset < end else { throw fault("a byte is expected at the end") }
        defer { offset += 1 }
        return bytes[offset]
    }

    package mutating func varint() throws(FileFault) -> UInt64 {
        let first = try byte()
        if first < 0x80 { return UInt64(first) }
        var value = UInt64(first & 0x7f)
        var shift: UInt64 = 7
        while true {
            let next = try byte()
            value |= UInt64(next & 0x7f) << shift
            if next < 0x80 {
                guard next != 0, shift < 63 || next == 1 else { throw fault("a number has too many digits") }
                return value
            }
            shift += 7
            guard shift < 64 else { throw fault("a number has too many digits") }
        }
    }

    package mutating func signed() throws(FileFault) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A number that must be below a bound.
    package mutating func number(below bound: Int, _ name: String) throws(FileFault) -> Int {
        let value = try varint()
        guard value < UInt64(max(0, bound)) else { throw fault("\(name) is \(value), but must be below \(bound)") }
        return Int(value)
    }

    /// The number of elements that follow, of which each takes at least `size` bytes.
    package mutating func count(ofSize size: Int = 1) throws(FileFault) -> Int {
        let value = try varint()
        guard value <= UInt64(remaining / max(1, size)) else {
            throw fault("\(value) elements do not fit into the \(remaining) bytes that are left")
        }
        return Int(value)
    }

    package mutating func fixed64() throws(FileFault) -> UInt64 {
        let start = try take(8)
        return UInt64(littleEndian: load(start))
    }

    package mutating func identifier() throws(FileFault) -> Identifier128 {
        let start = try take(16)
        return Identifier128(high: UInt64(bigEndian: load(start)), low: UInt64(bigEndian: load(start + 8)))
    }

    private func load(_ start: Int) -> UInt64 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt64.self) }
    }

    package mutating func string() throws(FileFault) -> String {
        let count = try count()
        let start = try take(count)
        guard let text = String(validating: bytes[start..<start + count], as: UTF8.self) else {
            throw FileFault(.malformed, "a text is not UTF-8", at: start)
        }
        return text
    }

    package mutating func data() throws(FileFault) -> Data {
        let count = try count()
        return try raw(count)
    }

    /// Bytes whose number the format fixes.
    package mutating func raw(_ count: Int) throws(FileFault) -> Data {
        let start = try take(count)
        return bytes.withUnsafeBytes { Data($0[start..<start + count]) }
    }

    /// Advances over bytes whose number the format fixes.
    package mutating func skip(_ count: Int) throws(FileFault) { _ = try take(count) }

    /// A reader of the bytes that follow their number; this reader continues after them.
    package mutating func section() throws(FileFault) -> ByteReader {
        let count = try count()
        let start = try take(count)
        return ByteReader(bytes, start..<start + count)
    }

    /// Checks that all bytes were read.
    package func finish() throws(FileFault) {
        if !isAtEnd { throw fault("\(remaining) bytes follow the last value") }
    }
}
