import CoreDataDigests
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Makes signed requests for the objects of a bucket below a prefix, and reads its listings.
package struct S3Bucket: Sendable {
    package let address: RemoteAddress
    package let bucket: String
    package let prefix: String
    private let signature: S3Signature

    /// An object in a listing.
    package struct Object: Sendable {
        /// The key without the prefix.
        package let name: String
        package let size: Int?
        package let date: Date?
    }

    /// The objects and folders directly below the prefix and a folder.
    package struct Listing: Sendable {
        package var objects: [Object] = []
        /// The names of folders, without the prefix and the slash.
        package var folders: [String] = []
    }

    /// The number of pages of 1,000 names after which a listing fails: a service that never ends would fill the memory.
    private static let mostPages = 5_000

    /// - Throws: a ``RemoteFailure`` for an invalid address, bucket name or prefix.
    package init(
        endpoint: URL, bucket: String, prefix: String, region: String, credentials: S3Credentials
    ) throws {
        address = try RemoteAddress(endpoint, "The S3 service")
        let plain = bucket.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x2E
        }
        guard plain, (3...63).contains(bucket.utf8.count), !bucket.hasPrefix("."), !bucket.contains("..") else {
            throw RemoteFailure(
                .address, "'\(bucket)' is no bucket's name: 3 to 63 lower-case letters, digits, '-' and '.' are.")
        }
        let steps = prefix.split(separator: "/", omittingEmptySubsequences: false).dropLast(
            prefix.hasSuffix("/") ? 1 : 0)
        guard !steps.contains(where: { $0 == "." || $0 == ".." }), prefix.isEmpty || !steps.contains(""),
            prefix.utf8.count <= 500
        else {
            throw RemoteFailure(
                .address, "'\(prefix)' is no prefix: 'shop/' is one, with neither '//' nor '..' in it.")
        }
        self.bucket = bucket
        self.prefix = prefix
        signature = S3Signature(credentials: credentials, region: region)
    }

    /// The service, the bucket and the prefix, for messages.
    package var place: String { "\(address.place)/\(bucket)/\(prefix)" }

    // MARK: Requests

    /// Makes a request for an object, or for the bucket.
    ///
    /// - Parameters:
    ///   - name: the key without the prefix.
    ///   - digest: the SHA-256 of the content, as hexadecimal digits.
    package func request(
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

    /// The service's code in an error response, such as `NoSuchBucket`. Its message is not used: some repeat the signed
    /// request.
    package func code(_ answer: RemoteConnection.Answer) -> String? {
        let code = (try? AnswerElements.texts(below: "Error", in: answer.body))?.first?["Code"]
        return code.map { String($0.prefix(100)) }
    }

    // MARK: Listings

    /// Lists the objects and folders directly below the prefix and a folder, page by page.
    ///
    /// - Parameters:
    ///   - folder: empty, or the name of a folder below the prefix with a slash at its end.
    ///   - send: sends a request, and throws unless the answer is a success.
    package func list(
        _ folder: String = "", send: ([(String, String)]) async throws -> RemoteConnection.Answer
    ) async throws -> Listing {
        let start = prefix + folder
        var listing = Listing()
        var next: String?
        var pages = 0
        repeat {
            var query = [("list-type", "2"), ("prefix", start), ("delimiter", "/")]
            if let next { query.append(("continuation-token", next)) }
            let page = try page(of: try await send(query), start, &listing)
            let token = page["NextContinuationToken"] ?? ""
            pages += 1
            guard token != next || token.isEmpty, pages < Self.mostPages else {
                throw RemoteFailure(.answer, "\(place): the service's list of objects does not end.")
            }
            next = page["IsTruncated"] == "true" && !token.isEmpty ? token : nil
        } while next != nil
        return listing
    }

    private func page(
        of answer: RemoteConnection.Answer, _ start: String, _ listing: inout Listing
    ) throws -> AnswerElements.Texts {
        do {
            for row in try AnswerElements.texts(below: "Contents", in: answer.body) {
                guard let key = row["Key"], key.hasPrefix(start) else { continue }
                let name = String(key.dropFirst(start.count))
                guard !name.contains("/") else { continue }
                listing.objects.append(
                    Object(name: name, size: row["Size"].flatMap { Int($0) }, date: RemoteDate.iso(row["LastModified"]))
                )
            }
            for row in try AnswerElements.texts(below: "CommonPrefixes", in: answer.body) {
                guard let key = row["Prefix"], key.hasPrefix(start), key.hasSuffix("/") else { continue }
                listing.folders.append(String(key.dropFirst(start.count).dropLast()))
            }
            if let page = try AnswerElements.texts(below: "ListBucketResult", in: answer.body).first { return page }
        } catch {}
        throw RemoteFailure(.answer, "\(address.place) answers with a list that cannot be read; see to the address.")
    }
}
