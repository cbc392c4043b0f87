/// Markup that is safe to send: literals are markup, interpolated values are escaped text.
///
///     let name = "<b>Milk & \"honey\""
///     let row: HTML = "<li>\(name)</li>"      // <li>&lt;b&gt;Milk &amp; &quot;honey&quot;</li>
///
/// No initialiser makes markup from a string that is known only at run time, so that stored values cannot become
/// markup. A text in an attribute needs quotes; debug builds check that.
package struct HTML: Sendable, ExpressibleByStringInterpolation {
    /// The markup.
    package private(set) var text: String

    package init(stringLiteral value: StaticString) { text = value.description }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    private init(markup: String) { text = markup }

    /// Returns a text as markup.
    package static func text(_ string: String) -> HTML { "\(string)" }

    package static func + (a: HTML, b: HTML) -> HTML { HTML(markup: a.text + b.text) }

    package static func += (a: inout HTML, b: HTML) { a.text += b.text }

    /// Joins pieces of markup.
    package static func joined(_ pieces: some Sequence<HTML>, by separator: HTML = "") -> HTML {
        HTML(markup: pieces.map(\.text).joined(separator: separator.text))
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        package mutating func appendLiteral(_ literal: StaticString) {
            literal.withUTF8Buffer { text += String(decoding: $0, as: UTF8.self) }
        }

        /// Appends text, escaped for elements and for attributes in quotes.
        ///
        /// A literal is markup also within an interpolation: `\(isEmpty ? "<p>None</p>" : "")`.
        @_disfavoredOverload
        package mutating func appendInterpolation(_ string: String) {
            assert(isInQuotesOrElement, "text in an attribute needs quotes: \(text.suffix(40))")
            HTML.escape(string, into: &text)
        }

        package mutating func appendInterpolation(_ address: Address) { appendInterpolation(address.text) }

        package mutating func appendInterpolation(_ number: Int) { text += String(number) }

        package mutating func appendInterpolation(_ markup: HTML) { text += markup.text }

        package mutating func appendInterpolation(_ markup: HTML?) { if let markup { text += markup.text } }

        package mutating func appendInterpolation(_ markup: [HTML]) { for piece in markup { text += piece.text } }

        /// Appends the markup if the condition holds.
        package mutating func appendInterpolation(_ markup: HTML, if condition: Bool) {
            if condition { text += markup.text }
        }

        /// Whether the next text is not an attribute's value without quotes.
        private var isInQuotesOrElement: Bool {
            guard text.utf8.last == UInt8(ascii: "="), let tag = text.lastIndex(of: "<") else { return true }
            return !text[tag...].utf8.lazy.filter { $0 == UInt8(ascii: "\"") }.count.isMultiple(of: 2)
        }
    }

    private static func escape(_ string: String, into text: inout String) {
        let isPlain = string.utf8.allSatisfy { byte in
            byte >= 0x20 && byte < 0x7F && byte != 0x26 && byte != 0x3C && byte != 0x3E && byte != 0x22 && byte != 0x27
        }
        if isPlain { return text += string }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\t", "\n", "\r": text.unicodeScalars.append(scalar)
            // Characters that HTML does not allow.
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}": text += "\u{FFFD}"
            // Marks that change the direction of the text around them.
            case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
