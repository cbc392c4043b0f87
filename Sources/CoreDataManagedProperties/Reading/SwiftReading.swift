import SwiftParser
import SwiftSyntax

/// Reads Swift sources with swift-syntax, in a time that grows with their size.
///
/// swift-syntax reads each `[` as the beginning of a type first, and of a literal if that fails. Its time doubles with
/// each `[` that is open inside another one, also where the brackets are closed later: 14 take a second, 30 would take
/// a day.
package enum SwiftReading {
    /// The most brackets that are opened one after another while none is closed, with nothing between them but what a
    /// type may have.
    static let mostOpenBrackets = 12

    /// The tree of a source. A source that would take too long is read as one open bracket: a tree with an error.
    package static func tree(of text: String) -> SourceFileSyntax {
        Parser.parse(source: hasTooManyOpenBrackets(text) ? "[" : text)
    }

    static func hasTooManyOpenBrackets(_ text: String) -> Bool {
        var count = 0
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "["):
                count += 1
                if count > mostOpenBrackets { return true }
            case UInt8(ascii: "/"): skipComment(&rest)
            default:
                // Anything else ends what swift-syntax tries twice.
                if !isPartOfType(byte) { count = 0 }
            }
        }
        return false
    }

    /// Whether a type may have the byte between its brackets, blanks included.
    private static func isPartOfType(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...0xFF:
            true
        default: typeBytes.contains(byte)
        }
    }

    private static let typeBytes = Set("_.,:()<>-&?!@`~ \t\r\n".utf8)

    /// Goes behind a comment whose first slash was taken.
    private static func skipComment(_ rest: inout Substring.UTF8View) {
        if rest.first == UInt8(ascii: "/") {
            rest = rest.drop { $0 != UInt8(ascii: "\n") }
        } else if rest.first == UInt8(ascii: "*") {
            rest.removeFirst()
            var last: UInt8 = 0
            while let byte = rest.popFirst(), last != UInt8(ascii: "*") || byte != UInt8(ascii: "/") { last = byte }
        }
    }
}
