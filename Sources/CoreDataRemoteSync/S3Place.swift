import CoreDataDigests
import CoreDataRemote
import CoreDataSync
import Foundation
import Synchronization

/// A bucket of an S3-compatible service as a place: Amazon, MinIO, Ceph, Garage, R2 and others.
///
///     let place = try S3Place(
///         endpoint: URL(string: "https://s3.eu-central-1.amazonaws.com")!, bucket: "sync", prefix: "groceries/",
///         region: "eu-central-1", credentials: S3Credentials(accessKey: key, secretKey: secret))
///     let sync = try Sync(container, to: place, device: name)
///
/// The bucket must exist. The keys must permit listing it, and reading, writing and deleting its objects. Requests are
/// signed (Signature Version 4) including their content. Use an `https` address for any service that is not on your own
/// machine.
///
/// A file is created with the condition `If-None-Match: *`, which makes the service refuse a second file of that name.
/// The first creation finds out whether the service observes the condition. If it does not, the place looks for the
/// file before it creates it, and reads it back afterwards: two devices that create one name within milliseconds may
/// then both succeed. That happens only to devices that share an ID, for example after a store was copied.
///
/// A place does not observe changes; `Sync` lists it at its interval. Requests that fail because of a broken
/// connection, or with 408, 425, 429, 500, 502, 503 or 504, are sent up to four times. Wrap the place in a
/// ``CoreDataSync/SealedPlace`` to hide the contents from the service.
public struct S3Place: SyncPlace {
    private let bucket: S3Bucket
    private let connection: RetryingConnection
    private let conditions = Conditions()

    /// Makes a place in an existing bucket.
    ///
    /// - Parameters:
    ///   - endpoint: the service, without the bucket.
    ///   - prefix: the prefix of all keys, such as `groceries/`; a slash is added if it has none at its end.
    ///   - limits: the timeouts of requests.
    /// - Throws: ``CoreDataSync/SyncPlaceError`` for an invalid address, bucket name or prefix.
    public init(
        endpoint: URL, bucket: String, prefix: String = "", region: String = "us-east-1", credentials: S3Credentials,
        limits: RemoteLimits = RemoteLimits()
    ) throws {
        try self.init(
            endpoint: endpoint, bucket: bucket, prefix: prefix, region: region, credentials: credentials,
            limits: limits, retries: RetryPolicy())
    }

    init(
        endpoint: URL, bucket: String, prefix: String, region: String, credentials: S3Credentials,
        limits: RemoteLimits, retries: RetryPolicy
    ) throws {
        let prefix = prefix.isEmpty || prefix.hasSuffix("/") ? prefix : prefix + "/"
        do {
            self.bucket = try S3Bucket(
                endpoint: endpoint, bucket: bucket, prefix: prefix, region: region, credentials: credentials)
        } catch let failure as RemoteFailure { throw SyncPlaceError(.unavailable, failure.message) }
        connection = RetryingConnection(self.bucket.address.place, limits, retries)
    }

    // MARK: Place

    /// The names of the folders, or of the files in one folder: of any number, in pages of 1,000.
    public func list(_ folder: String?) async throws -> [String] {
        try PlaceName.check(folder)
        let trouble = trouble(.listed, folder)
        let listing = try await trouble.converting {
            try await bucket.list(folder.map { $0 + "/" } ?? "") { query in
                let answer = try await send("GET", nil, query: query).answer
                guard answer.isSuccess else { throw trouble.error(answer, code: bucket.code(answer)) }
                return answer
            }
        }
        let names = folder == nil ? listing.folders : listing.objects.map(\.name)
        return Set(names.filter(PlaceName.isValid)).sorted()
    }

