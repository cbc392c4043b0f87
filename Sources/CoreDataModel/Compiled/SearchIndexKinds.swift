/// The kinds of search indexes, an extension of this framework. The user info of a text attribute requests them.
/// Apple's Core Data ignores the entry, and it does not change version hashes.
///
///     <userInfo><entry key="OpenCoreData.search" value="trigram"/></userInfo>
package struct SearchIndexKinds: OptionSet, Hashable, Sendable {
    package static let key = "OpenCoreData.search"

    /// Finds any three adjacent scalars.
    package static let trigram = SearchIndexKinds(rawValue: 1)
    /// Finds words, with ranks and snippets.
    package static let words = SearchIndexKinds(rawValue: 2)

    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The value in the user info that requests these indexes; `nil` for none.
    package var text: String? {
        let words = [(SearchIndexKinds.trigram, "trigram"), (.words, "words")].filter { contains($0.0) }.map(\.1)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// Parses the kinds in a text, separated by commas or spaces, ignoring case; `unknown` contains the words that name
    /// no kind.
    package static func parse(_ text: String) -> (kinds: SearchIndexKinds, unknown: [String]) {
        var kinds: SearchIndexKinds = []
        var unknown: [String] = []
        for word in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            switch word.lowercased() {
            case "trigram": kinds.insert(.trigram)
            case "words": kinds.insert(.words)
            default: unknown.append(String(word))
            }
        }
        return (kinds, unknown)
    }
}
