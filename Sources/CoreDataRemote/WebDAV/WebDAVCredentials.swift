import Foundation

/// The name and password for a WebDAV server. The description and the output of `dump` contain no secrets.
public struct WebDAVCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let header: String

    /// Makes credentials with a name and a password, for `Basic` authentication.
    public init(user: String, password: String) {
        header = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// Makes credentials with a token, for `Bearer` authentication.
    public init(token: String) { header = "Bearer \(token)" }

    public var description: String { "WebDAVCredentials(…)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
