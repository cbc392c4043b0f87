/// What changed in a list, for pages that show it: rows by their elements' IDs, sections by their places.
///
/// A page takes rows out, then sections (the last first), puts new sections in (the first first), then rows in the order
/// in which they stand here: each behind the row it names, which is there by then.
package struct LivePatch: Encodable, Sendable {
    /// Where a row stands now, and its markup.
    package struct Row: Encodable, Sendable {
        let id: String
        /// The place of the row's section.
        let section: Int
        /// The row before it in the section; `nil` for the first.
        let after: String?
        let html: String
    }

    package struct Section: Encodable, Sendable {
        let index: Int
        let html: String
    }

    /// The list that changed; the feed fills it in.
    package var list = ""
    /// Rows that are gone.
    package var gone: [String] = []
    /// Sections that are gone, by their former places.
    package var goneSections: [Int] = []
    /// Sections that are new, by their places, without rows.
    package var sections: [Section] = []
    /// Rows that are new, moved or changed.
    package var rows: [Row] = []

    package var isEmpty: Bool { gone.isEmpty && goneSections.isEmpty && sections.isEmpty && rows.isEmpty }
}
