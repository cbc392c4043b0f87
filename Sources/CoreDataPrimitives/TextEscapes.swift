/// The escapes of special characters that several text formats share.
///
///     TextEscapes.replacing(in: "a < b") { TextEscapes.markup($0) }   // a &lt; b
package enum TextEscapes {
    /// Returns the text with some of its characters replaced.
    ///
    /// - Parameter escape: the replacement of a character; `nil` keeps it.
    package static func replacing<Failure: Error>(
        in text: String, _ escape: (Unicode.Scalar) throws(Failure) -> String?
    ) throws(Failure) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if let replacement = try escape(scalar) {
                result += replacement
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The references of `&`, `<`, `>` and `"` in XML and HTML.
    package static func markup(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        default: nil
        }
    }

    /// The references of ``markup(_:)``, and of white space that a parser of XML changes in an attribute.
    package static func attribute(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\n", "\r", "\t": "&#\(scalar.value);"
        default: markup(scalar)
        }
    }

    /// The escapes of `"`, `\`, line ends and tabs in a string literal of Swift, JSON, and predicates.
    package static func literal(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: nil
        }
    }

    /// Returns the text as a string literal in double quotes.
    ///
    /// - Parameter control: the escape of other control characters; `nil` keeps them.
    package static func quoted(
        _ text: String, control: (Unicode.Scalar) -> String? = { _ in nil }
    ) -> String {
        // Most texts need no escape.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 == 0x7F }) else {
            return "\"" + text + "\""
        }
        let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || scalar.value == 0x7F }
        return "\"" + replacing(in: text) { literal($0) ?? (isControl($0) ? control($0) : nil) } + "\""
    }
}
