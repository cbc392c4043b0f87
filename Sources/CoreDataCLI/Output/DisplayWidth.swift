/// Computes the number of terminal columns of a text: two for wide East Asian letters and emoji, none for marks.
enum DisplayWidth {
    static func of(_ text: String) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    /// Returns the text, truncated with an ellipsis if it does not fit.
    static func cut(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        var result = ""
        var room = width - 1
        for character in text {
            room -= of(character)
            guard room >= 0 else { break }
            result.append(character)
        }
        return width > 0 ? result + "…" : ""
    }

    private static func of(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        let isEmoji =
            scalar.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}")
        return isEmoji || isWide(scalar.value) ? 2 : 1
    }

    /// Returns whether the scalar has Unicode's East Asian Width `W` or `F`.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
