/// The records of a zip archive, as specified by PKWARE's APPNOTE; all numbers are little-endian.
enum ZipFormat {
    static let localSignature: UInt32 = 0x0403_4B50
    static let centralSignature: UInt32 = 0x0201_4B50
    static let endSignature: UInt32 = 0x0605_4B50
    static let localLength = 30
    static let centralLength = 46
    static let endLength = 22
    /// The compression method of uncompressed entries.
    static let stored: UInt16 = 0
    static let deflated: UInt16 = 8
    /// The name is UTF-8.
    static let isUTF8: UInt16 = 1 << 11
    static let isEncrypted: UInt16 = 1
    static let hasDescriptor: UInt16 = 1 << 3
    /// The largest size of the classic format; larger sizes need the zip64 format.
    static let largest: Int = 0xFFFF_FFFE
    static let mostEntries = 0xFFFE
}

/// Bytes to which little-endian numbers are appended.
struct ZipBytes {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ value: UInt16) { bytes += [UInt8(value & 0xFF), UInt8(value >> 8)] }

    mutating func add(_ value: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(value >> shift & 0xFF)) }
    }

    mutating func add(_ text: String) { bytes += Array(text.utf8) }

    mutating func add(_ more: [UInt8]) { bytes += more }
}

/// Reads little-endian numbers from bytes, with bounds checks.
struct ZipFields {
    let bytes: [UInt8]

    func short(_ index: Int) throws -> UInt16 {
        guard index >= 0, index + 2 <= bytes.count else { throw ZipFailure(.damaged, "the archive ends too early") }
        return UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
    }

    func long(_ index: Int) throws -> UInt32 {
        UInt32(try short(index)) | UInt32(try short(index + 2)) << 16
    }

    func text(_ index: Int, count: Int) throws -> String {
        guard index >= 0, count >= 0, index + count <= bytes.count,
            let text = String(validating: bytes[index..<(index + count)], as: UTF8.self)
        else { throw ZipFailure(.damaged, "a name in the archive is no UTF-8") }
        return text
    }
}
