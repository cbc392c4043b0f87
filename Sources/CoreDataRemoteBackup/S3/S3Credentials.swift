/// The keys to an S3-compatible service. Its description, and what `dump` prints, have no secret in them.
public struct S3Credentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let accessKey: String
    let secretKey: String
    let sessionToken: String?

    /// Takes keys; a session token belongs to keys that hold for a while.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }

    public var description: String { "S3Credentials(accessKey: …, secretKey: …)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
