import CoreDataAccounts
import CoreDataSync
import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle

/// Answers requests for the files of a group, through which its devices synchronise.
///
///     GET    /groups/{group}/files                        the folders: one for each device
///     GET    /groups/{group}/files/{folder}               the files of a folder
///     GET    /groups/{group}/files/{folder}/{file}        a file
///     PUT    /groups/{group}/files/{folder}/{file}        creates it: 201, or 412 if it exists
///     DELETE /groups/{group}/files/{folder}/{file}
///     GET    /groups/{group}/changes?after={revision}     waits until the files change
package struct PlaceRoutes: Sendable {
    let accounts: Accounts
    let watcher: PlaceWatcher
    let limits: ServiceLimits
    let access: any AccessControl

    package init(accounts: Accounts, limits: ServiceLimits, access: any AccessControl) {
        (self.accounts, self.limits, self.access) = (accounts, limits, access)
        watcher = PlaceWatcher()
    }

    /// Answers a request; `nil` for a path that is none of these.
    package func respond(to request: Request, context: ServiceRequestContext) async throws -> Response? {
        let parts = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
            String.init)
        guard parts.count >= 3, parts[0] == "groups", ["files", "changes"].contains(parts[2]) else { return nil }
        guard let group = UUID(uuidString: parts[1]), parts.count <= (parts[2] == "files" ? 5 : 3) else {
            throw Problem.noPage
        }
        let names = Array(parts.dropFirst(3))
        guard names.allSatisfy(PlaceName.isValid) else {
            throw Problem(
                400, "name", "The name is not valid",
                "Names have at most \(PlaceName.maximumLength) ASCII letters, digits, '-', '_' and '.', and do not begin with a dot."
            )
        }
        let caller = try await access.caller(of: request, peer: context.peer)
        guard let account = caller.accessor.account else { throw AccountError.notSignedIn }
        var response: Response
        if parts[2] == "changes" {
            response = try await changes(group, account, request)
        } else if names.count < 2 {
            try Self.only([.get], request)
            response = .json(.array(try await listing(names.first, group, account).map { .string($0) }))
        } else {
            response = try await file(names[1], names[0], group, account, request)
        }
        for field in caller.renewal { response.headers.append(field) }
        return response
    }

    private func listing(_ folder: String?, _ group: UUID, _ account: UUID) async throws -> [String] {
        guard let folder else { return try await accounts.fileFolders(of: group, by: account) }
        return try await accounts.files(in: folder, of: group, by: account)
    }

    private func file(
        _ name: String, _ folder: String, _ group: UUID, _ account: UUID, _ request: Request
    ) async throws -> Response {
        switch request.method {
        case .put:
            let data = Data(
                try await BodyCollector.collect(
                    request, limit: accounts.settings.files.largestFile, within: limits.bodyTime, what: "A file"))
            guard !data.isEmpty else { throw Problem.body("A file is not empty.") }
            guard try await create(name, folder, group, account, data) else {
                throw Problem(412, "exists", "The file exists", "Files are never changed.")
            }
            watcher.announce(group)
            return Response(status: .created)
        case .delete:
            try await accounts.deleteFile(name, in: folder, of: group, by: account)
            watcher.announce(group)
            return Response(status: .noContent)
        default:
            try Self.only([.get, .put, .delete], request)
            guard let data = try await accounts.file(name, in: folder, of: group, by: account) else {
                throw Problem(404, "not-found", "There is no such file", "It was deleted, or it was never there.")
            }
            return .bytes(
                Array(data), type: "application/octet-stream", headers: [.contentDisposition: "attachment"])
        }
    }

    private func create(
        _ name: String, _ folder: String, _ group: UUID, _ account: UUID, _ data: Data
    ) async throws -> Bool {
        do {
            return try await accounts.createFile(name, in: folder, of: group, by: account, data)
        } catch AccountError.limitReached(let name, let maximum) {
            throw Problem(
                507, "full", "The group has no room left",
                "The limit of \(maximum) \(name) is reached. The operator of the service can raise it."
            )
        }
    }

    private func changes(_ group: UUID, _ account: UUID, _ request: Request) async throws -> Response {
        try Self.only([.get], request)
        let after = request.uri.queryParameters["after"].flatMap { Int64($0) } ?? -1
        let accounts = accounts
        let watcher = watcher
        // A service that is asked to stop answers at once; the device asks the next one.
        let revision = try await cancelWhenGracefulShutdown {
            try await watcher.revision(of: group, after: after) {
                // Asked again each time: an account that has left the group learns nothing more.
                try await accounts.fileRevision(of: group, by: account)
            }
        }
        return .json(.members([("revision", .integer(Int(revision)))]))
    }

    private static func only(_ allowed: [HTTPRequest.Method], _ request: Request) throws(Problem) {
        if allowed.contains(request.method) || request.method == .head { return }
        throw .method((["HEAD"] + allowed.map(\.rawValue)).joined(separator: ", "))
    }
}
