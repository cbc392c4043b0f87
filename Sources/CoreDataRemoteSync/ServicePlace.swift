import CoreDataRemote
import CoreDataSync
import Foundation

/// A service as a place: devices synchronise through `coredata-service`, with the objects that it serves, or with the
/// devices of a group.
///
///     let session = try await ServiceSession.signIn(
///         to: URL(string: "https://groceries.example.com")!, name: "ann", password: password, device: "Kitchen")
///     let sync = try Sync(container, to: ServicePlace(session: session), device: "Kitchen")
///
/// With the served objects, the store gets what the session's account may read, and the service takes what the account
/// may change. What it does not take is replaced by the service's value, and is in the journal (``Sync/conflicts()``)
/// with the reason `refused`. Objects that the account may read no more leave the store. The service must have been
/// started with `--sync`, and reads the files: the place cannot be sealed.
///
///     let home = try await session.person().memberships[0]
///     let place = ServicePlace(session: session, group: home.groupID)
///
/// With a group, the service does not open the files, and permissions of the model do not apply. Members of the group
/// read all of its files, owners and editors create them, and each account deletes only its own. The device of a viewer
/// receives; what it changes itself waits. Wrap the place in a ``CoreDataSync/SealedPlace`` to hide the contents from
/// the people who run the service.
///
/// The service tells the place of changes while the place is observed, so that other devices see a change within a
/// second or two. Requests that fail for a moment are sent up to four times.
public struct ServicePlace: SyncPlace {
    private let session: ServiceSession
    /// The address of the files, without a slash at its end.
    private let address: String

    /// Makes a place of the objects that the service serves.
    public init(session: ServiceSession) { (self.session, address) = (session, "/sync") }

    /// Makes a place of a group of which the session's account is a member.
    public init(session: ServiceSession, group: UUID) {
        (self.session, address) = (session, "/groups/\(group.uuidString)")
    }

    /// The names of the folders, or of the files in one folder.
    public func list(_ folder: String?) async throws -> [String] {
        try PlaceName.check(folder)
        let trouble = trouble(.listed, folder)
        return try await trouble.converting {
            let answer = try await session.send("GET", path(folder)).answer
            guard answer.isSuccess else { throw error(trouble, answer) }
            guard let names = try? JSONDecoder().decode([String].self, from: answer.body) else {
                throw SyncPlaceError(
                    .unavailable, "\(session.place) answers with a list that cannot be read. See to the address.")
            }
            return names.filter(PlaceName.isValid)
        }
    }

    /// The contents of a file.
    public func read(_ file: String, in folder: String) async throws -> Data? {
        try PlaceName.check(file, folder)
        let trouble = trouble(.read, folder, file)
        return try await trouble.converting { try await contents(file, folder, trouble) }
    }

    /// Creates a file. The service stores it completely or not at all.
    public func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        try PlaceName.check(file, folder, creating: data)
        let trouble = trouble(.created, folder, file)
        return try await trouble.converting {
            let reply = try await session.send(
                "PUT", path(folder, file), headers: ["Content-Type": "application/octet-stream", "If-None-Match": "*"],
                .data(data))
            if reply.answer.status == 412 {
                // An earlier attempt may have created it, whose answer was lost.
                return reply.isRepeated ? try await contents(file, folder, trouble) == data : false
            }
            guard reply.answer.isSuccess else { throw error(trouble, reply.answer) }
            return true
        }
    }

    /// Deletes a file.
    public func delete(_ file: String, in folder: String) async throws {
        try PlaceName.check(file, folder)
        let trouble = trouble(.deleted, folder, file)
        let answer = try await trouble.converting { try await session.send("DELETE", path(folder, file)).answer }
        guard answer.isSuccess else { throw error(trouble, answer) }
    }

    /// An element after each change that the service tells of. While the service cannot be reached, the stream tries
    /// again after a second, later after a minute.
    public func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            var known: Int64?
            var pause = 1.0
            while !Task.isCancelled {
                if let revision = await revision(after: known) {
                    if known != nil, revision != known { continuation.yield() }
                    (known, pause) = (revision, 1)
                } else {
                    try? await Task.sleep(for: .seconds(pause))
                    pause = min(60, pause * 2)
                }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// The service answers when the revision is another one, or after half a minute; `nil` after a failure.
    private func revision(after known: Int64?) async -> Int64? {
        struct Revision: Decodable { let revision: Int64 }
        let path = "\(address)/changes?after=\(known ?? -1)"
        guard let answer = try? await session.send("GET", path).answer, answer.isSuccess else { return nil }
        return (try? JSONDecoder().decode(Revision.self, from: answer.body))?.revision
    }

    // MARK: Requests

    private func contents(_ file: String, _ folder: String, _ trouble: RemoteTrouble) async throws -> Data? {
        let answer = try await session.send("GET", path(folder, file), limit: maximumPlaceFileSize).answer
        if answer.status == 404, ServiceProblem(answer)?.type == "urn:coredata:problem:not-found" { return nil }
        guard answer.isSuccess else { throw error(trouble, answer) }
        return answer.body.isEmpty ? nil : answer.body
    }

    private func path(_ names: String?...) -> String {
        names.reduce("\(address)/files") { path, name in name.map { "\(path)/\($0)" } ?? path }
    }

    /// The service's own words, where it has some.
    private func error(_ trouble: RemoteTrouble, _ answer: RemoteConnection.Answer) -> SyncPlaceError {
        guard let problem = ServiceProblem(answer) else { return trouble.error(answer) }
        if answer.status == 404, address == "/sync" {
            return SyncPlaceError(
                .unavailable,
                "\(session.place) does not synchronise its objects with devices. It must be started with --sync, or the place must name a group."
            )
        }
        let reason: SyncPlaceError.Reason =
            switch answer.status {
            // A group of others looks as if it did not exist.
            case 401, 403, 404: .noPermission
            case 413: .tooLarge
            case 507: .full
            default: .unavailable
            }
        let subject = trouble.path.isEmpty ? "The place" : "'\(trouble.path)'"
        return SyncPlaceError(
            reason, "\(subject) cannot be \(trouble.action.rawValue): \(problem.title). \(problem.detail ?? "")",
            path: trouble.path.isEmpty ? nil : trouble.path)
    }

    private func trouble(_ action: RemoteTrouble.Action, _ names: String?...) -> RemoteTrouble {
        RemoteTrouble(place: session.place, action: action, path: names.compactMap { $0 }.joined(separator: "/"))
    }
}
