import CoreDataPrimitives
import Foundation

/// Reads binary property lists (`bplist00`), references of keyed archives included.
///
/// ```
/// "bplist00" | objects | offset of each object | trailer
///                                                 5 unused, sort version, offset size, reference size,
///                                                 object count, top object, offset of the offset table
/// ```
/// For any bytes, the reader returns or throws: it checks every offset, reference, length and cycle.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private var offsets: [Int] = []
    private var referenceSize = 0
    /// The objects that were read. Each object is read once, even if several others refer to it.
    private var values: [PropertyListValue?] = []
    private var isBeingRead: [Bool] = []
    /// The number of values in each object, including nested ones; an object counts once per reference.
    private var sizes: [Int] = []

    /// The number of values so far in the object that is being read.
    private var size = 1

    static func read(_ data: Data) throws(ModelFailure) -> PropertyListValue {
        var reader = BinaryPropertyListReader(bytes: Array(data))
        let top = try reader.readTrailer()
        return try reader.value(top, depth: 0)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func readTrailer() throws(ModelFailure) -> Int {
        let trailer = bytes.count - 32
        guard trailer >= 8, bytes.starts(with: "bplist0".utf8) else { throw failure("not a binary property list") }
        let offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        let count = try integer(at: trailer + 8, size: 8)
        let top = try integer(at: trailer + 16, size: 8)
        let table = try integer(at: trailer + 24, size: 8)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), count >= 1, count <= trailer,
            top >= 0, top < count, table >= 8, table <= trailer, count <= (trailer - table) / offsetSize
        else { throw failure("the trailer makes no sense") }
        offsets.reserveCapacity(count)
        for index in 0..<count {
            let offset = try integer(at: table + index * offsetSize, size: offsetSize)
            guard offset >= 8, offset < table else { throw failure("object \(index) lies outside the objects") }
            offsets.append(offset)
        }
        values = Array(repeating: nil, count: count)
        isBeingRead = Array(repeating: false, count: count)
        sizes = Array(repeating: 1, count: count)
        return top
    }

    private mutating func value(_ index: Int, depth: Int) throws(ModelFailure) -> PropertyListValue {
        guard offsets.indices.contains(index) else { throw failure("object \(index) does not exist") }
        if let value = values[index] { return value }
        if isBeingRead[index] { throw failure("object \(index) contains itself") }
        if depth > 256 { throw failure("objects are nested too deep") }
        isBeingRead[index] = true
        let outer = size
        size = 1
        let value = try parse(at: offsets[index], depth: depth)
        sizes[index] = size
        size = outer
        isBeingRead[index] = false
        values[index] = value
        return value
    }

    private mutating func parse(at offset: Int, depth: Int) throws(ModelFailure) -> PropertyListValue {
        let marker = bytes[offset]
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0:
            switch marker {
            case 0x08: return .bool(false)
            case 0x09: return .bool(true)
            default: return .string("$null")
            }
        case 0x1:
            guard low <= 4 else { throw failure("an integer of \(1 << low) bytes") }
            return .integer(try number(at: offset + 1, size: 1 << low))
        case 0x2:
            if low == 2 {
                return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try number(at: offset + 1, size: 4)))))
            }
            if low == 3 { return .real(Double(bitPattern: UInt64(bitPattern: try number(at: offset + 1, size: 8)))) }
            throw failure("a real number of \(1 << low) bytes")
        case 0x3: return .date(Double(bitPattern: UInt64(bitPattern: try number(at: offset + 1, size: 8))))
        case 0x4:
            let (start, count) = try length(at: offset, low)
            return .data(Data(try slice(start, count)))
        case 0x5:
            let (start, count) = try length(at: offset, low)
            return .string(String(decoding: try slice(start, count), as: UTF8.self))
        case 0x6:
            let (start, count) = try length(at: offset, low)
            guard count <= bytes.count else { throw failure("a string reaches beyond the end") }
            let units = Array(try slice(start, count * 2))
            return .string(
                String(
                    decoding: stride(from: 0, to: units.count, by: 2).map {
                        UInt16(units[$0]) << 8 | UInt16(units[$0 + 1])
                    },
                    as: UTF16.self))
        case 0x8: return .uid(Int(clamping: try number(at: offset + 1, size: low + 1)))
        case 0xA, 0xC:
            let (start, count) = try length(at: offset, low)
            return .array(try references(start, count, depth: depth))
        case 0xD:
            let (start, count) = try length(at: offset, low)
            let keys = try references(start, count, depth: depth)
            let objects = try references(start + count * referenceSize, count, depth: depth)
            var entries: [String: PropertyListValue] = [:]
            for (key, object) in zip(keys, objects) {
                if let key = key.string { entries[key] = object }
            }
            return .dictionary(entries)
        default: throw failure("an object of unknown kind \(marker)")
        }
    }

    private mutating func references(
        _ start: Int, _ count: Int, depth: Int
    ) throws(ModelFailure) -> [PropertyListValue] {
        guard count <= (bytes.count - start) / referenceSize else {
            throw failure("a collection reaches beyond the end")
        }
        var result: [PropertyListValue] = []
        result.reserveCapacity(count)
        for position in 0..<count {
            let index = try integer(at: start + position * referenceSize, size: referenceSize)
            result.append(try value(index, depth: depth + 1))
            // Shared collections can expand to more values than fit in memory.
            size += sizes[index]
            if size > bytes.count + (1 << 20) { throw failure("it stands for \(size) values and more") }
        }
        return result
    }

    /// Returns the start of an object's content and the number of its elements, bytes or code units.
    private func length(at offset: Int, _ low: Int) throws(ModelFailure) -> (start: Int, count: Int) {
        if low != 0xF { return (offset + 1, low) }
        guard offset + 1 < bytes.count, bytes[offset + 1] >> 4 == 1 else { throw failure("a length is missing") }
        let size = 1 << Int(bytes[offset + 1] & 0x0F)
        guard size <= 8 else { throw failure("a length of \(size) bytes") }
        let count = try integer(at: offset + 2, size: size)
        return (offset + 2 + size, count)
    }

    private func slice(_ start: Int, _ count: Int) throws(ModelFailure) -> ArraySlice<UInt8> {
        guard start >= 0, count >= 0, count <= bytes.count - start else {
            throw failure("content reaches beyond the end")
        }
        return bytes[start..<(start + count)]
    }

    /// Reads a number of 1 to 16 bytes; of a 16-byte number, the low half.
    private func number(at offset: Int, size: Int) throws(ModelFailure) -> Int64 {
        var result: UInt64 = 0
        for byte in try slice(offset, size) { result = result << 8 | UInt64(byte) }
        return Int64(bitPattern: result)
    }

    /// Reads a number that is not negative and fits an `Int`.
    private func integer(at offset: Int, size: Int) throws(ModelFailure) -> Int {
        guard let result = Int(exactly: try number(at: offset, size: size)), result >= 0 else {
            throw failure("a number is out of range")
        }
        return result
    }

    private func failure(_ message: String) -> ModelFailure {
        ModelFailure(diagnostics: [Diagnostic(.error, "the binary property list is damaged: \(message)")])
    }
}
