import Foundation

/// Makes thumbnails of pictures; ``SystemImageScaler`` is an implementation that runs a system tool.
public protocol ImageScaler: Sendable {
    /// Returns a picture that fits into the size and keeps the proportions.
    ///
    /// - Throws: an error with a message for users if the data is not a picture, or is too large.
    func thumbnail(of image: Data, width: Int, height: Int) throws -> Data
}

/// The data in a picture's first bytes.
///
///     try ImageHeader(data).width         // throws if it is not a picture
///
/// Nothing is decoded: a picture that declares a size above a limit can be refused before it is processed.
public struct ImageHeader: Hashable, Sendable {
    /// The supported formats.
    public enum Format: String, Sendable {
        case png, jpeg, gif, webp
    }

    /// The format according to the first bytes.
    public let format: Format
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int

    /// Reads the header of a picture.
    ///
    /// - Throws: a ``ToolkitError`` if the data is not a picture in a supported format.
    public init(_ data: Data) throws {
        let bytes = Bytes(data: data)
        guard let (format, width, height) = Self.png(bytes) ?? Self.gif(bytes) ?? Self.webp(bytes) ?? Self.jpeg(bytes)
        else {
            throw ToolkitError("These \(data.count) bytes are no picture: PNG, JPEG, GIF and WebP are known.")
        }
        guard width > 0, height > 0 else { throw ToolkitError("The picture has no size: it is damaged.") }
        (self.format, self.width, self.height) = (format, width, height)
    }

    /// Reads numbers at offsets; `nil` beyond the end.
    private struct Bytes {
        let data: Data

        func byte(_ index: Int) -> Int? {
            index >= 0 && index < data.count ? Int(data[data.startIndex + index]) : nil
        }

        func big16(_ index: Int) -> Int? {
            guard let high = byte(index), let low = byte(index + 1) else { return nil }
            return high << 8 | low
        }

        func little16(_ index: Int) -> Int? {
            guard let low = byte(index), let high = byte(index + 1) else { return nil }
            return high << 8 | low
        }

        func little24(_ index: Int) -> Int? {
            guard let low = little16(index), let high = byte(index + 2) else { return nil }
            return high << 16 | low
        }

        func big32(_ index: Int) -> Int? {
            guard let high = big16(index), let low = big16(index + 2) else { return nil }
            return high << 16 | low
        }

        func has(_ text: String, at index: Int = 0) -> Bool {
            text.utf8.enumerated().allSatisfy { byte(index + $0.offset) == Int($0.element) }
        }
    }

    private typealias Found = (format: Format, width: Int, height: Int)

    private static func png(_ bytes: Bytes) -> Found? {
        guard bytes.byte(0) == 0x89, bytes.has("PNG\r\n\u{1A}\n", at: 1), bytes.has("IHDR", at: 12),
            let width = bytes.big32(16), let height = bytes.big32(20)
        else { return nil }
        return (.png, width, height)
    }

    private static func gif(_ bytes: Bytes) -> Found? {
        guard bytes.has("GIF87a") || bytes.has("GIF89a"), let width = bytes.little16(6),
            let height = bytes.little16(8)
        else { return nil }
        return (.gif, width, height)
    }

    private static func webp(_ bytes: Bytes) -> Found? {
        guard bytes.has("RIFF"), bytes.has("WEBP", at: 8) else { return nil }
        if bytes.has("VP8X", at: 12), let width = bytes.little24(24), let height = bytes.little24(27) {
            return (.webp, width + 1, height + 1)
        }
        if bytes.has("VP8L", at: 12), bytes.byte(20) == 0x2F, let low = bytes.little16(21),
            let high = bytes.little16(23)
        {
            let bits = high << 16 | low
            return (.webp, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        }
        if bytes.has("VP8 ", at: 12), let width = bytes.little16(26), let height = bytes.little16(28) {
            return (.webp, width & 0x3FFF, height & 0x3FFF)
        }
        return nil
    }

    private static func jpeg(_ bytes: Bytes) -> Found? {
        guard bytes.big16(0) == 0xFFD8 else { return nil }
        var index = 2
        while let mark = bytes.byte(index), let kind = bytes.byte(index + 1) {
            guard mark == 0xFF else { return nil }
            // Fill bytes, and markers without data.
            if kind == 0xFF {
                index += 1
                continue
            }
            if kind == 0x01 || (0xD0...0xD7).contains(kind) {
                index += 2
                continue
            }
            guard let length = bytes.big16(index + 2), length >= 2 else { return nil }
            if (0xC0...0xCF).contains(kind), ![0xC4, 0xC8, 0xCC].contains(kind) {
                guard let height = bytes.big16(index + 5), let width = bytes.big16(index + 7) else { return nil }
                return (.jpeg, width, height)
            }
            if kind == 0xDA || kind == 0xD9 { return nil }
            index += 2 + length
        }
        return nil
    }
}
