/// An event that an ``XMLReader`` reports, in the order of the text.
package enum XMLEvent: Sendable {
    /// An element begins; `<a/>` is reported as a start and an end.
    case start(XMLTag)
    case end(name: String)
    /// Text or CDATA inside an element; one text may be reported in several parts.
    case text(String)
    /// A comment; `offset` is its first byte.
    case comment(offset: Int)
}

/// The start tag of an element.
package struct XMLTag: Sendable {
    package var name: String
    /// The attributes in the order of the text; names are unique.
    package var attributes: [(name: String, value: String)]
    /// The line where the tag begins, counted from 1.
    package var line: Int
    package var column: Int
    /// The byte offset where the tag begins.
    package var offset: Int
}
