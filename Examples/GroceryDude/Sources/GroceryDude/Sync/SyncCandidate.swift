import CoreDataSync
import Foundation
import LivePages

/// A place that a user wants to synchronise through, before anything is written to it.
struct SyncCandidate: Sendable {
    /// A field of the form.
    enum Field: String, CaseIterable, Sendable {
        case folder, device, passphrase
        case address, user, password
        case endpoint, region, bucket, prefix
        case accessKey = "access-key"
        case secretKey = "secret-key"
        case service, account, household
        case accountPassword = "account-password"
        /// Of temporary keys; only the command line has it.
        case sessionToken = "session-token"
    }

    /// What is wrong with what was typed, and what to do.
    struct Problem: Error, CustomStringConvertible {
        let field: Field
        let description: String
    }

    var settings: SyncSettings
    private(set) var secrets: SyncSecrets
    /// Whether the secrets are kept for the next start of the app.
    let keepsSecrets: Bool
    /// The number of devices that had files in the place when it was checked.
    var devices = 0

    /// Reads what was typed.
    ///
    /// - Throws: a ``Problem`` with the field to change.
    init(_ typed: TypedPlace, device: String, passphrase: String = "", keepsSecrets: Bool = false) throws {
        let name = device.trimmingCharacters(in: .whitespacesAndNewlines)
        let (address, credentials) = (try typed.address(), try typed.credentials())
        if case .s3 = address, credentials == nil {
            throw Problem(field: .accessKey, description: "Type the access key and the secret key.")
        }
        if name.isEmpty {
            throw Problem(
                field: .device, description: "Type a name by which you know this device, such as Kitchen.")
        }
        if name.isLonger(than: Groceries.longestName) {
            throw Problem(field: .device, description: NameProblem.tooLong.message)
        }
        settings = SyncSettings(
            place: address, device: name, isSealed: !passphrase.isEmpty, needsCredentials: credentials != nil)
        secrets = SyncSecrets(passphrase: passphrase, credentials: credentials)
        self.keepsSecrets = keepsSecrets
    }

    /// Signs in to a service. The password is not kept: the token of a session takes its place.
    ///
    /// - Throws: a ``Problem`` with the field to change.
    mutating func signIn() async throws {
        (settings.place, secrets.credentials) = try await settings.place.signingIn(
            secrets.credentials, device: settings.device)
    }

    /// Checks that the place can be used with the passphrase.
    ///
    /// - Returns: the number of devices that have files in it.
    /// - Throws: a ``Problem`` with the field to change.
    func check() async throws -> Int {
        if case .folder(let path) = settings.place { try checkFolder(path) }
        let noun = settings.place.noun
        do {
            let place = try settings.place.place(secrets.credentials, hasFiles: false, isAwaited: true)
            let devices = try await Self.devices(of: place)
            let isSealed = try await SealedPlace.isSealed(place)
            if isSealed, secrets.passphrase.isEmpty {
                throw problem(.passphrase, "This \(noun) is sealed. Type the passphrase that its other devices use.")
            }
            if !isSealed, !secrets.passphrase.isEmpty, devices > 0 {
                throw problem(
                    .passphrase,
                    "The devices of this \(noun) use no passphrase. Leave this empty, or choose an empty \(noun).")
            }
            if isSealed { try await SealedPlace(place, passphrase: secrets.passphrase).unlock() }
            return devices
        } catch let error as SyncPlaceError {
            guard error.reason == .wrongPassphrase else { throw problem(field(of: error), error.message) }
            throw problem(
                .passphrase, "This is not the passphrase of this \(noun). Type the one that its other devices use.")
        }
    }

    private func checkFolder(_ path: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw problem(
                .folder,
                "There is no folder “\(path)” on this machine. Create it, or check that its drive is connected.")
        }
        guard isFolder.boolValue else { throw problem(.folder, "“\(path)” is a file. Choose a folder.") }
        // A place ignores hidden files.
        let probe = URL(fileURLWithPath: path).appendingPathComponent(".grocery-dude-\(UUID().uuidString)")
        do { try Data("x".utf8).write(to: probe) } catch {
            throw problem(
                .folder,
                "Nothing can be written to “\(path)”. Give the user that runs Grocery Dude permission, or choose another folder."
            )
        }
        try? FileManager.default.removeItem(at: probe)
    }

    private func problem(_ field: Field, _ text: String) -> Problem { Problem(field: field, description: text) }

    /// The field that an error of the place is about.
    private func field(of error: SyncPlaceError) -> Field {
        switch settings.place {
        case .folder: .folder
        case .webDAV: error.reason == .noPermission ? .password : .address
        case .s3:
            if error.reason == .noPermission {
                .secretKey
            } else if error.message.contains(" NoSuchBucket.") {
                .bucket
            } else {
                error.message.contains("in another region") ? .region : .endpoint
            }
        case .service: error.reason == .noPermission ? .accountPassword : .service
        }
    }

    /// The number of folders that have files of a device.
    private static func devices(of place: any SyncPlace) async throws -> Int {
        var count = 0
        for name in try await place.list(nil) {
            let files = try await place.list(name)
            if files.contains(where: { $0.hasPrefix("hello-") || $0.hasPrefix("segment-") }) { count += 1 }
        }
        return count
    }
}
