import CoreDataPrimitives
import Foundation

/// What is looked for by words, for one entity.
package struct WordSearch: Sendable {
    /// The slots whose texts are looked into.
    package var slots: [Int]
    /// How much a match in each of them counts.
    package var weights: [Double]
    /// In the language of FTS5; which columns it is about is not in it.
    package var expression: String
    /// The most words of an excerpt.
    package var excerptLength: Int

    /// What stands around a match in an excerpt: scalars of nobody's.
    package static let marks = (before: "\u{10FFFC}", behind: "\u{10FFFD}")
    package static let ellipsis = "…"

    package init(slots: [Int], weights: [Double], expression: String, excerptLength: Int) {
        self.slots = slots
        self.weights = weights
        self.expression = expression
        self.excerptLength = excerptLength
    }

    /// The expression, of the searched columns alone.
    func query(in columns: WordColumns) -> String {
        let names = slots.compactMap { columns.placeOfSlot[$0].map { "\"\(columns.names[$0])\"" } }
        return "{\(names.joined(separator: " "))} : (\(expression))"
    }
}

/// The columns of a table of words, in order, and which of them has the text of a slot.
package struct WordColumns: Sendable {
    package var names: [String]
    package var placeOfSlot: [Int: Int]

    package init(names: [String], placeOfSlot: [Int: Int]) {
        self.names = names
        self.placeOfSlot = placeOfSlot
    }
}

/// What a search by words found in a store.
package struct WordMatches {
    package struct Match {
        package var key: RowKey
        /// The better the less.
        package var relevance: Double
        /// Of each searched slot, marks around what matches; `nil` for no text.
        package var excerpts: [String?]
    }

    /// The best first.
    package var matches: [Match] = []
    /// Rows that the index does not have as they are, since others wrote them and it cannot be written to now.
    package var unindexed: [(key: RowKey, texts: [String?])] = []
}

/// What a text of somebody's looks for, in the language of FTS5.
///
///     WordQuery.allWords("crème \"brûlée", prefixes: true)   // "crème"* """brûlée"*
///
/// Every word is quoted, so that nothing in it is taken for syntax.
package enum WordQuery {
    /// `nil` where there is no word in the text.
    package static func allWords(_ text: String, prefixes: Bool) -> String? { joined(text, " AND ", prefixes) }

    package static func anyWord(_ text: String, prefixes: Bool) -> String? { joined(text, " OR ", prefixes) }

    /// The words one after the other.
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

    /// Whether the table would find a word in it: letters, digits and scalars of private use make words.
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
