import Foundation

/// Converts a NUMERIC from the wire format, digits in groups of four, to text.
///
///     ndigits, weight, sign, scale, digits…     // 2, 0, 0x0000, 1, 12, 5000 → 12.5
enum NumericText {
    static func text(_ bytes: UnsafeRawPointer) -> String {
        func word(_ index: Int) -> UInt16 {
            UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
        }
        let count = Int(word(0))
        let weight = Int(Int16(bitPattern: word(1)))
        switch word(2) {
        case 0xC000: return "NaN"
        case 0xD000: return "Infinity"
        case 0xF000: return "-Infinity"
        default: break
        }
        var text: [UInt8] = []
        if word(2) == 0x4000 { text.append(UInt8(ascii: "-")) }
        func append(_ group: UInt16, isFirst: Bool) {
            var divisor: UInt16 = 1000
            var hasDigit = !isFirst
            while divisor > 0 {
                let digit = UInt8(group / divisor % 10)
                hasDigit = hasDigit || digit != 0 || divisor == 1
                if hasDigit { text.append(UInt8(ascii: "0") + digit) }
                divisor /= 10
            }
        }
        func group(_ place: Int) -> UInt16 {
            let index = weight - place
            return index >= 0 && index < count ? word(4 + index) : 0
        }
        if weight < 0 {
            text.append(UInt8(ascii: "0"))
        } else {
            for place in stride(from: weight, through: 0, by: -1) { append(group(place), isFirst: place == weight) }
        }
        let last = weight - count + 1
        if last < 0 {
            text.append(UInt8(ascii: "."))
            for place in stride(from: -1, through: last, by: -1) { append(group(place), isFirst: false) }
            // Another program may have written 1.50, which equals 1.5.
            while text.last == UInt8(ascii: "0") { text.removeLast() }
            if text.last == UInt8(ascii: ".") { text.removeLast() }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
