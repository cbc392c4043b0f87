/// Writes JSON into bytes.
///
///     JSONWriter.text(["name": "Milk", "price": .number("1.50")])     // {"name":"Milk","price":1.50}
public struct JSONWriter {
    /// The bytes written so far, in UTF-8.
    public private(set) var bytes: [UInt8] = []

    /// Makes a writer with room for a number of bytes.
    public init(capacity: Int = 1024) { bytes.reserveCapacity(capacity) }

    /// Returns the JSON of a value in UTF-8.
    public static func bytes(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.write(value)
        return writer.bytes
    }

    /// Returns the JSON of a value.
    public static func text(_ value: JSONValue) -> String { String(decoding: bytes(value), as: UTF8.self) }

    /// Appends the JSON of a value.
    public mutating func write(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .boolean(let value): raw(value ? "true" : "false")
        case .number(let digits): raw(digits)
        case .string(let text): quote(text)
        case .array(let elements):
            raw("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { raw(",") }
                write(element)
            }
            raw("]")
        case .object(let members):
            raw("{")
            for (index, member) in members.enumerated() {
                if index > 0 { raw(",") }
                quote(member.name)
                raw(":")
                write(member.value)
            }
            raw("}")
        }
    }

    private mutating func raw(_ text: String) { bytes += text.utf8 }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): raw("\\\"")
            case UInt8(ascii: "\\"): raw("\\\\")
            case 0x0A: raw("\\n")
            case 0x0D: raw("\\r")
            case 0x09: raw("\\t")
            case 0..<0x20:
                raw("\\u00")
                bytes.append(Self.digits[Int(byte >> 4)])
                bytes.append(Self.digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
