import Foundation

/// What the toolkit throws of its own: one message that says what is wrong, and what to do about it.
///
///     do { try await stack.removeStores() } catch { print(error.localizedDescription) }
///
/// Errors of the framework (`CocoaError`) come through as they are.
public struct ToolkitError: LocalizedError, CustomStringConvertible {
    /// The message, for people.
    public var message: String
    /// The error behind it, where there is one.
    public var underlying: (any Error)?

    /// Makes an error of that message.
    public init(_ message: String, underlying: (any Error)? = nil) {
        self.message = message
        self.underlying = underlying
    }

    public var description: String { message }

    /// The message, as `localizedDescription` tells it.
    public var errorDescription: String? { message }
}
