import Foundation

/// Encodings of XML documents.
package enum XMLText {
    /// Converts the document to UTF-8 without a byte order mark, so that its bytes can be read; see
    /// ``XMLReader/init(_:isUTF8:)``.
    ///
    /// Accepts the encodings of ``XMLReader``: UTF-8, UTF-16 with or without a byte order mark, ISO-8859-1, US-ASCII.
    package static func utf8(_ data: Data) throws(XMLFailure) -> Data {
        let start = Array(data.prefix(4))
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { return data.dropFirst(3) }
        switch (start.first, start.dropFirst().first) {
        case (0xFE, 0xFF), (0x00, 0x3C): return try utf8(data, isBigEndian: true)
        case (0xFF, 0xFE), (0x3C, 0x00): return try utf8(data, isBigEndian: false)
        default: break
        }
        guard let encoding = declaredEncoding(of: Array(data.prefix(256))) else { return data }
        switch encoding.lowercased() {
        case "utf-8", "utf8", "us-ascii", "ascii": return data
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1":
            return Data(String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) })).utf8)
        case "utf-16", "utf-16be", "utf-16le":
            throw XMLFailure("the file is not in the encoding that it names", hint: encodingHint)
        default: throw XMLFailure(unknownEncoding(encoding), hint: encodingHint)
        }
    }

    private static func utf8(_ data: Data, isBigEndian: Bool) throws(XMLFailure) -> Data {
        let bytes = Array(data)
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { index -> UInt16 in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        let content = units.first == 0xFEFF ? units[1...] : units[...]
        guard bytes.count.isMultiple(of: 2), let text = String(validating: content, as: UTF16.self) else {
            throw XMLFailure("the file starts as UTF-16, but is not", hint: encodingHint)
        }
        return Data(text.utf8)
    }

    /// Returns the encoding that `<?xml … encoding="…"?>` declares.
    static func declaredEncoding(of bytes: [UInt8]) -> String? {
        let ascii = String(decoding: bytes.prefix(256).filter { $0 != 0 }, as: UTF8.self)
        guard let start = ascii.range(of: "<?xml"), let end = ascii.range(of: "?>"), start.upperBound < end.lowerBound,
            let name = ascii[start.upperBound..<end.lowerBound].range(of: "encoding")
        else { return nil }
        let quoted = ascii[name.upperBound..<end.lowerBound].split(whereSeparator: { "=\"' \t\r\n".contains($0) })
        return quoted.first.map(String.init)
    }

    static func unknownEncoding(_ name: String) -> String { "the encoding '\(name)' is not supported" }

    static let encodingHint = "convert the file to UTF-8 first, e.g. with iconv"
}
