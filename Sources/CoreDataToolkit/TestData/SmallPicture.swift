import CoreDataZip
import Foundation

/// A square of one colour that gets darker downwards, as a PNG of a few hundred bytes.
struct SmallPicture {
    let png: Data

    /// - Parameters:
    ///   - colour: 24 bits of red, green and blue.
    ///   - serial: a number that the picture contains, so that it is unique.
    init(_ colour: Int, size: Int, serial: Int? = nil) {
        var rows: [UInt8] = []
        for y in 0..<size {
            rows.append(0)
            for _ in 0..<size {
                for shift in [16, 8, 0] { rows.append(UInt8((colour >> shift & 0xFF) * (2 * size - y) / (2 * size))) }
            }
        }
        var data = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        Self.add("IHDR", Self.big(size) + Self.big(size) + [8, 2, 0, 0, 0], to: &data)
        if let serial { Self.add("tEXt", Array("Comment\u{0}\(serial)".utf8), to: &data) }
        Self.add("IDAT", Self.zlib(rows), to: &data)
        Self.add("IEND", [], to: &data)
        png = data
    }

    private static func big(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func add(_ kind: String, _ bytes: [UInt8], to data: inout Data) {
        let content = Array(kind.utf8) + bytes
        var crc = CRC32()
        crc.add(content[...])
        data.append(contentsOf: big(bytes.count) + content + big(Int(crc.value)))
    }

    /// Stores the bytes in one uncompressed block, because compressing so few bytes is not worthwhile.
    private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        let count = UInt16(bytes.count)
        let lengths = [UInt8(count & 0xFF), UInt8(count >> 8), UInt8(~count & 0xFF), UInt8(~count >> 8)]
        var (a, b) = (1, 0)
        for byte in bytes {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return [0x78, 0x01, 0x01] + lengths + bytes + big(b << 16 | a)
    }
}
