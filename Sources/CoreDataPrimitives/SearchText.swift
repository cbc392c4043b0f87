import Foundation
import Synchronization

/// What trigram indexes keep of a text, and what they are asked for.
///
/// Each scalar becomes something for itself: without case, without diacritics, its marks left out. So whatever is part of a text,
/// under whichever options, is part of what is kept of it: an index finds every row that a comparison can be true of, and some
/// more, and the comparison is asked of these.
///
///     indexed("Crème brûlée")                      // "creme brulee"
///     query(containing: "BRÛL")                    // "\"brul\" OR …": what the index is to have
///     query(containing: "ab")                      // nil: too short, every row has to be looked at
///
/// A few scalars fold to one thing with some options and to another with others (`ᾳ`), or are none of Unicode yet. Texts that
/// have one are candidates of every query.
package enum SearchText {
    /// How many scalars one entry of the index has; no shorter text can be looked for.
    package static let length = 3
    /// Behind so many scalars, or parts, a query does not become narrower.
    private static let limits = (scalars: 64, parts: 8)
    /// What texts with scalars of more than one meaning begin with: scalars of nobody's.
    private static let mark = "\u{F0000}\u{F0001}\u{F0002}"

    // MARK: What is kept

    package static func indexed(_ text: String) -> String {
        var text = text
        return text.withUTF8 { indexed($0) }
    }

    package static func indexed(_ bytes: TextComparison.Bytes) -> String {
        if TextComparison.isASCII(bytes), !bytes.contains(0) {
            return String(unsafeUninitializedCapacity: bytes.count) { target in
                for (place, byte) in bytes.enumerated() { target[place] = byte &- 0x41 < 26 ? byte | 0x20 : byte }
                return bytes.count
            }
        }
        var result = ""
        var isPlain = true
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            let form = ScalarForms.shared[scalar]
            result += form.text
            isPlain = isPlain && form.isPlain
        }
        return isPlain ? result : mark + result
    }

    // MARK: What is looked for

    /// What an index has to have of texts of which `part` is a part, in the language of FTS5; `nil` where that cannot be said.
    package static func query(containing part: String) -> String? { query([Array(part.unicodeScalars)]) }

    /// As ``query(containing:)``, of texts that fit a pattern of LIKE.
    package static func query(like pattern: String) -> String? {
        var parts: [[Unicode.Scalar]] = [[]]
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                parts[parts.count - 1].append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "*" || scalar == "?" {
                parts.append([])
            } else {
                parts[parts.count - 1].append(scalar)
            }
        }
        return query(parts)
    }

    private static func query(_ parts: [[Unicode.Scalar]]) -> String? {
        var wanted: [String] = []
        for part in parts {
            var run = String.UnicodeScalarView()
            func end() {
                if run.count >= length {
                    wanted.append("\"" + String(run.prefix(limits.scalars)).replacing("\"", with: "\"\"") + "\"")
                }
                run = String.UnicodeScalarView()
            }
            for scalar in part {
                let form = ScalarForms.shared[scalar]
                if form.isPlain { run.append(contentsOf: form.text.unicodeScalars) } else { end() }
            }
            end()
        }
        guard !wanted.isEmpty else { return nil }
        return "(\(wanted.prefix(limits.parts).joined(separator: " AND "))) OR \"\(mark)\""
    }
}

/// What becomes of each scalar, found out once.
private final class ScalarForms: Sendable {
    struct Form {
        var text: String
        /// Whether it stays the same whatever the options.
        var isPlain: Bool
    }

    static let shared = ScalarForms()
    private static let limit: UInt32 = 0x530

    private let common: [Form]
    /// Guards the forms of scalars beyond the common ones.
    private let others = Mutex<[Unicode.Scalar: Form]>([:])

    private init() {
        common = (0..<Self.limit).map { Unicode.Scalar($0).map(Self.form) ?? Form(text: "", isPlain: false) }
    }

    subscript(_ scalar: Unicode.Scalar) -> Form {
        if scalar.value < Self.limit { return common[Int(scalar.value)] }
        if let known = others.withLock({ $0[scalar] }) { return known }
        let form = Self.form(of: scalar)
        others.withLock { $0[scalar] = form }
        return form
    }

    private static func form(of scalar: Unicode.Scalar) -> Form {
        // Of some databases NUL is the end of a text.
        if scalar.value == 0 { return Form(text: "\u{F0003}", isPlain: false) }
        if scalar.isASCII { return Form(text: String(Character(scalar)).lowercased(), isPlain: true) }
        let form = stripped(scalar)
        // Folding a mark gives one thing where it stands alone, and another behind a letter (U+0345).
        let isPlain =
            scalar.properties.generalCategory != .unassigned
            && ["", "x"].allSatisfy { letter in
                var view = letter.unicodeScalars
                view.append(scalar)
                let text = String(view) + letter
                let others =
                    [1, 2, 3].map { TextComparison.fold(text, options: $0) } + [
                        text.precomposedStringWithCanonicalMapping, text.decomposedStringWithCanonicalMapping,
                    ]
                let expected = letter + form + letter
                return others.allSatisfy { $0.unicodeScalars.map(stripped).joined().utf8.elementsEqual(expected.utf8) }
            }
        return Form(text: form, isPlain: isPlain)
    }

    private static func stripped(_ scalar: Unicode.Scalar) -> String {
        if scalar.isASCII { return String(Character(scalar)).lowercased() }
        if scalar.isPartOfOthers { return "" }
        let folded = TextComparison.fold(String(Character(scalar)), options: 3).decomposedStringWithCanonicalMapping
        var result = String.UnicodeScalarView()
        for part in folded.unicodeScalars where !part.isPartOfOthers { result.append(part) }
        return String(result)
    }
}

extension Unicode.Scalar {
    /// Marks, and what else folding may take for one: the halfwidth sound marks (`ﾞ`), joiners.
    package var isPartOfOthers: Bool {
        properties.isMark || properties.isGraphemeExtend || properties.isEmojiModifier
    }
}
