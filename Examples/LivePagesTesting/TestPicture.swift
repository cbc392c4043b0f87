import Foundation

/// Pictures for tests.
package enum TestPicture {
    /// A PNG of one colour's shades, not compressed.
    package static func png(width: Int, height: Int) -> Data {
        func chunk(_ name: String, _ content: [UInt8]) -> Data {
            let body = Array(name.utf8) + content
            return bytes(UInt32(content.count)) + Data(body) + bytes(crc(body))
        }
        var rows: [UInt8] = []
        for y in 0..<height {
            rows.append(0)
            for x in 0..<width { rows += [UInt8(x * 255 / width), UInt8(y * 255 / height), 90] }
        }
        var stream: [UInt8] = [0x78, 0x01]
        var rest = rows[...]
        while !rest.isEmpty {
            let part = rest.prefix(65535)
            rest = rest.dropFirst(part.count)
            let length = UInt16(part.count)
            stream += [
                rest.isEmpty ? 1 : 0, UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255),
                UInt8(~length >> 8),
            ]
            stream += part
        }
        var (a, b) = (UInt32(1), UInt32(0))
        for byte in rows {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        stream += [UInt8](bytes(b << 16 | a))
        var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        var size = [UInt8](bytes(UInt32(width)))
        size += [UInt8](bytes(UInt32(height)))
        size += [8, 2, 0, 0, 0]
        file += chunk("IHDR", size)
        file += chunk("IDAT", stream)
        file += chunk("IEND", [])
        return file
    }

    private static func bytes(_ number: UInt32) -> Data { withUnsafeBytes(of: number.bigEndian) { Data($0) } }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
