import Foundation

/// Who uses a context, as custom stores are told.
public struct EditingState: Identifiable, Sendable {
    public let id = UUID()
    /// Who changes things, as history records it.
    public var author: String?

    package init(author: String? = nil) { self.author = author }
}
