import Foundation

/// A value as bytes: a byte for its kind, then the value.
///
/// Each value has one form: texts keep their scalars, doubles and dates their bits.
extension SyncValue {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .null: writer.byte(0)
        case .integer(let number):
            writer.byte(1)
            writer.signed(number)
        case .double(let bits):
            writer.byte(2)
            writer.fixed64(bits)
        case .decimal(let text):
            writer.byte(3)
            writer.string(text)
        case .string(let text):
            writer.byte(4)
            writer.string(text)
        case .date(let bits):
            writer.byte(5)
            writer.fixed64(bits)
        case .data(let data):
            writer.byte(6)
            writer.data(data)
        case .uuid(let id):
            writer.byte(7)
            writer.identifier(id)
        case .uri(let text):
            writer.byte(8)
            writer.string(text)
        case .reference(let id):
            writer.byte(9)
            writer.identifier(id)
        case .blob(let digest, let size):
            writer.byte(10)
            writer.data(digest)
            writer.varint(max(0, size))
        case .stored: writer.byte(11)
        }
    }

    init(from reader: inout ByteReader) throws(FileFault) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .null
        case 1: self = .integer(try reader.signed())
        case 2: self = .double(try reader.fixed64())
        case 3: self = .decimal(try reader.string())
        case 4: self = .string(try reader.string())
        case 5: self = .date(try reader.fixed64())
        case 6: self = .data(try reader.data())
        case 7: self = .uuid(try reader.identifier())
        case 8: self = .uri(try reader.string())
        case 9: self = .reference(try reader.identifier())
        case 10:
            let digest = try reader.data()
            self = .blob(digest: digest, size: try reader.number(below: .max, "the size of a large value"))
        case 11: self = .stored
        default: throw reader.fault("values have no kind \(kind)")
        }
    }

    /// The value as bytes by itself, for a journal.
    package var bytes: Data {
        var writer = ByteWriter()
        write(to: &writer)
        return writer.asData
    }

    package init(bytes: Data) throws(FileFault) {
        var reader = ByteReader(bytes)
        try self.init(from: &reader)
        try reader.finish()
    }
}
