import CoreDataDigests
import CoreDataRemote
import CoreDataToolkit
import Foundation

/// Stores backups in a bucket of an S3-compatible service: Amazon, MinIO, Ceph, Garage, R2 and others.
///
///     let destination = try S3Destination(
///         endpoint: URL(string: "https://s3.eu-central-1.amazonaws.com")!, bucket: "backups", prefix: "shop/",
///         region: "eu-central-1", credentials: S3Credentials(accessKey: key, secretKey: secret))
///     let made = try await Backup(stack, to: destination).create()
///
/// Requests are signed (Signature Version 4) including their content, so that it cannot be changed in transit. The
/// service stores an object completely or not at all. An archive may have up to 5 GiB, the limit of a single upload.
/// Use an `https` address for any service that is not on your own machine.
public struct S3Destination: BackupDestination {
    /// The timeouts of requests.
    public var limits = RemoteLimits()

    private let bucket: S3Bucket

    private static let largest = 5 << 30

    /// Makes a destination for an existing bucket.
    ///
    /// - Parameters:
    ///   - endpoint: the service, without the bucket.
    ///   - prefix: the prefix of all backups' names, such as `shop/`.
    /// - Throws: a ``ToolkitError`` for an invalid address, bucket name or prefix.
    public init(
        endpoint: URL, bucket: String, prefix: String = "", region: String = "us-east-1", credentials: S3Credentials
    ) throws {
        self.bucket = try RemoteRefusal.converted {
            try S3Bucket(endpoint: endpoint, bucket: bucket, prefix: prefix, region: region, credentials: credentials)
        }
    }

    private var place: String { bucket.place }

    // MARK: Backup destination

    /// Returns all archives directly below the prefix, not those in subfolders.
    public func list() async throws -> [BackupInfo] {
        let listing = try await RemoteRefusal.converting {
            try await bucket.list { query in
                let answer = try await send("GET", nil, query: query)
                guard answer.isSuccess else { throw refusal("list its backups", answer) }
                return answer
            }
        }
        return listing.objects.compactMap { object in
            guard object.name.hasSuffix(".zip"), let size = object.size else { return nil }
            return BackupInfo(name: object.name, size: size, date: object.date ?? .distantPast)
        }
    }

    /// Uploads an archive; the service verifies its digest.
    public func store(_ file: URL, as name: String) async throws {
        let size = (try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber)?.intValue ?? 0
        guard size <= Self.largest else {
            throw ToolkitError("The backup has \(size) bytes, and \(bucket.address.place) takes 5 GiB in one upload.")
        }
        if try await isThere(name) { throw RemoteRefusal.exists(name, place) }
        let digest = Digests.hex(try DigestStream.sha256(of: file))
        // Services that support this condition refuse a concurrent upload with the same name; others ignore the
        // condition.
        let answer = try await send(
            "PUT", name, headers: ["content-type": "application/zip", "if-none-match": "*"], .file(file), digest: digest
        )
        if answer.status == 412 || answer.status == 409 { throw RemoteRefusal.exists(name, place) }
        guard answer.isSuccess else { throw refusal("take the backup", answer) }
    }

    /// Downloads an archive to a file.
    public func fetch(_ name: String, to file: URL) async throws {
        let answer = try await RemoteRefusal.converting {
            try await connection.download(try bucket.request("GET", name), to: file)
        }
        if answer.status == 404, bucket.code(answer) != "NoSuchBucket" { throw RemoteRefusal.missing(name, place) }
        guard answer.isSuccess else { throw refusal("give the backup", answer) }
    }

    /// Deletes an archive.
    public func delete(_ name: String) async throws {
        guard try await isThere(name) else { throw RemoteRefusal.missing(name, place) }
        let answer = try await send("DELETE", name)
        guard answer.isSuccess else { throw refusal("delete the backup", answer) }
    }

    private func isThere(_ name: String) async throws -> Bool {
        let answer = try await send("HEAD", name)
        if answer.status == 404 { return false }
        guard answer.isSuccess else { throw refusal("tell of its backups", answer) }
        return true
    }

    // MARK: Requests

    private var connection: RemoteConnection { RemoteConnection(place: bucket.address.place, limits: limits) }

    private func send(
        _ method: String, _ name: String?, query: [(String, String)] = [], headers: [String: String] = [:],
        _ content: RemoteConnection.Content = .nothing, digest: String? = nil
    ) async throws -> RemoteConnection.Answer {
        try await RemoteRefusal.converting {
            try await connection.send(
                try bucket.request(method, name, query: query, headers: headers, digest: digest), content)
        }
    }

    private func refusal(_ doing: String, _ answer: RemoteConnection.Answer) -> ToolkitError {
        // Only the code: some services' messages repeat the signed request.
        RemoteRefusal.error(place, doing, answer, bucket.code(answer))
    }
}
