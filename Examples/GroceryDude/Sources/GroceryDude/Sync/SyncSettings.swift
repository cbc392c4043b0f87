import CoreDataSync
import Foundation

/// Where the list synchronises, and under which name. Contains nothing secret.
struct SyncSettings: Equatable, Sendable {
    /// What all devices can reach.
    var place: PlaceAddress
    /// What other devices call this one.
    var device: String
    /// Whether a passphrase seals the files.
    var isSealed = false
    /// Whether the server asks for a password or for keys.
    var needsCredentials = false
    /// What happens to the objects of both, when the list meets the place for the first time.
    var seeding = Seeding.merge
    /// Whether an exchange has succeeded: the place is not empty from then on.
    var hasExchanged = false

    /// Whether the place needs a secret that is not among these.
    func lacks(_ secrets: SyncSecrets) -> Bool {
        isSealed && secrets.passphrase.isEmpty || needsCredentials && secrets.credentials == nil
    }
}

extension SyncSettings: Codable {
    /// A place has one of the first four keys.
    private enum Key: String, CodingKey {
        case folder, webDAV, s3, service, device, isSealed, needsCredentials, seeding, hasExchanged
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        if let path = try values.decodeIfPresent(String.self, forKey: .folder) {
            place = .folder(path)
        } else if let url = try values.decodeIfPresent(URL.self, forKey: .webDAV) {
            place = .webDAV(url)
        } else if let service = try values.decodeIfPresent(PlaceAddress.Service.self, forKey: .service) {
            place = .service(service)
        } else {
            place = .s3(try values.decode(PlaceAddress.Bucket.self, forKey: .s3))
        }
        device = try values.decode(String.self, forKey: .device)
        isSealed = try values.decode(Bool.self, forKey: .isSealed)
        needsCredentials = try values.decodeIfPresent(Bool.self, forKey: .needsCredentials) ?? false
        seeding = try values.decode(Seeding.self, forKey: .seeding)
        hasExchanged = try values.decode(Bool.self, forKey: .hasExchanged)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        switch place {
        case .folder(let path): try values.encode(path, forKey: .folder)
        case .webDAV(let url): try values.encode(url, forKey: .webDAV)
        case .s3(let bucket): try values.encode(bucket, forKey: .s3)
        case .service(let service): try values.encode(service, forKey: .service)
        }
        try values.encode(device, forKey: .device)
        try values.encode(isSealed, forKey: .isSealed)
        try values.encode(needsCredentials, forKey: .needsCredentials)
        try values.encode(seeding, forKey: .seeding)
        try values.encode(hasExchanged, forKey: .hasExchanged)
    }
}

/// The files beside a store that keep how it synchronises, so that it goes on when the app starts again.
///
///     Groceries.sqlite-sync.json          the settings
///     Groceries.sqlite-sync.passphrase    the passphrase, readable by its owner only, if the user wants it kept
///     Groceries.sqlite-sync.credentials   a server's password or keys, likewise
///
/// A user who can read these files can read the store beside them: the passphrase protects the files in the place, which may be on
/// another machine. The app keeps secrets in clear, so that it can start without a person. A user who has the same password elsewhere
/// lets the app ask for it.
struct SyncFiles: Sendable {
    let settings: URL
    let passphrase: URL
    let credentials: URL

    init(beside store: URL) {
        func file(_ end: String) -> URL {
            store.deletingLastPathComponent().appendingPathComponent(store.lastPathComponent + end)
        }
        (settings, passphrase) = (file("-sync.json"), file("-sync.passphrase"))
        credentials = file("-sync.credentials")
    }

    /// The settings; `nil` for a list that does not synchronise.
    ///
    /// - Throws: for a file that cannot be read.
    func load() throws -> SyncSettings? {
        guard FileManager.default.fileExists(atPath: settings.path) else { return nil }
        return try JSONDecoder().decode(SyncSettings.self, from: Data(contentsOf: settings))
    }

    func save(_ new: SyncSettings) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(new).write(to: settings, options: .atomic)
    }

    /// The secrets that were kept. A file that cannot be read is like none: the app asks.
    var kept: SyncSecrets {
        let text = (try? Data(contentsOf: passphrase)).map { String(decoding: $0, as: UTF8.self) }
        let found = (try? Data(contentsOf: credentials)).flatMap {
            try? JSONDecoder().decode(PlaceCredentials.self, from: $0)
        }
        return SyncSecrets(passphrase: text ?? "", credentials: found)
    }

    /// Keeps the secrets in files that only their owner can read, from their creation on.
    func keep(_ secrets: SyncSecrets) throws {
        try forget()
        if !secrets.passphrase.isEmpty { try write(Data(secrets.passphrase.utf8), to: passphrase) }
        if let found = secrets.credentials { try write(try JSONEncoder().encode(found), to: credentials) }
    }

    private func write(_ secret: Data, to url: URL) throws {
        let isMade = FileManager.default.createFile(
            atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        guard isMade else { throw CocoaError(.fileWriteUnknown) }
        let file = try FileHandle(forWritingTo: url)
        try file.write(contentsOf: secret)
        try file.close()
    }

    /// Keeps no secret.
    func forget() throws {
        for file in [passphrase, credentials] where FileManager.default.fileExists(atPath: file.path) {
            try FileManager.default.removeItem(at: file)
        }
    }

    /// The list does not synchronise any more.
    func remove() throws {
        try forget()
        if FileManager.default.fileExists(atPath: settings.path) { try FileManager.default.removeItem(at: settings) }
    }
}
