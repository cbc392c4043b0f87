import CoreDataPrimitives

/// An element of an XML file with its place in the text.
package struct MarkupElement: Sendable {
    package var name: String
    package var attributes: [String: String]
    package var children: [MarkupElement] = []
    /// The text directly inside the element, without that of its children.
    package var text = ""
    /// Where the element's tag begins.
    package var location: SourceLocation
    /// The byte at which the tag begins and the text that it is in, for finding the places of attributes.
    let offset: Int
    let source: MarkupSource

    package func children(named name: String) -> [MarkupElement] { children.filter { $0.name == name } }

    /// Where an attribute stands in the element's tag; the element's own place if it has no such attribute.
    package func location(of attribute: String) -> SourceLocation {
        source.offset(ofAttribute: attribute, from: offset).map(source.location) ?? location
    }
}

/// The bytes of an XML file, and where in it things are.
final class MarkupSource: Sendable {
    let file: String?
    let bytes: [UInt8]
    /// The byte at which each line begins.
    private let lineStarts: [Int]
    /// Name and byte offset of every start tag, in order.
    let tags: [(name: String, offset: Int)]
    /// The byte at which each comment begins.
    let comments: [Int]

    init(bytes: [UInt8], file: String?) {
        self.file = file
        self.bytes = bytes
        var starts = [0]
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(index + 1) }
        lineStarts = starts
        (tags, comments) = Self.findTags(in: bytes)
    }

    func location(_ offset: Int) -> SourceLocation {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        let column = String(decoding: bytes[lineStarts[low]..<min(offset, bytes.count)], as: UTF8.self).count + 1
        return SourceLocation(file: file, line: low + 1, column: column)
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

    /// Finds the start tags; comments, declarations, CDATA and processing instructions hold none.
    private static func findTags(in bytes: [UInt8]) -> (tags: [(name: String, offset: Int)], comments: [Int]) {
        var tags: [(String, Int)] = []
        var comments: [Int] = []
        var index = 0
        func skip(past end: StaticString) {
            let end = Array(end.description.utf8)
            while index < bytes.count, !bytes[index...].starts(with: end) { index += 1 }
            index = min(bytes.count, index + end.count)
        }
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "<") else {
                index += 1
                continue
            }
            let rest = bytes[index...]
            if rest.starts(with: "<!--".utf8) {
                comments.append(index)
                skip(past: "-->")
            } else if rest.starts(with: "<![CDATA[".utf8) {
                skip(past: "]]>")
            } else if rest.starts(with: "<?".utf8) {
                skip(past: "?>")
            } else if rest.starts(with: "<!".utf8) {
                skipDeclaration(in: bytes, &index)
            } else if rest.starts(with: "</".utf8) {
                skip(past: ">")
            } else {
                let start = index
                let name = bytes[(index + 1)...].prefix {
                    !isSpace($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">")
                }
                tags.append((String(decoding: name, as: UTF8.self), start))
                skipTag(in: bytes, &index)
            }
        }
        return (tags, comments)
    }

    private static func skipTag(in bytes: [UInt8], _ index: inout Int) {
        var quote: UInt8 = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
    }

    private static func skipDeclaration(in bytes: [UInt8], _ index: inout Int) {
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth <= 0:
                index += 1
                return
            default: break
            }
            index += 1
        }
    }
}
