import Foundation

/// An error of the toolkit: one message that says what is wrong and what to do about it.
///
///     do { try await stack.removeStores() } catch { print(error.localizedDescription) }
///
/// Errors of the framework (`CocoaError`) are passed on unchanged.
public struct ToolkitError: LocalizedError, CustomStringConvertible {
    /// The message for users.
    public var message: String
    /// The underlying error, if there is one.
    public var underlying: (any Error)?

    /// Makes an error with the message.
    public init(_ message: String, underlying: (any Error)? = nil) {
        self.message = message
        self.underlying = underlying
    }

    public var description: String { message }

    /// The message as `localizedDescription`.
    public var errorDescription: String? { message }
}
