import CoreDataRemoteSync
import CoreDataSync
import Foundation

/// Where devices exchange files. Contains nothing secret.
enum PlaceAddress: Equatable, Sendable {
    /// A bucket of an S3 service.
    struct Bucket: Codable, Equatable, Sendable {
        var endpoint: URL
        var region: String
        var bucket: String
        /// The beginning of all keys; empty for the whole bucket.
        var prefix: String
    }

    /// A household of a service, such as Grocery Cloud.
    struct Service: Codable, Equatable, Sendable {
        var address: URL
        /// The name of the account.
        var account: String
        /// The name of the household; empty for the only one of the account.
        var household: String
        /// The household, once the account has signed in.
        var group: UUID?
    }

    /// The path of a folder of this machine.
    case folder(String)
    /// The address of a folder of a WebDAV server.
    case webDAV(URL)
    case s3(Bucket)
    case service(Service)

    /// What pages call the place: "Folder".
    var title: String {
        switch self {
        case .folder: "Folder"
        case .webDAV: "WebDAV folder"
        case .s3: "S3 bucket"
        case .service: "Grocery Cloud"
        }
    }

    /// What sentences call the place: "this folder".
    var noun: String {
        switch self {
        case .folder, .webDAV: "folder"
        case .s3: "bucket"
        case .service: "household"
        }
    }

    /// The path or address, as a person would write it.
    var name: String {
        switch self {
        case .folder(let path): path
        case .webDAV(let url): url.absoluteString
        case .s3(let bucket): "\(bucket.bucket)/\(bucket.prefix) at \(bucket.endpoint.absoluteString)"
        case .service(let service): "\(service.household) at \(service.address.absoluteString)"
        }
    }

    var isFolder: Bool {
        if case .folder = self { true } else { false }
    }

    /// How often the place is read, in seconds.
    var interval: TimeInterval {
        // A folder on a network drive does not tell what other machines write. A server counts requests.
        isFolder ? 10 : 30
    }

    /// Makes the place.
    ///
    /// - Parameters:
    ///   - hasFiles: whether the place had files of devices: then one that is empty is another one.
    ///   - isAwaited: whether a person waits for the answer: then a silent server is given up sooner.
    ///   - onRenewal: called with a new token that a service gives in the place of the present one.
    /// - Throws: `SyncPlaceError` for an address that is not valid.
    func place(
        _ credentials: PlaceCredentials?, hasFiles: Bool, isAwaited: Bool = false,
        onRenewal: (@Sendable (PlaceCredentials) -> Void)? = nil
    ) throws -> any SyncPlace {
        var limits = RemoteLimits()
        if isAwaited { limits.silence = 15 }
        switch self {
        case .folder(let path):
            return SharedPlace(FolderPlace(URL(fileURLWithPath: path, isDirectory: true)), self, hasFiles: hasFiles)
        case .webDAV(let url):
            let place = try WebDAVPlace(folder: url, credentials: credentials?.webDAV, limits: limits)
            return SharedPlace(place, self, hasFiles: hasFiles)
        case .s3(let bucket):
            let place = try S3Place(
                endpoint: bucket.endpoint, bucket: bucket.bucket, prefix: bucket.prefix, region: bucket.region,
                credentials: credentials?.s3 ?? S3Credentials(accessKey: "", secretKey: ""), limits: limits)
            return SharedPlace(place, self, hasFiles: hasFiles)
        case .service(let service):
            let session = try service.session(credentials, limits)
            if let onRenewal { session.onRenewal { onRenewal(.session(token: $0)) } }
            let place = ServicePlace(session: session, group: service.group ?? UUID())
            return SharedPlace(place, self, hasFiles: hasFiles)
        }
    }
}

/// What a server wants to know of a client. The description and the output of `dump` contain no secrets.
enum PlaceCredentials: Codable, Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    case password(user: String, password: String)
    case token(text: String)
    case keys(access: String, secret: String, session: String?)
    /// The token of a session of a service, in the place of the account's password.
    case session(token: String)

    var webDAV: WebDAVCredentials? {
        switch self {
        case .password(let user, let password): WebDAVCredentials(user: user, password: password)
        case .token(let text): WebDAVCredentials(token: text)
        case .keys, .session: nil
        }
    }

    var s3: S3Credentials? {
        guard case .keys(let access, let secret, let session) = self else { return nil }
        return S3Credentials(accessKey: access, secretKey: secret, sessionToken: session)
    }

    var description: String { "PlaceCredentials(…)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// What synchronisation needs and the settings do not contain. The description and the output of `dump` contain no secrets.
struct SyncSecrets: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Empty for a place that is not sealed.
    var passphrase = ""
    /// `nil` for a folder, and for a server that asks for nothing.
    var credentials: PlaceCredentials?

    var description: String { "SyncSecrets(…)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
