import CoreDataDigests
import Foundation

/// Another place whose files only those can read who know a passphrase.
///
///     let place = SealedPlace(FolderPlace(url), passphrase: "correct horse battery staple")
///     try await place.unlock()     // optional: tells a wrong passphrase at once
///
/// Each file's contents are encrypted and authenticated with AES-256-GCM, together with the names of file and folder.
/// The key is derived from the passphrase with scrypt and a random salt, which is a file in the folder `sealed` of the
/// place; the first device creates it. A person who has the place but not the passphrase sees the names, sizes and
/// times of files, and can delete or withhold them, but can neither read nor change nor exchange them unnoticed. A lost
/// passphrase cannot be replaced. A place is sealed from its first file on: one that has unsealed files is refused.
///
/// Errors tell apart ``SyncPlaceError/Reason/wrongPassphrase``, ``SyncPlaceError/Reason/altered`` files, and
/// ``SyncPlaceError/Reason/damaged`` ones, which may become whole later.
public struct SealedPlace: SyncPlace {
    /// The folder in which a sealed place has its keys: whether there is one tells whether a place is sealed.
    package static var keyFolder: String { PlaceKeys.folder }

    private let place: any SyncPlace
    private let keys: PlaceKeys

    /// Makes a place of another one. The key is derived when it is first needed, which takes about half a second and 64
    /// MiB of memory.
    public init(_ place: any SyncPlace, passphrase: String) {
        self.init(place, passphrase: passphrase, cost: .usual)
    }

    package init(_ place: any SyncPlace, passphrase: String, cost: PassphraseKey.Cost) {
        self.place = place
        keys = PlaceKeys(place, passphrase, cost)
    }

    /// Derives the key, and creates the salt if the place is empty.
    ///
    /// - Throws: ``SyncPlaceError`` with ``SyncPlaceError/Reason/wrongPassphrase``, or
    ///   ``SyncPlaceError/Reason/unavailable`` if the salt has not arrived yet.
    public func unlock() async throws { _ = try await keys.forWriting() }

    /// Whether a place is sealed, so that a program can ask for the passphrase before it begins.
    ///
    /// - Parameter place: the place itself, not a `SealedPlace` around it.
    public static func isSealed(_ place: any SyncPlace) async throws -> Bool {
        try await place.list(nil).contains(PlaceKeys.folder)
    }

    /// The names of the folders, or of the files in one folder.
    public func list(_ folder: String?) async throws -> [String] {
        try check(folder)
        return try await place.list(folder).filter { folder != nil || $0 != PlaceKeys.folder }
    }

    /// The contents of a file, decrypted.
    public func read(_ file: String, in folder: String) async throws -> Data? {
        try check(folder, file)
        guard let data = try await place.read(file, in: folder) else { return nil }
        let path = "\(folder)/\(file)"
        let sealed = try SealedFile(data, path: path)
        guard let key = try await keys.key(sealed.keyID) else {
            throw SyncPlaceError(
                .damaged, "'\(path)' cannot be read: the file of its key has not arrived in the place yet.", path: path)
        }
        return try sealed.open(key, path: path)
    }

    /// Creates a file with encrypted contents.
    public func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        try check(folder, file)
        let key = try await keys.forWriting()
        return try await place.create(file, in: folder, try SealedFile.seal(data, key, path: "\(folder)/\(file)"))
    }

    /// Deletes a file.
    public func delete(_ file: String, in folder: String) async throws {
        try check(folder, file)
        try await place.delete(file, in: folder)
    }

    /// The changes of the other place.
    public func changes() -> AsyncStream<Void> { place.changes() }

    private func check(_ folder: String?, _ file: String? = nil) throws {
        try PlaceName.check(folder, file)
        if folder == PlaceKeys.folder {
            throw SyncPlaceError(.invalidName, "The folder '\(PlaceKeys.folder)' is for the keys of a sealed place.")
        }
    }
}

/// The form of a sealed file.
///
///     "OCDX" | version | key's ID (8) | length (8, little endian) | sealed bytes | SHA-256 of all before
///
/// The checksum says whether the file is whole. A person who changes a file can make it anew, but not the tag in the
/// sealed bytes.
private struct SealedFile {
    let keyID: Data
    private let sealed: Data

    private static let magic = Data("OCDX".utf8)
    private static let version: UInt8 = 1
    private static let headLength = 21
    private static let digestLength = 32

    init(_ data: Data, path: String) throws {
        func damaged(_ what: String) -> SyncPlaceError {
            SyncPlaceError(.damaged, "'\(path)' is damaged: \(what). It may become whole later.", path: path)
        }
        let start = data.prefix(Self.magic.count)
        // Some programs reserve a file's space with zeros before they fill it.
        if start.allSatisfy({ $0 == 0 }) { throw damaged("it begins with zeros") }
        guard Self.magic.starts(with: start) else {
            throw SyncPlaceError(.altered, "'\(path)' is not sealed. It is ignored.", path: path)
        }
        guard data.count >= Self.headLength + SealedBytes.overhead + Self.digestLength else {
            throw damaged("it has only \(data.count) bytes")
        }
        let bytes = Data(data)
        let length = bytes[13..<21].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let rest = UInt64(bytes.count - Self.headLength - Self.digestLength)
        guard length == rest else { throw damaged("\(length) bytes were written, \(rest) are there") }
        guard Digests.sha256(bytes.dropLast(Self.digestLength)) == bytes.suffix(Self.digestLength) else {
            throw damaged("its bytes do not match its checksum")
        }
        guard bytes[4] == Self.version else {
            throw SyncPlaceError(
                .altered,
                "'\(path)' was sealed by version \(bytes[4]); this is version \(Self.version). Update this program.",
                path: path)
        }
        keyID = Data(bytes[5..<13])
        sealed = Data(bytes[Self.headLength...].dropLast(Self.digestLength))
    }

    func open(_ key: Data, path: String) throws -> Data {
        guard let data = SealedBytes.open(sealed, key: key, associated: Self.associated(keyID, path)) else {
            throw SyncPlaceError(
                .altered,
                "'\(path)' was changed or renamed by someone who does not know the passphrase. It is ignored.",
                path: path)
        }
        return data
    }

    static func seal(_ data: Data, _ key: PlaceKeys.Key, path: String) throws -> Data {
        guard let sealed = SealedBytes.seal(data, key: key.bytes, associated: associated(key.id, path)) else {
            throw SyncPlaceError(.tooLarge, "'\(path)' cannot be sealed; it has \(data.count) bytes.", path: path)
        }
        var result = magic
        result.append(version)
        result.append(key.id)
        withUnsafeBytes(of: UInt64(sealed.count).littleEndian) { result.append(contentsOf: $0) }
        result.append(sealed)
        result.append(Digests.sha256(result))
        return result
    }

    /// Names have no slash, so a path is that of one file.
    private static func associated(_ keyID: Data, _ path: String) -> Data {
        magic + [version] + keyID + Data(path.utf8)
    }
}
