import Foundation

extension TextComparison {
    /// Returns the folded form of `text` under `[c]` and `[d]`: two texts are equal under the options if their folded
    /// forms have the same bytes.
    ///
    ///     fold("Straße", options: 1)   // "strasse"
    ///     fold("Café", options: 3)     // "cafe"
    ///
    /// Folding uses Unicode's case folding and no locale (Turkish `İ` is `i̇` everywhere). It removes the marks of
    /// Latin, Greek and Cyrillic letters only, as Apple's does. Then it composes the result.
    package static func fold(_ text: String, options: UInt) -> String {
        let folding = folding(of: options)
        guard folding != 0 else { return text }
        var text = text
        return text.withUTF8 { bytes in withFolded(bytes, folding) { String(decoding: $0, as: UTF8.self) } }
    }

    /// Runs `body` with the folded bytes, which live on the stack unless a letter needs the slow path.
    static func withFolded<Result>(
        _ bytes: Bytes, _ folding: UInt, _ body: (Bytes) throws -> Result
    ) rethrows -> Result {
        guard folding != 0, !bytes.isEmpty else { return try body(bytes) }
        if folding & caseInsensitive == 0, isASCII(bytes) { return try body(bytes) }
        return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) { buffer in
            if let count = foldCommonLetters(bytes, folding, into: buffer) {
                return try body(Bytes(rebasing: buffer.prefix(count)))
            }
            var text = foldAnyLetters(String(decoding: bytes, as: UTF8.self), folding)
            return try text.withUTF8(body)
        }
    }

    static func isASCII(_ bytes: Bytes) -> Bool {
        for byte in bytes where byte >= 0x80 { return false }
        return true
    }

    /// Folds a text whose letters all have one or two bytes; `nil` if it has another letter.
    private static func foldCommonLetters(
        _ bytes: Bytes, _ folding: UInt, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        let lowersASCII = folding & caseInsensitive != 0
        var source = 0
        var target = 0
        while source < bytes.count {
            let byte = bytes[source]
            if byte < 0x80 {
                let isUpper = lowersASCII && byte &- 0x41 < 26
                buffer[target] = isUpper ? byte | 0x20 : byte
                source += 1
                target += 1
                continue
            }
            guard byte & 0xE0 == 0xC0, source + 1 < bytes.count else { return nil }
            let scalar = Int(byte & 0x1F) << 6 | Int(bytes[source + 1] & 0x3F)
            guard scalar < FoldingTable.limit else { return nil }
            let folded = FoldingTable.shared.entries[folding == 1 ? 0 : folding == 2 ? 1 : 2][scalar]
            guard folded != 0 else { return nil }
            source += 2
            if folded < 0x80 {
                buffer[target] = UInt8(folded)
                target += 1
            } else {
                buffer[target] = 0xC0 | UInt8(folded >> 6)
                buffer[target + 1] = 0x80 | UInt8(folded & 0x3F)
                target += 2
            }
        }
        return target
    }

    fileprivate static func foldAnyLetters(_ text: String, _ folding: UInt) -> String {
        var options: String.CompareOptions = []
        if folding & caseInsensitive != 0 { options.insert(.caseInsensitive) }
        if folding & diacriticInsensitive != 0 { options.insert(.diacriticInsensitive) }
        // Compose first, so that a letter and its mark fold as one letter.
        return text.precomposedStringWithCanonicalMapping.folding(options: options, locale: nil)
            .precomposedStringWithCanonicalMapping
    }
}

/// The folded form of each letter below U+0530, if the form is one letter below U+0800 regardless of adjacent letters.
/// The entry is 0 for other letters (marks, `ß`, `İ`), which take the slow path.
private struct FoldingTable: Sendable {
    static let limit = 0x530
    static let shared = FoldingTable()

    /// The tables of `[c]`, `[d]` and `[cd]`.
    let entries: [[UInt16]]

    private init() {
        entries = [1, 2, 3].map { (folding: UInt) in
            (0..<UInt32(Self.limit)).map { code in
                guard code >= 0x80, let scalar = Unicode.Scalar(code), !scalar.properties.isMark else { return 0 }
                let folded = TextComparison.foldAnyLetters(String(Character(scalar)), folding).unicodeScalars
                guard folded.count == 1, let only = folded.first, only.value < 0x800 else { return 0 }
                return UInt16(only.value)
            }
        }
    }
}

extension Unicode.Scalar.Properties {
    var isMark: Bool {
        switch generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
