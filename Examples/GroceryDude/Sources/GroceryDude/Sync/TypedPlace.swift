import CoreDataRemoteSync
import CoreDataSync
import Foundation
import LivePages

/// A place as it was typed in the form, or named on the command line.
struct TypedPlace: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case folder, s3
        case webDAV = "webdav"
        case service
    }

    typealias Field = SyncCandidate.Field
    typealias Problem = SyncCandidate.Problem

    private static let usualRegion = "us-east-1"

    let kind: Kind
    private let fields: [Field: String]

    init(_ kind: Kind, _ fields: [Field: String]) { (self.kind, self.fields) = (kind, fields) }

    init(_ form: Form) { self.init(form, form["kind"].flatMap(Kind.init) ?? .folder) }

    /// Reads the password or the keys of a place that is known.
    init(_ form: Form, of place: PlaceAddress) {
        let kind: Kind =
            switch place {
            case .folder: .folder
            case .webDAV: .webDAV
            case .s3: .s3
            case .service: .service
            }
        self.init(form, kind)
    }

    private init(_ form: Form, _ kind: Kind) {
        self.kind = kind
        var fields: [Field: String] = [:]
        for field in Field.allCases { fields[field] = form[field.rawValue] }
        self.fields = fields
    }

    /// What was typed, for the form that is shown again; nothing secret, even if it was typed into an address.
    func shown(_ field: Field) -> String {
        switch field {
        case .passphrase, .password, .secretKey, .accountPassword: ""
        case .address, .endpoint, .service: Self.withoutSecrets(self[field])
        default: self[field]
        }
    }

    private subscript(_ field: Field) -> String {
        (fields[field] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The address without a name and password, and without a query.
    private static func withoutSecrets(_ text: String) -> String {
        let text = text.prefix { $0 != "?" && $0 != "#" }
        guard let start = text.range(of: "//")?.upperBound else { return text.contains("@") ? "" : String(text) }
        let server = text[start...].prefix { $0 != "/" }
        if let end = server.lastIndex(of: "@") { return String(text[..<start] + text[text.index(after: end)...]) }
        // Of a password with a slash in it, the beginning looks like a port.
        let port = server.split(separator: ":", maxSplits: 1).dropFirst().first ?? ""
        return port.allSatisfy(\.isNumber) || server.hasPrefix("[") ? String(text) : ""
    }

    // MARK: The address

    /// - Throws: a `Problem` with the field to change.
    func address() throws -> PlaceAddress {
        switch kind {
        case .folder: return .folder(try folder())
        case .webDAV:
            let example = "https://cloud.example.com/remote.php/dav/files/ann/Groceries"
            let address = PlaceAddress.webDAV(try url(.address, "a folder on the server", example))
            try check(address, .address)
            return address
        case .s3: return .s3(try bucket())
        case .service:
            let address = PlaceAddress.Service(
                address: try url(.service, "the service", "https://groceries.example.com"), account: self[.account],
                household: self[.household])
            try check(.service(address), .service)
            return .service(address)
        }
    }

    private func folder() throws -> String {
        let path = (self[.folder] as NSString).expandingTildeInPath
        if path.isEmpty { throw Problem(field: .folder, description: "Type the path of a folder.") }
        guard path.hasPrefix("/") else {
            throw Problem(
                field: .folder, description: "Type the whole path, beginning with /, such as /home/me/Sync/Groceries.")
        }
        return URL(fileURLWithPath: path).standardizedFileURL.path
    }

    private func url(_ field: Field, _ what: String, _ example: String) throws -> URL {
        var text = self[field]
        while text.hasSuffix("/") { text.removeLast() }
        if text.isEmpty {
            throw Problem(field: field, description: "Type the address of \(what), such as \(example).")
        }
        guard let url = URL(string: text), ["https", "http"].contains(url.scheme?.lowercased()), url.host != nil else {
            throw Problem(
                field: field, description: "Type the whole address, beginning with https://, such as \(example).")
        }
        return url
    }

    private func bucket() throws -> PlaceAddress.Bucket {
        let endpoint = try url(.endpoint, "the service", "https://s3.eu-central-1.amazonaws.com")
        if self[.bucket].isEmpty { throw Problem(field: .bucket, description: "Type the name of the bucket.") }
        let region = self[.region].isEmpty ? Self.usualRegion : self[.region]
        guard region.utf8.count <= 60, region.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        else {
            throw Problem(
                field: .region,
                description: """
                    “\(region)” is no region: letters, digits and - are, as in eu-central-1. Leave it empty for \(Self.usualRegion).
                    """)
        }
        var prefix = self[.prefix]
        while prefix.hasSuffix("/") { prefix.removeLast() }
        if !prefix.isEmpty { prefix += "/" }
        var bucket = PlaceAddress.Bucket(endpoint: endpoint, region: region, bucket: "any-name", prefix: "")
        try check(.s3(bucket), .endpoint)
        bucket.bucket = self[.bucket]
        try check(.s3(bucket), .bucket)
        bucket.prefix = prefix
        try check(.s3(bucket), .prefix)
        return bucket
    }

    private func check(_ address: PlaceAddress, _ field: Field) throws {
        do { _ = try address.place(nil, hasFiles: false) } catch let error as SyncPlaceError {
            throw Problem(field: field, description: error.message)
        }
    }

    // MARK: Credentials

    /// What was typed of name, password and keys; `nil` where nothing was.
    ///
    /// - Throws: a `Problem` with the field to change.
    func credentials() throws -> PlaceCredentials? {
        switch kind {
        case .folder: return nil
        case .webDAV:
            // A password may begin or end with a blank.
            let (user, password) = (self[.user], fields[.password] ?? "")
            if user.isEmpty, password.isEmpty { return nil }
            if password.isEmpty { throw Problem(field: .password, description: "Type the password of “\(user)”.") }
            try refuseControls(.user, "name")
            try refuseControls(.password, "password")
            if user.contains(":") {
                throw Problem(
                    field: .user, description: "A user's name contains no “:”. The password has a field of its own.")
            }
            return user.isEmpty ? .token(text: self[.password]) : .password(user: user, password: password)
        case .s3:
            let (access, secret) = (self[.accessKey], self[.secretKey])
            if access.isEmpty, secret.isEmpty { return nil }
            if access.isEmpty { throw Problem(field: .accessKey, description: "Type the access key.") }
            if secret.isEmpty { throw Problem(field: .secretKey, description: "Type the secret key.") }
            try refuseControls(.accessKey, "access key")
            try refuseControls(.secretKey, "secret key")
            let session = self[.sessionToken]
            return .keys(access: access, secret: secret, session: session.isEmpty ? nil : session)
        case .service:
            let password = fields[.accountPassword] ?? ""
            if self[.account].isEmpty {
                throw Problem(field: .account, description: "Type the name of your account.")
            }
            if password.isEmpty {
                throw Problem(
                    field: .accountPassword, description: "Type the password of “\(self[.account])”.")
            }
            return .password(user: self[.account], password: password)
        }
    }

    /// They would end a line of a request.
    private func refuseControls(_ field: Field, _ what: String) throws {
        let isPlain = self[field].unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard isPlain else {
            throw Problem(
                field: field,
                description: "The \(what) contains a line end or another control character. Type it again.")
        }
    }
}
