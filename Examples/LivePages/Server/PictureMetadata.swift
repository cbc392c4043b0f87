import CoreDataToolkit
import Foundation

/// Removes metadata from pictures: where and when a photo was taken, with which camera, comments, previews, what follows the picture.
///
/// The pixels are not touched, so that no program is needed and no quality is lost. The orientation and the colour profile stay.
package enum PictureMetadata {
    /// The picture without metadata; `nil` where its structure is broken.
    package static func removed(from picture: Data) -> Data? {
        guard let header = try? ImageHeader(picture) else { return nil }
        let bytes = PictureBytes([UInt8](picture))
        let clean: [UInt8]? =
            switch header.format {
            case .jpeg: jpeg(bytes)
            case .png: png(bytes)
            case .webp: webp(bytes)
            case .gif: gif(bytes)
            }
        return clean.map { Data($0) }
    }

    // MARK: JPEG

    /// Segments: FF, the kind, the length with itself, the content. Behind a scan's header its data, up to the next mark.
    private static func jpeg(_ bytes: PictureBytes) -> [UInt8]? {
        var result: [UInt8] = [0xFF, 0xD8]
        var index = 2
        while let kind = bytes.byte(index + 1), bytes.byte(index) == 0xFF {
            switch kind {
            case 0xFF: index += 1
            case 0xD9: return result + [0xFF, 0xD9]
            case 0x01, 0xD0...0xD7:
                result += [0xFF, UInt8(kind)]
                index += 2
            default:
                guard let length = bytes.big16(index + 2), length >= 2,
                    let segment = bytes.slice(index, index + 2 + length)
                else { return nil }
                if kind == 0xE1, bytes.has("Exif\0\0", at: index + 4) {
                    if let orientation = bytes.orientation(index + 10, end: index + 2 + length) {
                        result += exifSegment(orientation)
                    }
                } else if isKept(kind, bytes, index + 4) {
                    result += segment
                }
                index += 2 + length
                if kind == 0xDA {
                    let end = bytes.endOfScan(index)
                    result += bytes.slice(index, end) ?? []
                    index = end
                    // Cut off, as a download that broke: browsers show what there is.
                    if index == bytes.count { return result }
                }
            }
        }
        return nil
    }

    /// Not comments, and of the segments of applications JFIF's, colour profiles and Adobe's colour transform.
    private static func isKept(_ kind: Int, _ bytes: PictureBytes, _ content: Int) -> Bool {
        switch kind {
        case 0xE0: bytes.has("JFIF\0", at: content)
        case 0xE2: bytes.has("ICC_PROFILE\0", at: content)
        case 0xEE: bytes.has("Adobe", at: content)
        case 0xE1...0xEF, 0xFE: false
        default: true
        }
    }

    private static func exifSegment(_ orientation: UInt8) -> [UInt8] {
        let mark: [UInt8] = [0xFF, 0xE1, 0, 34]
        return mark + Array("Exif\0\0".utf8) + tiff(orientation)
    }

    /// The smallest directory that tells the orientation.
    private static func tiff(_ orientation: UInt8) -> [UInt8] {
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
        let head: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1]
        return head + entry + [0, 0, 0, 0]
    }

    // MARK: PNG

    /// Chunks that say how pixels look; those whose names begin with a capital are needed by every reader.
    private static let chunks: Set<String> = [
        "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "bKGD", "pHYs", "hIST", "sPLT", "cICP", "mDCV", "cLLI", "acTL",
        "fcTL", "fdAT",
    ]

    /// Chunks: the length of the content, the name, the content, a checksum.
    private static func png(_ bytes: PictureBytes) -> [UInt8]? {
        guard var result = bytes.slice(0, 8).map({ Array($0) }) else { return nil }
        var index = 8
        while let length = bytes.big32(index), let name = bytes.text(index + 4, count: 4),
            let chunk = bytes.slice(index, index + 12 + length)
        {
            if name.first?.isUppercase == true || chunks.contains(name) {
                result += chunk
            } else if name == "eXIf", let orientation = bytes.orientation(index + 8, end: index + 8 + length) {
                let content = tiff(orientation)
                let body = Array("eXIf".utf8) + content
                result += big(UInt32(content.count)) + body + big(CRC32.of(body))
            }
            index += 12 + length
            if name == "IEND" { return result }
        }
        return nil
    }

    private static func big(_ number: UInt32) -> [UInt8] {
        [UInt8(number >> 24), UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
    }

    // MARK: WebP

    /// Chunks: the name, the length of the content, the content, filled up to an even length.
    private static func webp(_ bytes: PictureBytes) -> [UInt8]? {
        var body = Array("WEBP".utf8)
        var orientation: UInt8?
        var flags: Int?
        var index = 12
        // What follows the file that the header tells of is no part of the picture.
        let end = min(bytes.count, 8 + (bytes.little32(4) ?? 0))
        while index < end {
            guard let name = bytes.text(index, count: 4), let length = bytes.little32(index + 4),
                let chunk = bytes.slice(index, index + 8 + length)
            else { return nil }
            switch name {
            case "VP8X":
                // The position of the flags, to be corrected below.
                flags = body.count + 8
                body += chunk
            case "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP": body += chunk
            case "EXIF":
                let start = index + 8 + (bytes.has("Exif\0\0", at: index + 8) ? 6 : 0)
                orientation = bytes.orientation(start, end: index + 8 + length)
            default: break
            }
            if body.count % 2 == 1 { body.append(0) }
            index += 8 + length + length % 2
        }
        if let flags, flags < body.count {
            // Whether there are EXIF and XMP chunks.
            body[flags] &= ~0x0C
            if let orientation {
                body[flags] |= 0x08
                let content = tiff(orientation)
                body += Array("EXIF".utf8) + big(UInt32(content.count)).reversed() + content
            }
        }
        return Array("RIFF".utf8) + big(UInt32(body.count)).reversed() + body
    }

    // MARK: GIF

    /// A header with colours, then pictures and extensions, each with blocks that begin with their lengths, the last one empty.
    private static func gif(_ bytes: PictureBytes) -> [UInt8]? {
        guard let flags = bytes.byte(10) else { return nil }
        var index = 13 + colours(flags)
        guard var result = bytes.slice(0, index).map({ Array($0) }) else { return nil }
        while let kind = bytes.byte(index) {
            let start = index
            var isKept = true
            switch kind {
            case 0x3B: return result + [0x3B]
            case 0x2C:
                guard let flags = bytes.byte(index + 9) else { return nil }
                index += 11 + colours(flags)
            case 0x21:
                let label = bytes.byte(index + 1)
                let repeats = ["NETSCAPE2.0", "ANIMEXTS1.0"].contains { bytes.has($0, at: start + 3) }
                isKept = label == 0xF9 || label == 0x01 || label == 0xFF && repeats
                index += 2
            default: return nil
            }
            while let length = bytes.byte(index), length > 0 { index += 1 + length }
            index += 1
            guard let block = bytes.slice(start, index) else { return nil }
            if isKept { result += block }
        }
        return nil
    }

    /// The length of a table of colours, as flags tell it.
    private static func colours(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }
}

/// The checksum of PNG's chunks.
private enum CRC32 {
    static func of(_ bytes: [UInt8]) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
