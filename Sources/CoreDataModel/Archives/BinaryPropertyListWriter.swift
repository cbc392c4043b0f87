import Foundation

/// Writes binary property lists (`bplist00`), including the references of keyed archives, which Foundation's writer
/// does not support. Equal scalars are written once. The same value always produces the same bytes.
struct BinaryPropertyListWriter {
    /// An object of the file: a scalar, or a collection as the indices of its parts.
    private enum Node {
        case scalar(PropertyListValue)
        case array([Int])
        case dictionary([Int], [Int])
    }

    private var nodes: [Node] = []
    private var scalars: [PropertyListValue: Int] = [:]

    static func data(_ value: PropertyListValue) -> Data {
        var writer = BinaryPropertyListWriter()
        _ = writer.add(value)
        return writer.write()
    }

    /// Adds a value and returns its index; the first value that is added is the top object, at 0.
    private mutating func add(_ value: PropertyListValue) -> Int {
        let index = nodes.count
        switch value {
        case .array(let elements):
            nodes.append(.array([]))
            nodes[index] = .array(elements.map { add($0) })
        case .dictionary(let entries):
            nodes.append(.dictionary([], []))
            let sorted = entries.sorted { NameOrder.byCodeUnits($0.key, $1.key) }
            let keys = sorted.map { add(.string($0.key)) }
            nodes[index] = .dictionary(keys, sorted.map { add($0.value) })
        default:
            if let known = scalars[value] { return known }
            scalars[value] = index
            nodes.append(.scalar(value))
        }
        return index
    }

    private func write() -> Data {
        let referenceSize = Self.size(of: nodes.count)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for node in nodes {
            offsets.append(bytes.count)
            switch node {
            case .scalar(let value): Self.append(value, to: &bytes)
            case .array(let elements):
                Self.append(marker: 0xA0, count: elements.count, to: &bytes)
                for index in elements { Self.append(index, size: referenceSize, to: &bytes) }
            case .dictionary(let keys, let values):
                Self.append(marker: 0xD0, count: keys.count, to: &bytes)
                for index in keys + values { Self.append(index, size: referenceSize, to: &bytes) }
            }
        }
        let table = bytes.count
        let offsetSize = Self.size(of: table)
        for offset in offsets { Self.append(offset, size: offsetSize, to: &bytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [nodes.count, 0, table] { Self.append(number, size: 8, to: &bytes) }
        return Data(bytes)
    }

    private static func append(_ value: PropertyListValue, to bytes: inout [UInt8]) {
        switch value {
        case .bool(let bool): bytes.append(bool ? 0x09 : 0x08)
        case .integer(let integer):
            // Only integers of eight bytes are signed.
            let size = integer < 0 ? 8 : size(of: Int(integer))
            bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
            append(Int(integer), size: size, to: &bytes)
        case .real(let real):
            bytes.append(0x23)
            append(Int(bitPattern: UInt(real.bitPattern)), size: 8, to: &bytes)
        case .date(let seconds):
            bytes.append(0x33)
            append(Int(bitPattern: UInt(seconds.bitPattern)), size: 8, to: &bytes)
        case .data(let data):
            append(marker: 0x40, count: data.count, to: &bytes)
            bytes.append(contentsOf: data)
        case .string(let text):
            if text.utf8.allSatisfy({ $0 < 0x80 }) {
                append(marker: 0x50, count: text.utf8.count, to: &bytes)
                bytes.append(contentsOf: text.utf8)
            } else {
                append(marker: 0x60, count: text.utf16.count, to: &bytes)
                for unit in text.utf16 { append(Int(unit), size: 2, to: &bytes) }
            }
        case .uid(let index):
            let size = size(of: index)
            bytes.append(0x80 | UInt8(size - 1))
            append(index, size: size, to: &bytes)
        case .array, .dictionary: break
        }
    }

    private static func append(marker: UInt8, count: Int, to bytes: inout [UInt8]) {
        if count < 15 {
            bytes.append(marker | UInt8(count))
        } else {
            bytes.append(marker | 0x0F)
            append(.integer(Int64(count)), to: &bytes)
        }
    }

    private static func append(_ number: Int, size: Int, to bytes: inout [UInt8]) {
        for shift in stride(from: (size - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Returns the smallest number of bytes (1, 2, 4 or 8) that can store the number.
    private static func size(of number: Int) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }
}
