/// A full-text search table, as a value; its rows have a `rowid` and a column for each text.
///
///     CreateSearchTable("OCD_TRIGRAM_ZITEM_ZNAME", columns: ["text"], by: .trigrams)
///     // CREATE VIRTUAL TABLE OCD_TRIGRAM_ZITEM_ZNAME USING fts5(text, tokenize = 'trigram case_sensitive 1')
///     CreateSearchTable("OCD_WORDS_ZITEM", columns: ["ZNAME", "ZNOTE"], by: .words)
///     // CREATE VIRTUAL TABLE OCD_WORDS_ZITEM USING fts5(ZNAME, ZNOTE, tokenize = 'unicode61 remove_diacritics 2')
package struct CreateSearchTable: Hashable, Sendable {
    package enum Tokens: Hashable, Sendable {
        /// Any three adjacent scalars.
        case trigrams
        /// Words, ignoring case and diacritics.
        case words
    }

    package var name: String
    package var columns: [String]
    package var tokens: Tokens

    package init(_ name: String, columns: [String], by tokens: Tokens) {
        self.name = name
        self.columns = columns
        self.tokens = tokens
    }
}
