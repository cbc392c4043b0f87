/// A range of a source to replace, with a text for each output.
struct SourceEdit {
    /// The range in the source, in UTF-8 code units; empty to insert.
    var range: Range<Int>
    /// The text in the rewritten source for people; `nil` leaves the range unchanged.
    var written: String?
    /// The text in the compiled copy; `nil` leaves the range unchanged. It has as many lines as the range.
    var compiled: String?
}

extension SourceEdit {
    /// Replaces a range by the same text in both outputs. The text after it keeps its line and, where that is safe, its
    /// column.
    static func replace(_ range: Range<Int>, with text: String, in source: SourceText) -> SourceEdit {
        SourceEdit(range: range, written: text, compiled: source.aligned(text, to: range))
    }
}

/// A range of a source to move, with the edits inside it.
struct SourceMove {
    var range: Range<Int>
    /// The position before which the range is inserted.
    var target: Int
    /// A text to insert before the range's first word, such as the access level of its extension, and that word's
    /// position.
    var prefix: (text: String, at: Int)?
}
