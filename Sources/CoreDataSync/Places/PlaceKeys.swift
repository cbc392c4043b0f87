import CoreDataDigests
import Foundation

/// The keys of a sealed place, each derived once from the passphrase and a salt in the place.
///
/// Usually there is one. Two devices that seal a place at the same time, each before it sees the other's salt, create
/// two: each file says which key it needs, so both are read.
actor PlaceKeys {
    struct Key: Sendable {
        let id: Data
        let bytes: Data
    }

    /// The folder of the salts in the place; no device has that name.
    static let folder = "sealed"
    private static let prefix = "key-"

    private let place: any SyncPlace
    private let passphrase: String
    private let cost: PassphraseKey.Cost
    private var keys: [Data: Data] = [:]
    private var writing: Key?
    /// So that callers at the same time derive a key once.
    private var opening: Task<Key, any Error>?

    init(_ place: any SyncPlace, _ passphrase: String, _ cost: PassphraseKey.Cost) {
        (self.place, self.passphrase, self.cost) = (place, passphrase, cost)
    }

    /// The key for new files.
    func forWriting() async throws -> Key {
        if let writing { return writing }
        let task = opening ?? Task { try await self.open() }
        opening = task
        do {
            let key = try await task.value
            (writing, opening) = (key, nil)
            return key
        } catch {
            if opening == task { opening = nil }
            throw error
        }
    }

    /// The key of that ID; `nil` if its salt is not in the place.
    func key(_ id: Data) async throws -> Data? {
        if let key = keys[id] { return key }
        let name = Self.prefix + Digests.hex(id)
        guard let salt = try await salt(name) else { return nil }
        if let key = try await derive(salt, id) { return key }
        // Other devices of this place may know another passphrase than this one.
        let hasOther = try await hasOtherKey()
        if !hasOther { throw Self.wrongPassphrase }
        throw SyncPlaceError(.altered, "A file was sealed with another passphrase. It is ignored.", path: name)
    }

    private func hasOtherKey() async throws -> Bool {
        if writing != nil || !keys.isEmpty { return true }
        do { _ = try await forWriting() } catch let error as SyncPlaceError where error.reason == .wrongPassphrase {
            return false
        }
        return true
    }

    private static let wrongPassphrase = SyncPlaceError(
        .wrongPassphrase, "The passphrase is not the one by which the place was sealed. Enter that one.")

    // MARK: - Opening

    private func open() async throws -> Key {
        if passphrase.isEmpty { throw SyncPlaceError(.wrongPassphrase, "The passphrase of a place must not be empty.") }
        var (hasSalt, isDamaged) = (false, false)
        for name in try await place.list(Self.folder).sorted() {
            guard let id = Self.id(name) else { continue }
            guard let salt = try await salt(name) else {
                isDamaged = true
                continue
            }
            hasSalt = true
            if let key = try await derive(salt, id) { return Key(id: id, bytes: key) }
        }
        if hasSalt { throw Self.wrongPassphrase }
        if isDamaged {
            throw SyncPlaceError(.unavailable, "The file of the place's key is damaged. It may become whole later.")
        }
        guard try await place.list(nil).allSatisfy({ $0 == Self.folder }) else {
            throw SyncPlaceError(
                .unavailable,
                "The place has files, but no key. Either the key has not arrived yet: try again later. Or the place is used without "
                    + "a passphrase: use an empty place.")
        }
        return try await create()
    }

    private func create() async throws -> Key {
        var random = SystemRandomNumberGenerator()
        let bytes = Data((0..<PlaceSalt.saltLength).map { _ in UInt8.random(in: 0...255, using: &random) })
        guard let (salt, key) = try await derive(bytes) else { throw Self.noMemory }
        let id = salt.id
        guard try await place.create(Self.prefix + Digests.hex(id), in: Self.folder, salt.contents) else {
            throw SyncPlaceError(.unavailable, "The file of the place's key cannot be created: its name exists.")
        }
        keys[id] = key
        return Key(id: id, bytes: key)
    }

    private static let noMemory = SyncPlaceError(
        .unavailable, "The key of the place cannot be derived from the passphrase: there is too little memory.")

    private static func id(_ name: String) -> Data? {
        guard name.hasPrefix(prefix), name.utf8.count == prefix.utf8.count + 16 else { return nil }
        var digits = Substring(name.dropFirst(prefix.count))
        var id = Data()
        while !digits.isEmpty {
            guard let byte = UInt8(digits.prefix(2), radix: 16) else { return nil }
            id.append(byte)
            digits = digits.dropFirst(2)
        }
        return prefix + Digests.hex(id) == name ? id : nil
    }

    /// A salt of the place; `nil` if it does not exist, or is damaged: its name is its checksum.
    private func salt(_ name: String) async throws -> PlaceSalt? {
        guard let data = try await place.read(name, in: Self.folder), let salt = PlaceSalt(contents: data),
            Self.prefix + Digests.hex(salt.id) == name
        else { return nil }
        return salt
    }

    /// Derives the key of a salt; `nil` if the passphrase is not the one of this salt.
    private func derive(_ salt: PlaceSalt, _ id: Data) async throws -> Data? {
        if let key = keys[id] { return key }
        let passphrase = passphrase
        let derived = try await BlockingWork.run {
            PassphraseKey.derive(
                passphrase: passphrase, salt: salt.salt, cost: salt.cost, count: 2 * SealedBytes.keyLength)
        }
        guard let derived else { throw Self.noMemory }
        guard salt.verifier == PlaceSalt.verifier(derived.suffix(SealedBytes.keyLength), salt.salt, salt.cost) else {
            return nil
        }
        keys[id] = Data(derived.prefix(SealedBytes.keyLength))
        return keys[id]
    }

    private func derive(_ bytes: Data) async throws -> (PlaceSalt, Data)? {
        let (passphrase, cost) = (passphrase, cost)
        let derived = try await BlockingWork.run {
            PassphraseKey.derive(passphrase: passphrase, salt: bytes, cost: cost, count: 2 * SealedBytes.keyLength)
        }
        guard let derived else { return nil }
        let verifier = PlaceSalt.verifier(derived.suffix(SealedBytes.keyLength), bytes, cost)
        return (PlaceSalt(salt: bytes, cost: cost, verifier: verifier), Data(derived.prefix(SealedBytes.keyLength)))
    }
}

