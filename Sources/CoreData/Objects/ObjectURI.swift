import Foundation

/// The parts of an object's URI. Only this type knows how the URI is escaped.
///
///     x-coredata://4B0F5331-DE87-4D61-9947-8A976CCEB627/Gr%C3%B6%C3%9Fe/p12     // entity Größe
package struct ObjectURI: Hashable, Sendable {
    /// The store's UUID; empty in a temporary ID.
    package var store: String
    package var entity: String
    /// `p` and the primary key, or the reference of a temporary ID.
    package var reference: String

    package init(store: String, entity: String, reference: String) {
        self.store = store
        self.entity = entity
        self.reference = reference
    }

    /// `nil` for a text that is no object's URI.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.start) else { return nil }
        let parts = text.dropFirst(Self.start.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty, !parts[2].isEmpty else { return nil }
        self.init(store: Self.plain(parts[0]), entity: Self.plain(parts[1]), reference: String(parts[2]))
    }

    package var url: URL {
        let host = store.addingPercentEncoding(withAllowedCharacters: .urlHostAllowed) ?? store
        let path = entity.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? entity
        return URL(string: "\(Self.start)\(host)/\(path)/\(reference)") ?? URL(fileURLWithPath: "/")
    }

    /// The text without escapes; one that has none that mean something is plain already.
    package static func plain(_ part: some StringProtocol) -> String { part.removingPercentEncoding ?? String(part) }

    private static let start = "x-coredata://"
}
