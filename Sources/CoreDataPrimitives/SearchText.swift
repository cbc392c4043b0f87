import Foundation
import Synchronization

/// Makes the text that trigram indexes store, and the queries on it.
///
/// Each scalar is converted by itself: case, diacritics and marks are removed. So if a text contains a part under any
/// options, the stored text contains the converted part. The index finds every row for which a comparison can be true,
/// and some others. The comparison then checks these rows.
///
///     indexed("Crème brûlée")                      // "creme brulee"
///     query(containing: "BRÛL")                    // "\"brul\" OR …": the query for the index
///     query(containing: "ab")                      // nil: too short, every row must be read
///
/// A few scalars (`ᾳ`) fold to one text with some options and to another text with others; some are not assigned in
/// Unicode. Texts with such a scalar are candidates of every query.
package enum SearchText {
    /// The number of scalars in one entry of the index. Shorter texts cannot be searched for.
    package static let length = 3
    /// The limits of a query: more scalars or parts would not make it more selective.
    private static let limits = (scalars: 64, parts: 8)
    /// The prefix of texts with ambiguous scalars. It consists of private-use scalars.
    private static let mark = "\u{F0000}\u{F0001}\u{F0002}"

    // MARK: Stored text

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

    // MARK: Queries

    /// Returns a query, in the language of FTS5, for texts that contain `part`; `nil` if the index cannot answer it.
    package static func query(containing part: String) -> String? { query([Array(part.unicodeScalars)]) }

    /// Returns a query like ``query(containing:)``, for texts that match a LIKE pattern.
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

/// The converted form of each scalar, computed once.
private final class ScalarForms: Sendable {
    struct Form {
        var text: String
        /// Whether the form is the same under all options.
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
        // Some databases end a text at NUL.
        if scalar.value == 0 { return Form(text: "\u{F0003}", isPlain: false) }
        if scalar.isASCII { return Form(text: String(Character(scalar)).lowercased(), isPlain: true) }
        let form = stripped(scalar)
        // A mark may fold to one text alone and to another after a letter (U+0345).
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
    /// Whether the scalar is a mark, or one that folding may treat as a mark: the halfwidth sound marks (`ﾞ`), joiners.
    package var isPartOfOthers: Bool {
        properties.isMark || properties.isGraphemeExtend || properties.isEmojiModifier
    }
}
