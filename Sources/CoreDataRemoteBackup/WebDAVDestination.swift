import CoreDataRemote
import CoreDataToolkit
import Foundation

/// Stores backups in a folder of a WebDAV server: Nextcloud, ownCloud, Apache, nginx and others.
///
///     let destination = try WebDAVDestination(
///         folder: URL(string: "https://cloud.example.com/remote.php/dav/files/ann/Backups")!,
///         credentials: WebDAVCredentials(user: "ann", password: password))
///     let made = try await Backup(stack, to: destination).create()
///
/// The folder is created with the first backup; its parent folder must exist. An archive is uploaded under a hidden
/// name and renamed when it is complete. Use an `https` address for any server that is not on your own machine: every
/// request contains the password.
public struct WebDAVDestination: BackupDestination {
    /// The timeouts of requests.
    public var limits = RemoteLimits()

    private let folder: WebDAVFolder

    /// Makes a destination for the folder.
    ///
    /// - Throws: a ``ToolkitError`` for an invalid address.
    public init(folder: URL, credentials: WebDAVCredentials?) throws {
        self.folder = try RemoteRefusal.converted { try WebDAVFolder(folder, credentials: credentials) }
    }

    // MARK: Backup destination

    /// Returns the archives in the folder; none if the folder does not exist.
    public func list() async throws -> [BackupInfo] {
        let members = try await RemoteRefusal.converting { () -> [WebDAVFolder.Member] in
            let (request, content) = try folder.listing([])
            let answer = try await connection.send(request, content)
            if answer.status == 404 { return [] }
            guard answer.status == 207 else { throw refusal("list its backups", answer) }
            return try folder.members(of: answer, in: [])
        }
        return members.compactMap { member in
            guard !member.isFolder, member.name.hasSuffix(".zip"), !member.name.hasPrefix("."), let size = member.size
            else { return nil }
            return BackupInfo(name: member.name, size: size, date: member.date ?? .distantPast)
        }
    }

    /// Uploads an archive, first under a hidden name.
    public func store(_ file: URL, as name: String) async throws {
        try await makeFolder()
        if try await isThere(name) { throw RemoteRefusal.exists(name, place) }
        let partial = ".\(name).\(UUID().uuidString).part"
        do {
            let put = try await send("PUT", partial, headers: ["Content-Type": "application/zip"], .file(file))
            guard put.isSuccess else { throw refusal("take the backup", put) }
            let target = try folder.url([name]).absoluteString
            let move = try await send("MOVE", partial, headers: ["Destination": target, "Overwrite": "F"])
            if move.status == 412 { throw RemoteRefusal.exists(name, place) }
            guard move.isSuccess else { throw refusal("give the backup its name", move) }
        } catch {
            // A separate task, because cancelling the current task would cancel this request too.
            _ = await Task { [self] in try? await send("DELETE", partial) }.value
            throw error
        }
    }

    private func makeFolder() async throws {
        let answer = try await send("MKCOL", nil)
        // 405: the folder exists already.
        guard answer.isSuccess || answer.status == 405 else { throw refusal("make the folder", answer) }
    }

    /// Downloads an archive to a file.
    public func fetch(_ name: String, to file: URL) async throws {
        let answer = try await RemoteRefusal.converting {
            try await connection.download(try folder.request("GET", [name]), to: file)
        }
        if answer.status == 404 { throw RemoteRefusal.missing(name, place) }
        guard answer.isSuccess else { throw refusal("give the backup", answer) }
    }

    /// Deletes an archive.
    public func delete(_ name: String) async throws {
        let answer = try await send("DELETE", name)
        if answer.status == 404 { throw RemoteRefusal.missing(name, place) }
        guard answer.isSuccess else { throw refusal("delete the backup", answer) }
    }

    private func isThere(_ name: String) async throws -> Bool {
        let answer = try await send("HEAD", name)
        if answer.status == 404 { return false }
        guard answer.isSuccess else { throw refusal("tell of its backups", answer) }
        return true
    }

    // MARK: Requests

    private var place: String { folder.address.place }

    private var connection: RemoteConnection { RemoteConnection(place: place, limits: limits) }

    private func send(
        _ method: String, _ name: String?, headers: [String: String] = [:],
        _ content: RemoteConnection.Content = .nothing
    ) async throws -> RemoteConnection.Answer {
        try await RemoteRefusal.converting {
            try await connection.send(
                try folder.request(method, name.map { [$0] } ?? [], isFolder: name == nil, headers: headers), content)
        }
    }

    private func refusal(_ doing: String, _ answer: RemoteConnection.Answer) -> ToolkitError {
        let said = (try? AnswerElements.texts(below: "error", in: answer.body))?.first?["message"]
        return RemoteRefusal.error(place, doing, answer, said)
    }
}
