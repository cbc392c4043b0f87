/// The indexes of ours that find a text by what is in it, as the user info of its attribute asks for them: Apple's Core Data
/// ignores that, and it takes no part in version hashes.
///
///     <userInfo><entry key="OpenCoreData.search" value="trigram"/></userInfo>
package struct SearchIndexKinds: OptionSet, Hashable, Sendable {
    package static let key = "OpenCoreData.search"

    /// By any three scalars in a row.
    package static let trigram = SearchIndexKinds(rawValue: 1)
    /// By words, with ranks and snippets.
    package static let words = SearchIndexKinds(rawValue: 2)

    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// What user info says for them; `nil` for none.
    package var text: String? {
        let words = [(SearchIndexKinds.trigram, "trigram"), (.words, "words")].filter { contains($0.0) }.map(\.1)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// The kinds that a text names, divided by commas or spaces, without regard to case; `unknown` are words that name none.
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
