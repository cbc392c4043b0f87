import CoreDataPrimitives

/// An element of an XML file with its location in the text.
package struct MarkupElement: Sendable {
    package var name: String
    package var attributes: [String: String]
    package var children: [MarkupElement] = []
    /// The text directly inside the element, without that of its children.
    package var text = ""
    /// The location of the element's start tag.
    package var location: SourceLocation
    /// The byte offset of the start tag, and its text, for locating attributes.
    let offset: Int
    let source: MarkupSource

    package func children(named name: String) -> [MarkupElement] { children.filter { $0.name == name } }

    /// Returns the location of an attribute in the element's tag; the element's location if it has no such attribute.
    package func location(of attribute: String) -> SourceLocation {
        source.offset(ofAttribute: attribute, from: offset).map(source.location) ?? location
    }
}

/// The bytes of an XML file, with the offsets of lines and comments.
final class MarkupSource: Sendable {
    let file: String?
    let bytes: [UInt8]
    /// The byte offset of each line.
    private let lineStarts: [Int]
    /// The byte offset of each comment.
    let comments: [Int]

    init(bytes: [UInt8], file: String?, comments: [Int] = []) {
        self.file = file
        self.bytes = bytes
        self.comments = comments
        var starts = [0]
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(index + 1) }
        lineStarts = starts
    }

    func location(_ offset: Int) -> SourceLocation {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        let start = lineStarts[low]
        let column = String(decoding: bytes[start..<max(start, min(offset, bytes.count))], as: UTF8.self).count + 1
        return SourceLocation(file: file, line: low + 1, column: column)
    }

    /// Returns the text of a line, counted from 1.
    func line(_ number: Int) -> String? {
        guard lineStarts.indices.contains(number - 1) else { return nil }
        let line = bytes[lineStarts[number - 1]...].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        return String(decoding: line, as: UTF8.self)
    }

    func offset(ofAttribute name: String, from tag: Int) -> Int? {
        let name = Array(name.utf8)
        var quote: UInt8 = 0
        var index = tag + 1
        while index < bytes.count {
            let byte = bytes[index]
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: ">") {
                return nil
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if Self.isSpace(bytes[index - 1]), bytes[index...].starts(with: name),
                let next = bytes[(index + name.count)...].first(where: { !Self.isSpace($0) }),
                next == UInt8(ascii: "=")
            {
                return index
            }
            index += 1
        }
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}
