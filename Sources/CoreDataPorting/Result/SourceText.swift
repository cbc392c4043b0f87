import CoreDataPrimitives

/// A source as bytes, with the offsets of its lines.
struct SourceText: Sendable {
    let path: String
    let bytes: [UInt8]
    /// The offset of each line.
    private let lineStarts: [Int]

    init(path: String, text: String) {
        self.path = path
        bytes = Array(text.utf8)
        var starts = [0]
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(index + 1) }
        lineStarts = starts
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Returns the line that contains an offset, counted from 1.
    func line(at offset: Int) -> Int {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    func location(at offset: Int) -> SourceLocation {
        let line = line(at: offset)
        return SourceLocation(file: path, line: line, column: text(lineStarts[line - 1]..<offset).count + 1)
    }

    /// Returns the text of a line without its line break.
    func lineText(_ line: Int) -> String {
        let end = line < lineStarts.count ? lineStarts[line] - 1 : bytes.count
        return text(lineStarts[line - 1]..<max(lineStarts[line - 1], end))
    }

    /// Returns spaces and the original line breaks instead of a range.
    func blank(_ range: Range<Int>) -> String {
        String(
            decoding: bytes[range].map {
                $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\t")
                    ? $0 : UInt8(ascii: " ")
            },
            as: UTF8.self)
    }

    /// Returns the whole text with spaces instead of these ranges.
    func blanked(_ ranges: [Range<Int>]) -> String {
        var bytes = bytes
        for range in ranges { bytes.replaceSubrange(range, with: blank(range).utf8) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the replacement with as many lines as the range, padded to its width where spaces do not change the
    /// meaning.
    func aligned(_ replacement: String, to range: Range<Int>) -> String {
        if replacement.isEmpty { return blank(range) }
        let newline = UInt8(ascii: "\n")
        let missing = bytes[range].count { $0 == newline } - replacement.utf8.count { $0 == newline }
        if missing > 0 { return replacement + String(repeating: "\n", count: missing) }
        let next = range.upperBound < bytes.count ? bytes[range.upperBound] : newline
        let width = range.count - replacement.utf8.count
        guard width > 0, [UInt8(ascii: ","), UInt8(ascii: ")"), UInt8(ascii: "]"), newline].contains(next) else {
            return replacement
        }
        return replacement + String(repeating: " ", count: width)
    }
}
