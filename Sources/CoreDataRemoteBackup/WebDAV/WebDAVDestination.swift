import CoreDataToolkit
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Backups in a folder of a WebDAV server: Nextcloud, ownCloud, Apache, nginx and others.
///
///     let destination = try WebDAVDestination(
///         folder: URL(string: "https://cloud.example.com/remote.php/dav/files/ann/Backups")!,
///         credentials: WebDAVCredentials(user: "ann", password: password))
///     let made = try await Backup(stack, to: destination).create()
///
/// The folder is made when the first backup comes; the one above it has to be there. An archive is uploaded under a hidden name and
/// gets its own when it is whole. Give an `https` address for anything that is not on your own machine: the password goes with
/// every request.
public struct WebDAVDestination: BackupDestination {
    /// How long requests may take.
    public var limits = RemoteLimits()

    private let address: RemoteAddress
    private let credentials: WebDAVCredentials?

    /// Keeps backups in that folder.
    ///
    /// - Throws: a ``ToolkitError`` for what is no address of a folder.
    public init(folder: URL, credentials: WebDAVCredentials?) throws {
        address = try RemoteAddress(folder, "The WebDAV server")
        self.credentials = credentials
    }

    // MARK: The protocol

    /// The archives of the folder; none where it is not there yet.
    public func list() async throws -> [BackupInfo] {
        let body = """
            <?xml version="1.0" encoding="utf-8"?>
            <propfind xmlns="DAV:"><prop><getcontentlength/><getlastmodified/><resourcetype/></prop></propfind>
            """
        let answer = try await send(
            "PROPFIND", nil, headers: ["Depth": "1", "Content-Type": "application/xml; charset=utf-8"],
            .data(Data(body.utf8)))
        if answer.status == 404 { return [] }
        guard answer.status == 207 else { throw refusal("list its backups", answer) }
        guard let all = try? AnswerElements.texts(below: "response", in: answer.body), !all.isEmpty else {
            throw RemoteRefusal.notUnderstood(address.place)
        }
        return all.compactMap(info)
    }

    private func info(_ texts: AnswerElements.Texts) -> BackupInfo? {
        guard texts["collection"] == nil, let href = texts["href"],
            let last = href.split(separator: "/").last?.removingPercentEncoding, last.hasSuffix(".zip"),
            !last.hasPrefix("."), !last.contains("/"), let size = texts["getcontentlength"].flatMap({ Int($0) })
        else { return nil }
        return BackupInfo(name: last, size: size, date: RemoteDate.http(texts["getlastmodified"]) ?? .distantPast)
    }

    /// Uploads an archive under a hidden name first.
    public func store(_ file: URL, as name: String) async throws {
        try await makeFolder()
        if try await isThere(name) { throw RemoteRefusal.exists(name, address.place) }
        let partial = ".\(name).\(UUID().uuidString).part"
        do {
            let put = try await send("PUT", partial, headers: ["Content-Type": "application/zip"], .file(file))
            guard put.isSuccess else { throw refusal("take the backup", put) }
            let target = try address.url(path: path(name)).absoluteString
            let move = try await send("MOVE", partial, headers: ["Destination": target, "Overwrite": "F"])
            if move.status == 412 { throw RemoteRefusal.exists(name, address.place) }
            guard move.isSuccess else { throw refusal("give the backup its name", move) }
        } catch {
            // Also where the task was cancelled, which would cancel this request as well.
            _ = await Task { [self] in try? await send("DELETE", partial) }.value
            throw error
        }
    }

    private func makeFolder() async throws {
        let answer = try await send("MKCOL", nil)
        // 405: it is there.
        guard answer.isSuccess || answer.status == 405 else { throw refusal("make the folder", answer) }
    }

    /// Downloads an archive to a file.
    public func fetch(_ name: String, to file: URL) async throws {
        let answer = try await connection.download(try request("GET", name), to: file)
        if answer.status == 404 { throw RemoteRefusal.missing(name, address.place) }
        guard answer.isSuccess else { throw refusal("give the backup", answer) }
    }

    /// Removes an archive.
    public func delete(_ name: String) async throws {
        let answer = try await send("DELETE", name)
        if answer.status == 404 { throw RemoteRefusal.missing(name, address.place) }
        guard answer.isSuccess else { throw refusal("delete the backup", answer) }
    }

    private func isThere(_ name: String) async throws -> Bool {
        let answer = try await send("HEAD", name)
        if answer.status == 404 { return false }
        guard answer.isSuccess else { throw refusal("tell of its backups", answer) }
        return true
    }

    // MARK: Requests

    private var connection: RemoteConnection { RemoteConnection(place: address.place, limits: limits) }

    private func path(_ name: String?) -> String {
        "\(address.path)/" + (name.map { RemoteAddress.encoded($0) } ?? "")
    }

    private func send(
        _ method: String, _ name: String?, headers: [String: String] = [:],
        _ content: RemoteConnection.Content = .nothing
    ) async throws -> RemoteConnection.Answer {
        try await connection.send(try request(method, name, headers: headers), content)
    }

    private func request(_ method: String, _ name: String?, headers: [String: String] = [:]) throws -> URLRequest {
        var request = URLRequest(url: try address.url(path: path(name)))
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let credentials { request.setValue(credentials.header, forHTTPHeaderField: "Authorization") }
        return request
    }

    private func refusal(_ doing: String, _ answer: RemoteConnection.Answer) -> ToolkitError {
        let said = (try? AnswerElements.texts(below: "error", in: answer.body))?.first?["message"]
        return RemoteRefusal.error(address.place, doing, answer, said)
    }
}
