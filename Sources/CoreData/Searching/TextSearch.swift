import Foundation

/// A search by words in the texts of an entity's objects.
///
///     var search = TextSearch<Note>("cream chee", in: [\.title, \.body])
///     search.matchesPrefixes = true                       // "chee" finds "cheese"
///     search.predicate = NSPredicate(format: "folder.name == %@", "Recipes")
///     search.weights = ["title": 5]
///     search.limit = 20
///     for match in try context.search(search) { print(match.rank, match.object, match.snippet.marked("[", "]")) }
///
/// The attributes need a word index: `OpenCoreData.search` with `words` in their user info, or
/// ``NSAttributeDescription/hasWordIndex``. Words are compared without case and diacritics. Characters other than
/// letters and digits separate words.
///
/// Not in Apple's API.
public struct TextSearch<Object: NSManagedObject> {
    /// How the text is read.
    public enum Matching: Hashable, Sendable {
        /// Every word must occur, in any of the attributes and in any order.
        case allWords
        /// One word must occur; objects with more of them, or with rarer ones, come first.
        case anyWord
        /// The words have to follow one another in one attribute.
        case phrase
        /// The text is in the language of [full-text queries](https://www.sqlite.org/fts5.html#full_text_query_syntax):
        /// `milk NOT (goat OR "rice milk")`, `NEAR(a b, 5)`, `cho*`. With any other case nothing in the text is taken
        /// for syntax.
        case expression
    }

    /// The words.
    public var text: String
    /// The attributes whose texts are searched; empty for all with a word index.
    public var keys: [String]
    /// The entity; `nil` for the entity of the class.
    public var entityName: String?
    /// How the text is read; every word by default.
    public var matching = Matching.allWords
    /// Whether each word may be a prefix, for a text that is still being typed. In an ``Matching/expression`` write a
    /// `*`.
    public var matchesPrefixes = false
    /// What objects have to meet besides.
    public var predicate: NSPredicate?
    /// The weights of matches in attributes for the rank; 1 if none is given.
    public var weights: [String: Double] = [:]
    /// The most matches; 0 for all.
    public var limit = 0
    /// How many of the best to leave out.
    public var offset = 0
    /// The most words of a snippet, from 1 to 64.
    public var snippetLength = 16
    /// Whether objects of entities below are looked at.
    public var includesSubentities = true
    /// Whether the context's unsaved changes count; see ``NSManagedObjectContext/search(_:)``.
    public var includesPendingChanges = true
    /// The stores to look into; `nil` for all.
    public var affectedStores: [NSPersistentStore]?

    /// Creates a search of attributes by their names; an empty list means all with a word index. An `entityName` is
    /// needed if several entities have the class.
    public init(_ text: String, in keys: [String] = [], entityName: String? = nil) {
        self.text = text
        self.keys = keys
        self.entityName = entityName
    }

    /// Makes a search of attributes that the compiler has checked.
    ///
    /// - Throws: an error for a key path that is no property of the model.
    public init(_ text: String, in keyPaths: [PartialKeyPath<Object>]) throws {
        self.init(text, in: try keyPaths.map { try SwiftPredicates.attribute($0) })
    }
}

/// An object that a search found.
///
/// Not in Apple's API.
public struct TextMatch<Object: NSManagedObject> {
    /// The object.
    public let object: Object
    /// The quality of the match: greater is better. It compares matches of one search, by the frequency of the words,
    /// the length of the text and the weights. 0 for objects found in unsaved changes, which no statistics contain.
    public let rank: Double
    /// For each searched attribute with a text, a part of it around the match.
    public let snippets: [String: TextSnippet]
    /// The first of the attributes' snippets that has a match; of none, the first.
    public let snippet: TextSnippet
}

/// A part of a text around a match.
///
///     match.snippet.marked("<b>", "</b>")     // "…a cup of <b>cream</b> and two…"
///
/// Not in Apple's API.
public struct TextSnippet: Hashable, Sendable {
    /// The part, with `…` where the text continues.
    public let text: String
    /// Where in ``text`` the words are.
    public let ranges: [Range<String.Index>]

    init(excerpt: String) {
        var text = ""
        var bounds: [(start: Int, end: Int)] = []
        for (index, piece) in excerpt.split(separator: "\u{10FFFC}", omittingEmptySubsequences: false).enumerated() {
            let parts = piece.split(separator: "\u{10FFFD}", maxSplits: 1, omittingEmptySubsequences: false)
            let start = text.utf8.count
            text += parts.first ?? ""
            if index > 0, parts.count > 1 { bounds.append((start, text.utf8.count)) }
            if parts.count > 1 { text += parts[1] }
        }
        text.makeContiguousUTF8()
        self.text = text
        ranges = bounds.map {
            text.utf8.index(text.startIndex, offsetBy: $0.start)..<text.utf8.index(text.startIndex, offsetBy: $0.end)
        }
    }

    /// Returns the text with a mark before and after each matching word.
    ///
    /// The text itself is not escaped. For HTML escape it first, with ``marked(_:_:escaping:)``.
    public func marked(_ before: String, _ behind: String) -> String { marked(before, behind) { String($0) } }

    /// As ``marked(_:_:)``, with each part of the text as `escape` makes it.
    ///
    ///     snippet.marked("<b>", "</b>") { $0.replacing("&", with: "&amp;").replacing("<", with: "&lt;") }
    public func marked(_ before: String, _ behind: String, escaping escape: (Substring) -> String) -> String {
        var result = ""
        var end = text.startIndex
        for range in ranges {
            result += escape(text[end..<range.lowerBound]) + before + escape(text[range]) + behind
            end = range.upperBound
        }
        return result + escape(text[end...])
    }
}
