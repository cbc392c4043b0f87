import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The format of binary stores. It is specific to this framework, because Apple's is undocumented. docs/binary-store.md
/// specifies it.
///
/// ```
///  0   8  89 4F 43 44 42 0D 0A 1A
///  8   8  version
///  16  8  checksum of everything after it: FNV-1a
///  24  …  identifier │ metadata │ entities with the columns of their rows │ rows │ pairs
/// ```
/// Entities and properties are identified by name, so that the file stays readable if the model's numbers change.
package enum BinaryStoreFormat: AtomicFormat {
    package static let kind = AtomicFileKind.binary
    package static let sharesKeys = false
    package static let keyBeforeFirst: Int64 = 0

    static let magic = AtomicFileKind.binaryStart
    static let version: UInt64 = 1
    static let headSize = 24

    /// The format supports everything that a row can contain.
    package static func check(_ model: CompiledModel, entities: [Int]) throws {}

    // MARK: Reading

    package static func metadata(in data: Data, path: String) throws -> MetadataRow {
        try read(data, path) { try metadata(&$0) }
    }

    package static func contents(
        in data: Data, model: CompiledModel, entities: [Int], path: String
    ) throws -> MemoryContents {
        try read(data, path) { bytes in
            let row = try metadata(&bytes)
            var contents = MemoryContents(model: model, identifier: row.identifier)
            contents.metadata = row.metadata
            var reader = try BinaryRowReader(&bytes, model, Set(entities))
            try reader.readRows(&bytes, into: &contents)
            try reader.readPairs(&bytes, into: &contents.graph)
            guard bytes.isAtEnd else { throw bytes.failure("there is more after the last pair") }
            return contents
        }
    }

    package static func objectCounts(in data: Data, path: String) throws -> [String: Int] {
        try read(data, path) { bytes in
            _ = try metadata(&bytes)
            return try BinaryRowCounts(&bytes).counts
        }
    }

    private static func metadata(_ bytes: inout BinaryBytes) throws -> MetadataRow {
        MetadataRow(identifier: try bytes.text(), metadata: StoreMetadata(propertyList: try bytes.data()))
    }

    /// Validates the header and calls `body` with the rest.
    private static func read<R>(_ data: Data, _ path: String, _ body: (inout BinaryBytes) throws -> R) throws -> R {
        if let other = otherKind(data, path: path) { throw other }
        guard begins(data) else { throw damaged(path, "it does not begin as one") }
        return try data.withUnsafeBytes { all in
            guard all.count >= headSize else { throw damaged(path, "it ends after \(all.count) bytes") }
            func number(at offset: Int) -> UInt64 {
                UInt64(littleEndian: all.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            guard number(at: 8) == version else {
                throw StoreFailure(
                    .newerFormat,
                    "The file '\(path)' is a binary store of version \(number(at: 8)); known is \(version).")
            }
            let rest = UnsafeRawBufferPointer(rebasing: all[headSize...])
            var digest = AtomicDigest()
            digest.add(rest)
            guard digest.value == number(at: 16) else {
                throw damaged(path, "its checksum is wrong: a part was changed or is missing")
            }
            var bytes = BinaryBytes(rest)
            do { return try body(&bytes) } catch let failure as BinaryBytes.Failure {
                throw damaged(path, "byte \(headSize + failure.offset): \(failure.reason)")
            }
        }
    }

    package static func salvage(
        _ data: Data, model: CompiledModel, entities: [Int], path: String
    ) throws -> (MemoryContents, notes: [String]) {
        if let other = otherKind(data, path: path) { throw other }
        guard begins(data), data.count > headSize else { throw damaged(path, "it does not begin as one") }
        var contents = MemoryContents(model: model)
        var notes: [String] = []
        try data.dropFirst(headSize).withUnsafeBytes { rest in
            var digest = AtomicDigest()
            digest.add(rest)
            let sum = data.withUnsafeBytes {
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            }
            if digest.value != sum {
                notes.append("the checksum is wrong: values that can be read may be others than were saved")
            }
            var bytes = BinaryBytes(rest)
            var reader: BinaryRowReader
            do {
                _ = try metadata(&bytes)
                reader = try BinaryRowReader(&bytes, model, Set(entities))
            } catch let failure as BinaryBytes.Failure {
                throw damaged(path, "byte \(headSize + failure.offset): \(failure.reason)")
            }
            do {
                try reader.readRows(&bytes, into: &contents)
                try reader.readPairs(&bytes, into: &contents.graph)
            } catch let failure as BinaryBytes.Failure {
                notes.append("byte \(headSize + failure.offset): \(failure.reason); what follows is lost")
            }
        }
        return (contents, notes)
    }

    // MARK: Writing

    package static func write(_ contents: MemoryContents, entities: [Int], to writer: AtomicFileWriter) throws {
        try write(to: writer) { out in
            out.put(contents.identifier)
            out.put(contents.metadata.propertyList)
            try BinaryRowWriter(contents, entities).write(to: &out)
        }
    }

    package static func write(
        _ metadata: MetadataRow, replacingThoseIn data: Data, path: String, to writer: AtomicFileWriter
    ) throws {
        try read(data, path) { bytes in
            _ = try self.metadata(&bytes)
            let rest = bytes.rest
            try write(to: writer) { out in
                out.put(metadata.identifier)
                out.put(metadata.metadata.propertyList)
                try out.write(rest)
            }
        }
    }

    private static func write(to writer: AtomicFileWriter, _ body: (inout BinaryOutput) throws -> Void) throws {
        var head = magic
        withUnsafeBytes(of: version.littleEndian) { head.append(contentsOf: $0) }
        head.append(contentsOf: [UInt8](repeating: 0, count: 8))
        try head.withUnsafeBytes { try writer.write($0) }
        var out = BinaryOutput(writer)
        try body(&out)
        try out.flush()
        try withUnsafeBytes(of: out.digest.value.littleEndian) { try writer.overwrite($0, at: 16) }
    }
}

/// Reads values one after another, with bounds checks.
struct BinaryBytes {
    struct Failure: EngineFailure {
        var offset: Int
        var reason: String
    }

    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[offset...]) }

    func failure(_ reason: String) -> Failure { Failure(offset: offset, reason: reason) }

    mutating func byte() throws -> UInt8 {
        guard offset < bytes.count else { throw failure("the file ends too early") }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Reads a number with seven bits per byte, the lowest first; the last byte is below 128.
    mutating func number() throws -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { throw failure("a number has more than 64 bits") }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    /// Reads a signed number, encoded as 0, -1, 1, -2 …
    mutating func signed() throws -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Reads the number of the following elements; each has at least one byte.
    mutating func count() throws -> Int {
        let value = try number()
        guard value <= UInt64(bytes.count - offset) else { throw failure("the file ends too early") }
        return Int(value)
    }

    mutating func slice(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard count <= bytes.count - offset else { throw failure("the file ends too early") }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
    }

    mutating func slice() throws -> UnsafeRawBufferPointer { try slice(try count()) }

    mutating func word() throws -> UInt64 {
        UInt64(littleEndian: try slice(8).loadUnaligned(as: UInt64.self))
    }

    mutating func data() throws -> Data { Data(try slice()) }

    mutating func text() throws -> String {
        guard let text = String(validating: try slice(), as: UTF8.self) else { throw failure("a text is not UTF-8") }
        return text
    }
}

/// Writes the format that ``BinaryBytes`` reads.
struct BinaryOutput {
    private let writer: AtomicFileWriter
    private var buffer: [UInt8] = []
    private(set) var digest = AtomicDigest()

    init(_ writer: AtomicFileWriter) { self.writer = writer }

    mutating func put(byte: UInt8) { buffer.append(byte) }

    mutating func put(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.append(UInt8(rest))
    }

    mutating func put(signed: Int64) {
        put(number: UInt64(bitPattern: signed << 1) ^ UInt64(bitPattern: signed >> 63))
    }

    mutating func put(word: UInt64) { withUnsafeBytes(of: word.littleEndian) { buffer.append(contentsOf: $0) } }

    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        put(number: UInt64(bytes.count))
        buffer.append(contentsOf: bytes)
    }

    mutating func put(_ data: Data) { data.withUnsafeBytes { put($0) } }

    mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws {
        try flush()
        digest.add(bytes)
        try writer.write(bytes)
    }

    mutating func flushIfFull() throws { if buffer.count >= 1 << 17 { try flush() } }

    mutating func flush() throws {
        try buffer.withUnsafeBytes {
            digest.add($0)
            try writer.write($0)
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