    /// The contents of a file; `nil` also for an empty object, which no device writes.
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
            if conditions.support != .observed, try await exists(file, folder, trouble) { return false }
            if conditions.support == .ignored { return try await createUnconditionally(file, folder, data, trouble) }
            return try await createConditionally(file, folder, data, trouble)
        }
    }

    /// Deletes a file.
    public func delete(_ file: String, in folder: String) async throws {
        try PlaceName.check(file, folder)
        let trouble = trouble(.deleted, folder, file)
        let answer = try await trouble.converting { try await send("DELETE", "\(folder)/\(file)").answer }
        let code = bucket.code(answer)
        guard answer.isSuccess || (answer.status == 404 && code != "NoSuchBucket") else {
            throw trouble.error(answer, code: code)
        }
    }

    // MARK: Creating

    /// Whether the service observes `If-None-Match: *`.
    private final class Conditions: Sendable {
        enum Support: Sendable { case unknown, observed, ignored }

        /// Guards what is known so far.
        private let state = Mutex(Support.unknown)

        var support: Support {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    /// The largest file that is sent a second time to find out whether the service observes the condition.
    private static let largestProbe = 1 << 20

    private func createConditionally(
        _ file: String, _ folder: String, _ data: Data, _ trouble: RemoteTrouble
    ) async throws -> Bool {
        let reply = try await put(file, folder, data, isConditional: true)
        let answer = reply.answer
        switch answer.status {
        case 412:
            conditions.support = .observed
            // An earlier attempt may have created it, whose answer was lost.
            return reply.isRepeated ? try await contents(file, folder, trouble) == data : false
        case 400, 501:
            let code = bucket.code(answer)
            guard answer.status == 501 || ["NotImplemented", "InvalidArgument"].contains(code ?? "") else {
                throw trouble.error(answer, code: code)
            }
            conditions.support = .ignored
            return try await createUnconditionally(file, folder, data, trouble)
        case 409:
            // Another request for the same name was under way.
            if try await exists(file, folder, trouble) { return try await contents(file, folder, trouble) == data }
            throw trouble.error(answer, code: bucket.code(answer))
        default:
            guard answer.isSuccess else { throw trouble.error(answer, code: bucket.code(answer)) }
            if conditions.support == .observed { return true }
            if data.count <= Self.largestProbe {
                let second = try await put(file, folder, data, isConditional: true).answer
                if second.status == 412 {
                    conditions.support = .observed
                    return true
                }
                if second.isSuccess { conditions.support = .ignored }
            }
            return try await isOurs(file, folder, data, trouble)
        }
    }

    private func createUnconditionally(
        _ file: String, _ folder: String, _ data: Data, _ trouble: RemoteTrouble
    ) async throws -> Bool {
        let answer = try await put(file, folder, data, isConditional: false).answer
        guard answer.isSuccess else { throw trouble.error(answer, code: bucket.code(answer)) }
        return try await isOurs(file, folder, data, trouble)
    }

    private func isOurs(
        _ file: String, _ folder: String, _ data: Data, _ trouble: RemoteTrouble
    ) async throws -> Bool {
        // A service that shows objects late has no other one either.
        try await contents(file, folder, trouble).map { $0 == data } ?? true
    }

    private func exists(_ file: String, _ folder: String, _ trouble: RemoteTrouble) async throws -> Bool {
        let answer = try await send("HEAD", "\(folder)/\(file)").answer
        if answer.status == 404 { return false }
        guard answer.isSuccess else { throw trouble.error(answer) }
        return true
    }

    private func put(
        _ file: String, _ folder: String, _ data: Data, isConditional: Bool
    ) async throws -> RetryingConnection.Reply {
        var headers = ["content-type": "application/octet-stream"]
        if isConditional { headers["if-none-match"] = "*" }
        return try await send(
            "PUT", "\(folder)/\(file)", headers: headers, .data(data), digest: Digests.hex(Digests.sha256(data)))
    }

    // MARK: Requests

    private func contents(_ file: String, _ folder: String, _ trouble: RemoteTrouble) async throws -> Data? {
        let answer = try await send("GET", "\(folder)/\(file)", limit: maximumPlaceFileSize).answer
        let code = answer.isSuccess ? nil : bucket.code(answer)
        if answer.status == 404, code != "NoSuchBucket" { return nil }
        guard answer.isSuccess else { throw trouble.error(answer, code: code) }
        return answer.body.isEmpty ? nil : answer.body
    }

    private func send(
        _ method: String, _ name: String?, query: [(String, String)] = [], headers: [String: String] = [:],
        _ content: RemoteConnection.Content = .nothing, digest: String? = nil,
        limit: Int = RemoteConnection.usualLimit
    ) async throws -> RetryingConnection.Reply {
        try await connection.send(content, limit: limit) {
            try bucket.request(method, name, query: query, headers: headers, digest: digest)
        }
    }

    private func trouble(_ action: RemoteTrouble.Action, _ names: String?...) -> RemoteTrouble {
        RemoteTrouble(place: bucket.place, action: action, path: names.compactMap { $0 }.joined(separator: "/"))
    }
}
