import Foundation

/// The user of a context, for custom stores.
public struct EditingState: Identifiable, Sendable {
    public let id = UUID()
    /// The author of changes, as the history records it.
    public var author: String?

    package init(author: String? = nil) { self.author = author }
}
