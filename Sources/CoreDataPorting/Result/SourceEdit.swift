/// A piece of a source to replace, with a text for each use of the result.
struct SourceEdit {
    /// Where in the source, in UTF-8 code units; empty to insert.
    var range: Range<Int>
    /// What a person reads in the rewritten source; `nil` leaves the piece as it is.
    var written: String?
    /// What the compiler reads in a copy; `nil` leaves the piece as it is. It has as many lines as the piece.
    var compiled: String?
}

extension SourceEdit {
    /// Replaces a piece by the same text in both, and keeps what follows in its line and, where that is safe, column.
    static func replace(_ range: Range<Int>, with text: String, in source: SourceText) -> SourceEdit {
        SourceEdit(range: range, written: text, compiled: source.aligned(text, to: range))
    }
}

/// A piece of a source to take to another place, with the edits inside it.
struct SourceMove {
    var range: Range<Int>
    /// Before which the piece goes.
    var target: Int
    /// What goes before the piece's first word, such as the access level of its extension; where that word is.
    var prefix: (text: String, at: Int)?
}
