import CoreDataDigests
import Foundation

/// What every file but a blob begins and ends with: magic, version, kind, length; then the payload; then the SHA-256 of
/// all before.
///
/// The frame is the same in all versions. The payload is a sequence of fields, each with a number and a length: a
/// reader skips fields that it does not know.
enum Frame {
    enum Kind: UInt8 {
        case hello = 1
        case segment = 2
        case snapshot = 3
        case model = 4
    }

    private static let magic: [UInt8] = Array("OCDS".utf8)
    /// The version in the upper 4 bits: a reader refuses a greater one. The lower 4 bits count additions, which a
    /// reader skips.
    static let version: UInt8 = 0x10
    private static let headLength = 14
    private static let digestLength = 32

    static func seal(_ kind: Kind, _ payload: [UInt8]) -> Data {
        var writer = ByteWriter(reserving: headLength + payload.count + digestLength)
        writer.raw(magic)
        writer.byte(version)
        writer.byte(kind.rawValue)
        writer.fixed64(UInt64(payload.count))
        writer.raw(payload)
        writer.raw(digest(writer.bytes))
        return writer.asData
    }

    /// Checks the frame and returns a reader of the payload.
    static func open(_ kind: Kind, _ data: Data) throws(FileFault) -> ByteReader {
        let start = [UInt8](data.prefix(magic.count))
        guard magic.starts(with: start) else { throw FileFault(.foreign, "it does not begin with “OCDS”") }
        guard data.count >= headLength + digestLength else {
            throw FileFault(.torn, "it has only \(data.count) bytes", at: data.count)
        }
        let bytes = [UInt8](data.dropLast(digestLength))
        var reader = ByteReader(bytes)
        _ = try reader.raw(magic.count)
        let version = try reader.byte()
        let number = try reader.byte()
        let length = try reader.fixed64()
        guard length == UInt64(reader.remaining) else {
            throw FileFault(.torn, "\(length) bytes were written, \(reader.remaining) are there", at: reader.offset)
        }
        guard data.suffix(digestLength).elementsEqual(digest(bytes)) else {
            throw FileFault(.torn, "its bytes do not match its checksum", at: bytes.count)
        }
        guard version >> 4 <= Self.version >> 4 else {
            throw FileFault(
                .newerVersion, "it has version \(version >> 4); this is version \(Self.version >> 4)", at: 4)
        }
        guard number == kind.rawValue else {
            throw FileFault(.malformed, "it is a file of kind \(number), not a \(kind)", at: 5)
        }
        return reader
    }

    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: digestLength)
        digest.withUnsafeMutableBytes { Digests.sha256(bytes, into: $0) }
        return digest
    }
}

/// The fields of a payload, each with a number and a length.
struct Fields {
    private var sections: [UInt64: ByteReader] = [:]
    private let end: Int

    init(_ payload: ByteReader) throws(FileFault) {
        var reader = payload
        while !reader.isAtEnd {
            let number = try reader.varint()
            guard sections.updateValue(try reader.section(), forKey: number) == nil else {
                throw reader.fault("field \(number) is there twice")
            }
        }
        end = reader.offset
    }

    subscript(_ number: UInt64) -> ByteReader? { sections[number] }

    func required(_ number: UInt64) throws(FileFault) -> ByteReader {
        guard let section = sections[number] else {
            throw FileFault(.malformed, "field \(number) is missing", at: end)
        }
        return section
    }
}

extension ByteWriter {
    /// Appends a field of a payload.
    mutating func field(_ number: UInt64, _ content: ByteWriter) {
        varint(number)
        data(content.bytes)
    }
}
