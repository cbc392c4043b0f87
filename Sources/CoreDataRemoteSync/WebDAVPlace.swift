import CoreDataRemote
import CoreDataSync
import Foundation
import Synchronization

/// A folder of a WebDAV server as a place: Nextcloud, ownCloud, Apache, nginx and others.
///
///     let place = try WebDAVPlace(
///         folder: URL(string: "https://cloud.example.com/remote.php/dav/files/ann/Groceries")!,
///         credentials: WebDAVCredentials(user: "ann", password: password))
///     let sync = try Sync(container, to: place, device: name)
///
/// The folder is created with the first file; the folder above it must exist. Authentication is Basic or with a token;
/// Digest is not supported. Use an `https` address for any server that is not on your own machine: every request
/// contains the password.
///
/// A file is sent under a hidden name and renamed when it is complete (`MOVE` with `Overwrite: F`), so no device reads
/// a part of it. Files of up to 8 MiB are read back after that: a server that checks for an existing file and renames
/// in two steps could replace a file that another device created at the same moment. That happens only to devices that
/// share an ID, for example after a store was copied. Hidden files of killed programs are deleted when they are a day
/// old.
///
/// A place does not observe changes; `Sync` lists it at its interval. Requests that fail because of a broken
/// connection, or with 408, 425, 429, 500, 502, 503 or 504, are sent up to four times. Wrap the place in a
/// ``CoreDataSync/SealedPlace`` to hide the contents from the server.
public struct WebDAVPlace: SyncPlace {
    private let root: WebDAVFolder
    private let connection: RetryingConnection
    private let known = KnownFolders()

    /// The largest file that is read back after it was renamed.
    private static let largestReadBack = 8 << 20
    /// The number of leftovers that one listing deletes.
    private static let mostLeftovers = 8

    /// Makes a place of a folder, which need not exist yet.
    ///
    /// - Parameters:
    ///   - folder: the folder's address.
    ///   - credentials: `nil` for a server that asks for none.
    ///   - limits: the timeouts of requests.
    /// - Throws: ``CoreDataSync/SyncPlaceError`` for an invalid address.
    public init(folder: URL, credentials: WebDAVCredentials?, limits: RemoteLimits = RemoteLimits()) throws {
        try self.init(folder: folder, credentials: credentials, limits: limits, retries: RetryPolicy())
    }

    init(folder: URL, credentials: WebDAVCredentials?, limits: RemoteLimits, retries: RetryPolicy) throws {
        do { root = try WebDAVFolder(folder, credentials: credentials) } catch let failure as RemoteFailure {
            throw SyncPlaceError(.unavailable, failure.message)
        }
        connection = RetryingConnection(root.address.place, limits, retries)
    }

    // MARK: Place

    /// The names of the folders, or of the files in one folder.
    public func list(_ folder: String?) async throws -> [String] {
        try PlaceName.check(folder)
        let trouble = trouble(.listed, folder)
        let names = folder.map { [$0] } ?? []
        return try await trouble.converting {
            let answer = try await listing(names)
            if answer.isMissing { return [] }
            guard answer.status == 207 else { throw trouble.error(answer) }
            let members = try root.members(of: answer, in: names)
            if let folder { await deleteLeftovers(members, folder, RemoteDate.http(answer.headers["date"])) }
            return Set(members.filter { $0.isFolder == (folder == nil) && PlaceName.isValid($0.name) }.map(\.name))
                .sorted()
        }
    }

    /// The contents of a file; `nil` also for an empty one, which no device writes.
    public func read(_ file: String, in folder: String) async throws -> Data? {
        try PlaceName.check(file, folder)
        let trouble = trouble(.read, folder, file)
        return try await trouble.converting { try await contents(file, folder, trouble) }
    }

