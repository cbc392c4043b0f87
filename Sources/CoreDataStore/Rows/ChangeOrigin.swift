import Foundation

/// The origin of a change, as a store's history records it.
package struct ChangeOrigin: Hashable, Sendable {
    /// The transaction author of the context.
    package var author: String?
    package var contextName: String?
    package var bundleIdentifier: String?
    package var processName: String?

    package init(
        author: String? = nil, contextName: String? = nil, bundleIdentifier: String? = Self.bundleIdentifier,
        processName: String? = Self.processName
    ) {
        self.author = author
        self.contextName = contextName
        self.bundleIdentifier = bundleIdentifier
        self.processName = processName
    }

    package static let processName = ProcessInfo.processInfo.processName
    /// The bundle identifier, or the program's name if it is not a bundle.
    package static let bundleIdentifier = Bundle.main.bundleIdentifier ?? processName
}