/// The file from which a key is derived: the salt, the cost, and proof of the passphrase.
///
///     "OCDK" | version | cost (3) | salt (16) | verifier (32)
///
/// Its name contains the first bytes of its SHA-256, so that it cannot be exchanged for one with another cost
/// unnoticed.
struct PlaceSalt: Sendable {
    let salt: Data
    let cost: PassphraseKey.Cost
    /// Made from the second half of what is derived from the passphrase; the first half is the key.
    let verifier: Data

    static let saltLength = 16
    private static let magic = Data("OCDK".utf8)
    private static let version: UInt8 = 1

    init(salt: Data, cost: PassphraseKey.Cost, verifier: Data) {
        (self.salt, self.cost, self.verifier) = (salt, cost, verifier)
    }

    init?(contents: Data) {
        let bytes = [UInt8](contents)
        guard bytes.count == 56, bytes.starts(with: Self.magic), bytes[4] == Self.version else { return nil }
        cost = PassphraseKey.Cost(costBits: bytes[5], blockSize: bytes[6], parallelism: bytes[7])
        guard cost.isAcceptable else { return nil }
        (salt, verifier) = (Data(bytes[8..<24]), Data(bytes[24..<56]))
    }

    private static func head(_ salt: Data, _ cost: PassphraseKey.Cost) -> Data {
        magic + [version, cost.costBits, cost.blockSize, cost.parallelism] + salt
    }

    static func verifier(_ key: Data, _ salt: Data, _ cost: PassphraseKey.Cost) -> Data {
        Digests.hmac(head(salt, cost), key: Data(key))
    }

    var contents: Data { Self.head(salt, cost) + verifier }
    var id: Data { Data(Digests.sha256(contents).prefix(8)) }
}
