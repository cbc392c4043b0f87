import CoreDataDigests
import CoreDataToolkit
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Backups in a bucket of a service that speaks S3: Amazon's, MinIO, Ceph, Garage, R2 and others.
///
///     let destination = try S3Destination(
///         endpoint: URL(string: "https://s3.eu-central-1.amazonaws.com")!, bucket: "backups", prefix: "shop/",
///         region: "eu-central-1", credentials: S3Credentials(accessKey: key, secretKey: secret))
///     let made = try await Backup(stack, to: destination).create()
///
/// Requests are signed (Signature Version 4) with what they bring along, so that nobody on the way changes it; the service puts an
/// object there as a whole or not at all. An archive may have up to 5 GiB, which is what one upload takes. Give an `https` address
/// for anything that is not on your own machine.
public struct S3Destination: BackupDestination {
    /// How long requests may take.
    public var limits = RemoteLimits()

    private let address: RemoteAddress
    private let bucket: String
    private let prefix: String
    private let signature: S3Signature

    private static let largest = 5 << 30

    /// Keeps backups in a bucket that is there already.
    ///
    /// - Parameters:
    ///   - endpoint: the service, without the bucket.
    ///   - prefix: what the names of all backups begin with, such as `shop/`.
    /// - Throws: a ``ToolkitError`` for what is no address, no bucket's name or no prefix.
    public init(
        endpoint: URL, bucket: String, prefix: String = "", region: String = "us-east-1", credentials: S3Credentials
    ) throws {
        address = try RemoteAddress(endpoint, "The S3 service")
        let plain = bucket.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x2E
        }
        guard plain, (3...63).contains(bucket.utf8.count), !bucket.hasPrefix("."), !bucket.contains("..") else {
            throw ToolkitError("'\(bucket)' is no bucket's name: 3 to 63 lower-case letters, digits, '-' and '.' are.")
        }
        let steps = prefix.split(separator: "/", omittingEmptySubsequences: false).dropLast(
            prefix.hasSuffix("/") ? 1 : 0)
        guard !steps.contains(where: { $0 == "." || $0 == ".." }), prefix.isEmpty || !steps.contains(""),
            prefix.utf8.count <= 500
        else { throw ToolkitError("'\(prefix)' is no prefix: 'shop/' is one, with neither '//' nor '..' in it.") }
        self.bucket = bucket
        self.prefix = prefix
        signature = S3Signature(credentials: credentials, region: region)
    }

    private var place: String { "\(address.place)/\(bucket)/\(prefix)" }

    // MARK: The protocol

    /// The archives below the prefix, as many as there are; those in folders below it are not.
    public func list() async throws -> [BackupInfo] {
        var all: [BackupInfo] = []
        var next: String?
        repeat {
            var query = [("list-type", "2"), ("prefix", prefix), ("delimiter", "/")]
            if let next { query.append(("continuation-token", next)) }
            let answer = try await send("GET", nil, query: query)
            guard answer.isSuccess else { throw refusal("list its backups", answer) }
            let (rows, page) = try parts(of: answer)
            all += rows.compactMap(info)
            let token = page["NextContinuationToken"] ?? ""
            guard token != next || token.isEmpty else { throw refusal("list all of its backups", answer) }
            next = page["IsTruncated"] == "true" && !token.isEmpty ? token : nil
        } while next != nil
        return all
    }

    private func parts(
        of answer: RemoteConnection.Answer
    ) throws -> (rows: [AnswerElements.Texts], page: AnswerElements.Texts) {
        do {
            let rows = try AnswerElements.texts(below: "Contents", in: answer.body)
            let pages = try AnswerElements.texts(below: "ListBucketResult", in: answer.body)
            if let page = pages.first { return (rows, page) }
        } catch {}
        throw RemoteRefusal.notUnderstood(address.place)
    }

    private func info(_ texts: AnswerElements.Texts) -> BackupInfo? {
        guard let key = texts["Key"], key.hasPrefix(prefix), key.hasSuffix(".zip"),
            let size = texts["Size"].flatMap({ Int($0) })
        else { return nil }
        let name = String(key.dropFirst(prefix.count))
        guard !name.contains("/") else { return nil }
        return BackupInfo(name: name, size: size, date: RemoteDate.iso(texts["LastModified"]) ?? .distantPast)
    }

    /// Uploads an archive; the service compares it with its digest.
    public func store(_ file: URL, as name: String) async throws {
        let size = (try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber)?.intValue ?? 0
        guard size <= Self.largest else {
            throw ToolkitError("The backup has \(size) bytes, and \(address.place) takes 5 GiB in one upload.")
        }
        if try await isThere(name) { throw RemoteRefusal.exists(name, place) }
        let digest = Digests.hex(try DigestStream.sha256(of: file))
        // Whoever comes between is refused by services that know the condition; others do not look at it.
        let answer = try await send(
            "PUT", name, headers: ["content-type": "application/zip", "if-none-match": "*"], .file(file), digest: digest
        )
        if answer.status == 412 || answer.status == 409 { throw RemoteRefusal.exists(name, place) }
        guard answer.isSuccess else { throw refusal("take the backup", answer) }
    }

    /// Downloads an archive to a file.
    public func fetch(_ name: String, to file: URL) async throws {
        let request = try request("GET", name)
        let answer = try await connection.download(request, to: file)
        if answer.status == 404, code(answer) != "NoSuchBucket" { throw RemoteRefusal.missing(name, place) }
        guard answer.isSuccess else { throw refusal("give the backup", answer) }
    }

    /// Removes an archive.
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

    private var connection: RemoteConnection { RemoteConnection(place: address.place, limits: limits) }

    private func send(
        _ method: String, _ name: String?, query: [(String, String)] = [], headers: [String: String] = [:],
        _ content: RemoteConnection.Content = .nothing, digest: String? = nil
    ) async throws -> RemoteConnection.Answer {
        try await connection.send(
            try request(method, name, query: query, headers: headers, digest: digest), content)
    }

    private func request(
        _ method: String, _ name: String?, query: [(String, String)] = [], headers: [String: String] = [:],
        digest: String? = nil
    ) throws -> URLRequest {
        var path = "\(address.path)/\(bucket)"
        if let name { path += "/" + RemoteAddress.encoded(prefix + name, keeping: "/") }
        let query = query.map { (name: RemoteAddress.encoded($0.0), value: RemoteAddress.encoded($0.1)) }
        let text = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        var request = URLRequest(url: try address.url(path: path, query: text))
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let signed = signature.headers(
            for: S3Signature.Request(
                method: method, path: path, query: query, headers: headers.merging(["host": address.host]) { $1 },
                content: digest ?? Digests.hex(Digests.sha256(Data()))), at: Date())
        for (name, value) in signed { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private func code(_ answer: RemoteConnection.Answer) -> String? {
        (try? AnswerElements.texts(below: "Error", in: answer.body))?.first?["Code"]
    }

    private func refusal(_ doing: String, _ answer: RemoteConnection.Answer) -> ToolkitError {
        // Only the code: the message of some services repeats what was signed.
        RemoteRefusal.error(place, doing, answer, code(answer))
    }
}
