import Foundation

/// Appends numbers, texts and identifiers to bytes. ``ByteReader`` reads them.
package struct ByteWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(reserving capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    package mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Appends a number in groups of seven bits, the lowest first: 1 byte below 128, at most 10.
    package mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    package mutating func varint(_ value: Int) { varint(UInt64(value)) }

    /// Appends a number with a sign: small absolute values are short.
    package mutating func signed(_ value: Int64) { varint(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    /// Appends 4 bytes, the lowest first.
    package mutating func fixed32(_ value: UInt32) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends 8 bytes, the lowest first.
    package mutating func fixed64(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends 16 bytes in the order of a UUID.
    package mutating func identifier(_ value: Identifier128) {
        withUnsafeBytes(of: (value.high.bigEndian, value.low.bigEndian)) { bytes.append(contentsOf: $0) }
    }

    /// Appends a text's UTF-8 bytes after their number.
    package mutating func string(_ value: String) {
        varint(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    /// Appends bytes after their number.
    package mutating func data(_ value: Data) {
        varint(value.count)
        raw(value)
    }

    package mutating func data(_ value: [UInt8]) {
        varint(value.count)
        bytes.append(contentsOf: value)
    }

    /// Appends bytes without their number.
    package mutating func raw(_ value: Data) { value.withUnsafeBytes { bytes.append(contentsOf: $0) } }
    package mutating func raw(_ value: [UInt8]) { bytes.append(contentsOf: value) }
    package mutating func raw(_ value: UnsafeRawBufferPointer) { bytes.append(contentsOf: value) }

    package var asData: Data { Data(bytes) }
}
