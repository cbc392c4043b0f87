import Foundation

/// The bytes of a picture; whatever lies behind the end is `nil`.
struct PictureBytes {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    func byte(_ index: Int) -> Int? { bytes.indices.contains(index) ? Int(bytes[index]) : nil }

    func slice(_ start: Int, _ end: Int) -> ArraySlice<UInt8>? {
        start >= 0 && start <= end && end <= bytes.count ? bytes[start..<end] : nil
    }

    func big16(_ index: Int) -> Int? {
        guard let high = byte(index), let low = byte(index + 1) else { return nil }
        return high << 8 | low
    }

    func big32(_ index: Int) -> Int? {
        guard let high = big16(index), let low = big16(index + 2) else { return nil }
        return high << 16 | low
    }

    func little16(_ index: Int) -> Int? {
        guard let low = byte(index), let high = byte(index + 1) else { return nil }
        return high << 8 | low
    }

    func little32(_ index: Int) -> Int? {
        guard let low = little16(index), let high = little16(index + 2) else { return nil }
        return high << 16 | low
    }

    func has(_ text: String, at index: Int) -> Bool {
        slice(index, index + text.utf8.count)?.elementsEqual(text.utf8) ?? false
    }

    func text(_ index: Int, count: Int) -> String? {
        slice(index, index + count).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The end of a JPEG scan's data: the next mark that is neither a stuffed byte nor a restart, or the end of all.
    func endOfScan(_ start: Int) -> Int {
        var index = start
        while index < bytes.count - 1 {
            let found = bytes.withUnsafeBufferPointer { all -> Int? in
                guard let base = all.baseAddress, let place = memchr(base + index, 0xFF, all.count - index) else {
                    return nil
                }
                return UnsafeRawPointer(place) - UnsafeRawPointer(base)
            }
            guard let found, let next = byte(found + 1) else { return bytes.count }
            if next != 0, next != 0xFF, !(0xD0...0xD7).contains(next) { return found }
            index = found + (next == 0xFF ? 1 : 2)
        }
        return bytes.count
    }

    /// The orientation that a TIFF directory tells, as EXIF has one; `nil` for none, for the usual one, and for a broken directory.
    func orientation(_ start: Int, end: Int) -> UInt8? {
        let isLittle = has("II*\0", at: start)
        guard isLittle || has("MM\0*", at: start) else { return nil }
        func number16(_ index: Int) -> Int? { index + 2 <= end ? isLittle ? little16(index) : big16(index) : nil }
        func number32(_ index: Int) -> Int? { index + 4 <= end ? isLittle ? little32(index) : big32(index) : nil }
        guard let offset = number32(start + 4), let count = number16(start + offset) else { return nil }
        for entry in 0..<count {
            let place = start + offset + 2 + 12 * entry
            guard let tag = number16(place) else { return nil }
            guard tag == 0x0112, number16(place + 2) == 3, let value = number16(place + 8) else { continue }
            return (2...8).contains(value) ? UInt8(value) : nil
        }
        return nil
    }
}
