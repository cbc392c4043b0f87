import CoreDataPrimitives
import Foundation

/// A full-text search for one entity.
package struct WordSearch: Sendable {
    /// The slots of the searched texts.
    package var slots: [Int]
    /// The weight of a match in each of them.
    package var weights: [Double]
    /// The expression in the language of FTS5, without column filters.
    package var expression: String
    /// The maximum number of words in an excerpt.
    package var excerptLength: Int

    /// The marks around a match in an excerpt: private-use scalars.
    package static let marks = (before: "\u{10FFFC}", behind: "\u{10FFFD}")
    package static let ellipsis = "…"

    package init(slots: [Int], weights: [Double], expression: String, excerptLength: Int) {
        self.slots = slots
        self.weights = weights
        self.expression = expression
        self.excerptLength = excerptLength
    }

    /// Returns the expression restricted to the searched columns.
    func query(in columns: WordColumns) -> String {
        let names = slots.compactMap { columns.placeOfSlot[$0].map { "\"\(columns.names[$0])\"" } }
        return "{\(names.joined(separator: " "))} : (\(expression))"
    }
}

/// The columns of a word table, in order, and the column of each slot.
package struct WordColumns: Sendable {
    package var names: [String]
    package var placeOfSlot: [Int: Int]

    package init(names: [String], placeOfSlot: [Int: Int]) {
        self.names = names
        self.placeOfSlot = placeOfSlot
    }
}

/// The result of a full-text search in a store.
package struct WordMatches {
    package struct Match {
        package var key: RowKey
        /// The rank; smaller is better.
        package var relevance: Double
        /// For each searched slot, the excerpt with marks around matches; `nil` without a text.
        package var excerpts: [String?]
    }

    /// The matches, best first.
    package var matches: [Match] = []
    /// Rows whose current texts are not in the index, since other programs changed them and the index cannot be updated
    /// now.
    package var unindexed: [(key: RowKey, texts: [String?])] = []

    package init() {}
}

/// Converts a user's text to a query in the language of FTS5.
///
///     WordQuery.allWords("crème \"brûlée", prefixes: true)   // "crème"* """brûlée"*
///
/// Every word is quoted, so that its content is not parsed as syntax.
package enum WordQuery {
    /// Returns a query for all words; `nil` if the text contains no word.
    package static func allWords(_ text: String, prefixes: Bool) -> String? { joined(text, " AND ", prefixes) }

    package static func anyWord(_ text: String, prefixes: Bool) -> String? { joined(text, " OR ", prefixes) }

    /// Returns a query for the words in sequence.
    package static func phrase(_ text: String, prefixes: Bool) -> String? {
        hasWord(text) ? quoted(text) + (prefixes ? " *" : "") : nil
    }

    private static func joined(_ text: String, _ operation: String, _ prefixes: Bool) -> String? {
        let words = text.split { $0.isWhitespace || $0 == "\0" }.filter(hasWord)
        guard !words.isEmpty else { return nil }
        return words.map { quoted($0) + (prefixes ? " *" : "") }.joined(separator: operation)
    }

    private static func quoted(_ text: some StringProtocol) -> String {
        "\"" + String(text).replacing("\"", with: "\"\"").replacing("\0", with: " ") + "\""
    }

    /// Returns whether the tokenizer finds a word in the text: letters, digits and private-use scalars form words.
    private static func hasWord(_ text: some StringProtocol) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
                .letterNumber, .otherNumber, .privateUse:
                true
            default: false
            }
        }
    }
}
