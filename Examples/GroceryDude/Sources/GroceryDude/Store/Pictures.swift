import Foundation

/// Pictures as they are uploaded.
enum Pictures {
    /// The largest upload, in bytes.
    static let largest = 10 * 1024 * 1024

    /// The kinds of pictures that all browsers show.
    enum Kind: String, Sendable {
        case jpeg, png, gif, webp

        var mediaType: String { "image/\(rawValue)" }

        /// By the first bytes: what a file is called says nothing.
        init?(_ data: Data) {
            let start = [UInt8](data.prefix(12))
            func has(_ bytes: [UInt8], at offset: Int = 0) -> Bool { start.dropFirst(offset).starts(with: bytes) }
            if has([0xFF, 0xD8, 0xFF]) {
                self = .jpeg
            } else if has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                self = .png
            } else if has(Array("GIF87a".utf8)) || has(Array("GIF89a".utf8)) {
                self = .gif
            } else if has(Array("RIFF".utf8)), has(Array("WEBP".utf8), at: 8) {
                self = .webp
            } else {
                return nil
            }
        }
    }

    /// Where the small picture of an item is; the address changes with the picture, so that browsers may keep it.
    static func thumbnailPath(_ item: Int, _ data: Data) -> String { "/items/\(item)/thumbnail?v=\(mark(data))" }

    static func photoPath(_ item: Int, _ data: Data) -> String { "/items/\(item)/photo?v=\(mark(data))" }

    private static func mark(_ data: Data) -> String {
        let hash = data.suffix(24).reduce(UInt64(data.count)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 36)
    }
}
