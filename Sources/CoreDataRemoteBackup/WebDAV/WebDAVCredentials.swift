import Foundation

/// The name and password for a WebDAV server. Its description, and what `dump` prints, have no secret in them.
public struct WebDAVCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let header: String

    /// Takes a name and a password, for the server's `Basic` authentication.
    public init(user: String, password: String) {
        header = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// Takes a token, for servers that ask for one (`Bearer`).
    public init(token: String) { header = "Bearer \(token)" }

    public var description: String { "WebDAVCredentials(…)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
