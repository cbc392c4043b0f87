/// Texts that are hard to compare without case and diacritics, and constants to look for in them.
public enum HostileTexts {
    /// Scalars that fold to several letters, to letters of ASCII, to one thing or another; marks of several scripts; what patterns and
    /// regular expressions use; joiners and emoji.
    public static let pieces: [String] =
        [
            "a", "A", "e", "i", "I", "k", "K", "s", "S", "ss", "st", "fi", "ffi", "n", "2", " ", "\u{212A}", "ſ", "ß",
            "ẞ", "ﬀ",
            "ﬁ", "ﬂ", "ﬃ", "ﬄ", "ﬅ", "ﬆ", "ŉ", "ǰ", "ẖ", "ẚ", "İ", "ı", "Σ", "σ", "ς", "ᾳ", "ᾼ", "ΐ", "ἀ", "ά", "й",
            "Й", "ё", "ø", "ł",
            "Æ", "å", "\u{212B}", "é", "ế", "Ș", "ǅ", "ﬓ", "մն", "か", "が", "검", "거", "\u{1100}", "\u{1161}", "ש", "ह",
            "ｋ", "Ⅷ", "😀", "👩‍👧",
            "中", "\u{37E}", "\u{1FEF}", ";", "`", "≠", "=",
        ]
        + [
            "%", "_", "\\", "*", "?", "[", "]", "^", "-", "$", "(", ")", "{", "}", "|", ".", "+", "'", "\"", "\n", "\t",
            "#", "&", "~", "/",
        ]
        + marks

    /// Marks that compose with letters, or do not, and what counts as one.
    public static let marks: [String] = [
        "\u{301}", "\u{308}", "\u{323}", "\u{307}", "\u{338}", "\u{345}", "\u{334}", "\u{3099}", "\u{5B8}", "\u{93F}",
        "\u{11B7}",
        "\u{200C}", "\u{200D}", "\u{FE0F}", "\u{1F3FD}", "\u{FF9E}", "\u{20DD}",
    ]

    /// Texts of some pieces, among them each piece by itself and the empty text.
    public static func texts(_ count: Int, _ numbers: inout SeededNumbers) -> [String] {
        [""] + pieces + (0..<count).map { _ in (0...numbers.below(5)).map { _ in numbers.pick(pieces) }.joined() }
    }

    /// Something that may be in the text when case and diacritics are folded.
    public static func constant(from text: String, _ numbers: inout SeededNumbers) -> String {
        let scalars = Array(text.unicodeScalars)
        guard !scalars.isEmpty else { return "" }
        let start = numbers.below(scalars.count)
        var part = String.UnicodeScalarView()
        part.append(contentsOf: scalars[start..<(start + 1 + numbers.below(scalars.count - start))])
        return String(part)
    }
}
