/// What an ``XMLReader`` comes across, in the order of the text.
package enum XMLEvent: Sendable {
    /// An element begins; `<a/>` is a start and an end.
    case start(XMLTag)
    case end(name: String)
    /// Text or CDATA inside an element; one text may come in several parts.
    case text(String)
    /// A comment that begins at that byte.
    case comment(offset: Int)
}

/// The tag that begins an element.
package struct XMLTag: Sendable {
    package var name: String
    /// In the order of the text; no name is there twice.
    package var attributes: [(name: String, value: String)]
    /// Where the tag begins, counting from 1.
    package var line: Int
    package var column: Int
    /// The byte at which it begins.
    package var offset: Int
}
