import CoreDataAccounts
import CoreDataSync
import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle

/// Answers requests for the files through which an account's devices synchronise with the served store.
///
///     GET    /sync/files                        the folders: one for each device, and the service's
///     GET    /sync/files/{folder}               the files of a folder
///     GET    /sync/files/{folder}/{file}        a file
///     PUT    /sync/files/{folder}/{file}        creates it: 201, or 412 if it exists
///     DELETE /sync/files/{folder}/{file}
///     GET    /sync/changes?after={revision}     waits until the files change
///
/// An account sees its own files only. A folder is a device's ID: a sealed place has other folders, and the service
/// could not read it.
package struct HubRoutes: Sendable {
    private let hub: SyncHub
    private let accounts: Accounts
    private let watcher: PlaceWatcher
    private let limits: ServiceLimits
    private let access: any AccessControl

    package init(
        hub: SyncHub, accounts: Accounts, watcher: PlaceWatcher, limits: ServiceLimits, access: any AccessControl
    ) {
        (self.hub, self.accounts, self.watcher) = (hub, accounts, watcher)
        (self.limits, self.access) = (limits, access)
    }

    /// Answers a request; `nil` for a path that is none of these.
    package func respond(to request: Request, context: ServiceRequestContext) async throws -> Response? {
        let parts = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
            String.init)
        guard parts.count >= 2, parts[0] == "sync", ["files", "changes"].contains(parts[1]) else { return nil }
        guard parts.count <= (parts[1] == "files" ? 4 : 2) else { throw Problem.noPage }
        let names = Array(parts.dropFirst(2))
        guard names.allSatisfy(PlaceName.isValid) else { throw Self.name("Names have ASCII letters, digits and '-'.") }
        if request.method == .put, let folder = names.first,
            UUID(uuidString: folder)?.uuidString.lowercased() != folder
        {
            throw Self.name(
                "A folder is the ID of a device. A sealed place cannot synchronise with the service, which reads the files: use a group's place."
            )
        }
        let caller = try await access.caller(of: request, peer: context.peer)
        guard let account = caller.accessor.account else { throw AccountError.notSignedIn }
        var response: Response
        if parts[1] == "changes" {
            response = try await changes(account, request)
        } else if names.count < 2 {
            try Self.only([.get], request)
            response = .json(.array(try await listing(names.first, account).map { .string($0) }))
        } else {
            response = try await file(names[1], names[0], account, request)
        }
        for field in caller.renewal { response.headers.append(field) }
        return response
    }

    private func listing(_ folder: String?, _ account: UUID) async throws -> [String] {
        if let folder { return try await accounts.deviceFiles(in: folder, of: account) }
        // A device that has sent its changes finds the answers.
        await hub.bringUpToDate(account)
        return try await accounts.deviceFolders(of: account)
    }

    private func file(
        _ name: String, _ folder: String, _ account: UUID, _ request: Request
    ) async throws -> Response {
        switch request.method {
        case .put:
            let prefixes = ["hello-", "segment-", "snapshot-", "blob-", "model-"]
            guard prefixes.contains(where: name.hasPrefix) else {
                throw Self.name("A file begins with \(prefixes.joined(separator: ", ")).")
            }
            let data = Data(
                try await BodyCollector.collect(
                    request, limit: accounts.settings.files.largestFile, within: limits.bodyTime, what: "A file"))
            guard !data.isEmpty else { throw Problem.body("A file is not empty.") }
            guard try await create(name, folder, account, data) else {
                throw Problem(412, "exists", "The file exists", "Files are never changed.")
            }
            watcher.announce(account)
            return Response(status: .created)
        case .delete:
            try await accounts.deleteDeviceFile(name, in: folder, of: account, isOfService: false)
            watcher.announce(account)
            return Response(status: .noContent)
        default:
            try Self.only([.get, .put, .delete], request)
            guard let data = try await accounts.deviceFile(name, in: folder, of: account) else {
                throw Problem(404, "not-found", "There is no such file", "It was deleted, or it was never there.")
            }
            return .bytes(
                Array(data), type: "application/octet-stream", headers: [.contentDisposition: "attachment"])
        }
    }

    private func create(_ name: String, _ folder: String, _ account: UUID, _ data: Data) async throws -> Bool {
        do {
            return try await accounts.createDeviceFile(name, in: folder, of: account, isOfService: false, data)
        } catch AccountError.limitReached(let name, let maximum) {
            throw Problem(
                507, "full", "The account has no room left",
                "The limit of \(maximum) \(name) is reached. The operator of the service can raise it.")
        }
    }

    private func changes(_ account: UUID, _ request: Request) async throws -> Response {
        try Self.only([.get], request)
        let after = request.uri.queryParameters["after"].flatMap { Int64($0) } ?? -1
        let (accounts, watcher, hub) = (accounts, watcher, hub)
        await hub.noteWaiting(account)
        let revision = try await cancelWhenGracefulShutdown {
            try await watcher.revision(of: account, after: after) {
                try await accounts.deviceRevision(of: account)
            }
        }
        return .json(.members([("revision", .integer(Int(revision)))]))
    }

    private static func name(_ words: String) -> Problem { Problem(400, "name", "The name is not valid", words) }

    private static func only(_ allowed: [HTTPRequest.Method], _ request: Request) throws(Problem) {
        if allowed.contains(request.method) || request.method == .head { return }
        throw .method((["HEAD"] + allowed.map(\.rawValue)).joined(separator: ", "))
    }
}
