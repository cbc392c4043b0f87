/// The discriminator in the symbols of a file's private declarations: `_` and the MD5 of module and file name.
///
///     FileDiscriminator.text(module: "Notebook", fileName: "Note.swift")   // _1F6A…, 33 characters
///
/// The compiler reports an error if two files with the same name in a target have private declarations with the same
/// name.
package enum FileDiscriminator {
    package static func text(module: String, fileName: String) -> String {
        "_"
            + MD5.digest(of: Array((module + fileName).utf8)).map { byte in
                let digits = String(byte, radix: 16, uppercase: true)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
    }
}

/// The message digest of RFC 1321, used only for names and not for security.
private enum MD5 {
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    /// The integer part of 2³² |sin(i + 1)|, computed here instead of listing a table.
    private static let constants: [UInt32] = (1...64).map { index in
        UInt32(4_294_967_296 * abs(sine(Double(index))))
    }

    /// Computes the sine by its series, after reducing the angle; exact to more than 32 bits.
    private static func sine(_ angle: Double) -> Double {
        let reduced = angle - 2 * Double.pi * Double(Int(angle / (2 * Double.pi)))
        var term = reduced
        var sum = reduced
        for step in 1...20 {
            term *= -reduced * reduced / Double(2 * step * (2 * step + 1))
            sum += term
        }
        return sum
    }

    static func digest(of message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bitCount = UInt64(message.count) * 8
        for byte in 0..<8 { padded.append(UInt8(truncatingIfNeeded: bitCount >> (8 * UInt64(byte)))) }

        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
        for start in stride(from: 0, to: padded.count, by: 64) {
            let words = (0..<16).map { word in
                (0..<4).reduce(UInt32(0)) { $0 | UInt32(padded[start + word * 4 + $1]) << UInt32(8 * $1) }
            }
            state = zip(state, mixed(state, words)).map { $0 &+ $1 }
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) } }
    }

    private static func mixed(_ state: [UInt32], _ words: [UInt32]) -> [UInt32] {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let mix: UInt32
            let word: Int
            switch step / 16 {
            case 0: (mix, word) = (b & c | ~b & d, step)
            case 1: (mix, word) = (d & b | ~d & c, (5 * step + 1) % 16)
            case 2: (mix, word) = (b ^ c ^ d, (3 * step + 5) % 16)
            default: (mix, word) = (c ^ (b | ~d), 7 * step % 16)
            }
            let sum = a &+ mix &+ constants[step] &+ words[word]
            let shift = shifts[step / 16 * 4 + step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        return [a, b, c, d]
    }
}