    /// Creates a file with all its contents, or not at all.
    public func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        try PlaceName.check(file, folder, creating: data)
        let trouble = trouble(.created, folder, file)
        return try await trouble.converting {
            if try await exists(file, folder, trouble) { return false }
            let temporary = TemporaryName.random(for: file)
            do {
                try await put(temporary, folder, data, trouble)
                return try await move(temporary, file, folder, data, trouble)
            } catch {
                await deleteTemporary(temporary, folder)
                throw error
            }
        }
    }

    /// Deletes a file.
    public func delete(_ file: String, in folder: String) async throws {
        try PlaceName.check(file, folder)
        let trouble = trouble(.deleted, folder, file)
        let answer = try await trouble.converting { try await send("DELETE", [folder, file]).answer }
        guard answer.isSuccess || answer.isMissing else { throw trouble.error(answer) }
    }

    // MARK: Creating

    private func put(_ file: String, _ folder: String, _ data: Data, _ trouble: RemoteTrouble) async throws {
        let headers = ["Content-Type": "application/octet-stream"]
        if !known.contains(folder) { try await makeFolders(folder, trouble) }
        var answer = try await send("PUT", [folder, file], headers: headers, .data(data)).answer
        if answer.status == 404 || answer.status == 409 {
            // Another client deleted the folder.
            try await makeFolders(folder, trouble)
            answer = try await send("PUT", [folder, file], headers: headers, .data(data)).answer
        }
        guard answer.isSuccess else { throw trouble.error(answer) }
    }

    private func move(
        _ temporary: String, _ file: String, _ folder: String, _ data: Data, _ trouble: RemoteTrouble
    ) async throws -> Bool {
        let target = try root.url([folder, file]).absoluteString
        let reply = try await send(
            "MOVE", [folder, temporary], headers: ["Destination": target, "Overwrite": "F"])
        let answer = reply.answer
        if answer.isSuccess {
            guard data.count <= Self.largestReadBack else { return true }
            // A server that shows files late has no other one either.
            return try await contents(file, folder, trouble).map { $0 == data } ?? true
        }
        let isTaken = answer.status == 412
        if isTaken { await deleteTemporary(temporary, folder) }
        // An earlier attempt may have renamed it, whose answer was lost.
        if reply.isRepeated, isTaken || answer.status == 404 || answer.status == 409 {
            let found = try await contents(file, folder, trouble)
            if found == data { return true }
            if found != nil { return false }
        }
        if isTaken { return false }
        throw trouble.error(answer)
    }

    private func makeFolders(_ folder: String, _ trouble: RemoteTrouble) async throws {
        for names in [[], [folder]] {
            let answer = try await listing(names, depth: 0)
            guard answer.isMissing else {
                guard answer.status == 207 else { throw trouble.error(answer) }
                continue
            }
            let made = try await send("MKCOL", names, isFolder: true).answer
            // 405: another device made it meanwhile.
            guard made.isSuccess || made.status == 405 else { throw trouble.error(made) }
        }
        known.insert(folder)
    }

    private func exists(_ file: String, _ folder: String, _ trouble: RemoteTrouble) async throws -> Bool {
        let answer = try await send("HEAD", [folder, file]).answer
        if [404, 409, 410].contains(answer.status) { return false }
        guard answer.isSuccess else { throw trouble.error(answer) }
        return true
    }

    /// The folders that exist as far as this process knows.
    private final class KnownFolders: Sendable {
        /// Guards the names.
        private let names = Mutex<Set<String>>([])

        func contains(_ name: String) -> Bool { names.withLock { $0.contains(name) } }
        func insert(_ name: String) { names.withLock { _ = $0.insert(name) } }
    }

    // MARK: Leftovers

    /// In a task of its own: a caller that was cancelled must not leave the file.
    private func deleteTemporary(_ file: String, _ folder: String) async {
        await Task { try? await connection.sendOnce(try root.request("DELETE", [folder, file])) }.value
    }

    /// Deletes temporary files that killed programs left a day ago, by the server's clock.
    private func deleteLeftovers(_ members: [WebDAVFolder.Member], _ folder: String, _ now: Date?) async {
        guard let now else { return }
        let old = members.filter { member in
            guard !member.isFolder, TemporaryName.matches(member.name), let date = member.date else { return false }
            return date < now - 86_400
        }
        for member in old.prefix(Self.mostLeftovers) {
            try? await connection.sendOnce(try root.request("DELETE", [folder, member.name]))
        }
    }

    // MARK: Requests

    private func listing(_ names: [String], depth: Int = 1) async throws -> RemoteConnection.Answer {
        let (request, content) = try root.listing(names, depth: depth)
        return try await connection.send(content) { request }.answer
    }

    private func contents(_ file: String, _ folder: String, _ trouble: RemoteTrouble) async throws -> Data? {
        let answer = try await send("GET", [folder, file], limit: maximumPlaceFileSize).answer
        if answer.isMissing { return nil }
        guard answer.isSuccess else { throw trouble.error(answer) }
        return answer.body.isEmpty ? nil : answer.body
    }

    private func send(
        _ method: String, _ names: [String], isFolder: Bool = false, headers: [String: String] = [:],
        _ content: RemoteConnection.Content = .nothing, limit: Int = RemoteConnection.usualLimit
    ) async throws -> RetryingConnection.Reply {
        try await connection.send(content, limit: limit) {
            try root.request(method, names, isFolder: isFolder, headers: headers)
        }
    }

    private func trouble(_ action: RemoteTrouble.Action, _ names: String?...) -> RemoteTrouble {
        RemoteTrouble(
            place: root.address.place, action: action, path: names.compactMap { $0 }.joined(separator: "/"))
    }
}

extension RemoteConnection.Answer {
    /// Whether the server says that there is no such file or folder.
    fileprivate var isMissing: Bool { status == 404 || status == 410 }
}
