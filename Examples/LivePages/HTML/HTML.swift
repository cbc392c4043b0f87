/// Markup that is safe to send: what stands in the source is markup, what is interpolated is text.
///
///     let name = "<b>Milk & \"honey\""
///     let row: HTML = "<li>\(name)</li>"      // <li>&lt;b&gt;Milk &amp; &quot;honey&quot;</li>
///
/// There is no way to make markup from a string that is known only at run time, so nothing that a user typed can become
/// any. Text in an attribute stands in quotes; debug builds stop where it does not.
package struct HTML: Sendable, ExpressibleByStringInterpolation {
    /// The markup.
    package private(set) var text: String

    package init(stringLiteral value: StaticString) { text = value.description }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    private init(markup: String) { text = markup }

    package static func + (a: HTML, b: HTML) -> HTML { HTML(markup: a.text + b.text) }

    package static func += (a: inout HTML, b: HTML) { a.text += b.text }

    /// The pieces one after the other.
    package static func joined(_ pieces: some Sequence<HTML>, by separator: HTML = "") -> HTML {
        var text = ""
        var isFirst = true
        for piece in pieces {
            if !isFirst { text += separator.text }
            isFirst = false
            text += piece.text
        }
        return HTML(markup: text)
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        package mutating func appendLiteral(_ literal: StaticString) {
            literal.withUTF8Buffer { text += String(decoding: $0, as: UTF8.self) }
        }

        /// Text, escaped for elements and for attributes in quotes.
        package mutating func appendInterpolation(_ string: String) {
            assert(isInQuotesOrNoValue, "text in an attribute needs quotes: \(text.suffix(40))")
            HTML.escape(string, into: &text)
        }

        /// Whether what comes next is no value of an attribute, or one in quotes.
        private var isInQuotesOrNoValue: Bool {
            guard text.utf8.last == UInt8(ascii: "="), let tag = text.lastIndex(of: "<") else { return true }
            return text[tag...].utf8.lazy.filter { $0 == UInt8(ascii: "\"") }.count % 2 == 1
        }

        package mutating func appendInterpolation(_ number: Int) { text += String(number) }

        package mutating func appendInterpolation(_ markup: HTML) { text += markup.text }

        package mutating func appendInterpolation(_ markup: HTML?) { if let markup { text += markup.text } }

        package mutating func appendInterpolation(_ markup: [HTML]) { for piece in markup { text += piece.text } }

        /// The markup where the condition holds, else nothing.
        package mutating func appendInterpolation(_ markup: HTML, if condition: Bool) {
            if condition { text += markup.text }
        }
    }

    private static func escape(_ string: String, into text: inout String) {
        let needsNone = string.utf8.allSatisfy { byte in
            byte != 0x26 && byte != 0x3C && byte != 0x3E && byte != 0x22 && byte != 0x27 && byte != 0
        }
        if needsNone { return text += string }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\0": text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
