/// Finds the part of a tag that contains a given byte of a document, by scanning the bytes before it.
struct TagScan {
    enum Part {
        /// After the tag's end.
        case outside
        /// In the element's name.
        case element
        /// In the white space where an attribute may begin.
        case space
        /// In an attribute's name, or after it.
        case attribute(String)
        /// After the `=`.
        case equals(String)
        /// In a value; its opening quote is at `start`.
        case value(String, start: Int)
        /// Directly after a value's closing quote.
        case afterValue(String)
    }

    private(set) var element = ""
    private(set) var part = Part.element
    private var attribute: [UInt8] = []
    /// The opening quote of the current value.
    private var quote: UInt8 = 0

    /// Scans up to the byte; `nil` if no tag begins before it.
    init?(_ bytes: [UInt8], to offset: Int) {
        guard let start = bytes[..<min(offset, bytes.count)].lastIndex(of: UInt8(ascii: "<")) else { return nil }
        var name: [UInt8] = []
        for index in (start + 1)..<max(start + 1, min(offset, bytes.count)) {
            let byte = bytes[index]
            if index > start + 1 || byte != UInt8(ascii: "/") { step(byte, at: index, &name) }
        }
        element = String(decoding: name, as: UTF8.self)
    }

    private mutating func step(_ byte: UInt8, at index: Int, _ name: inout [UInt8]) {
        if case .value(let attribute, _) = part {
            if byte == quote { part = .afterValue(attribute) }
            return
        }
        if byte == UInt8(ascii: ">") {
            part = .outside
            return
        }
        switch part {
        case .outside, .value: break
        case .element:
            if Self.isNameByte(byte) { name.append(byte) } else { part = .space }
        case .space, .afterValue:
            if Self.isNameByte(byte) {
                attribute = [byte]
                part = .attribute(String(decoding: attribute, as: UTF8.self))
            } else {
                part = .space
            }
        case .attribute:
            if Self.isNameByte(byte) {
                attribute.append(byte)
                part = .attribute(String(decoding: attribute, as: UTF8.self))
            } else if byte == UInt8(ascii: "=") {
                part = .equals(String(decoding: attribute, as: UTF8.self))
            }
        case .equals(let attribute):
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
                part = .value(attribute, start: index)
            }
        }
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    static func isNameByte(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (0x30...0x3A).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}
