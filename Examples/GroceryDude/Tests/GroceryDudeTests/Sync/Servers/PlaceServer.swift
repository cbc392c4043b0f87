import Foundation
import LivePagesTesting
import Testing

/// A server for places in the process of the tests, and what one types to use it.
struct PlaceServer: Sendable {
    enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case webDAV = "webdav"
        case s3

        var testDescription: String { rawValue }
        var noun: String { self == .s3 ? "bucket" : "folder" }
        /// The field that a wrong password or key is about.
        var secretField: String { self == .s3 ? "secret-key" : "password" }
    }

    let kind: Kind
    let webDAV = WebDAVStandIn()
    let s3 = S3StandIn { request in
        let credential = "Credential=\(S3StandIn.accessKey)/"
        return request.headers["authorization"]?.contains(credential) == true ? nil : "InvalidAccessKeyId"
    }
    private let server: LoopbackServer

    init(_ kind: Kind) throws {
        self.kind = kind
        let (webDAV, s3) = (webDAV, s3)
        server = try LoopbackServer { kind == .s3 ? s3.answer($0) : webDAV.answer($0) }
    }

    /// The address that pages show.
    var address: String {
        kind == .s3 ? "http://127.0.0.1:\(server.port)" : "http://127.0.0.1:\(server.port)\(WebDAVStandIn.folder)"
    }

    /// The fields of the form; its keys or password are right.
    var fields: [String: String] { place.merging(secrets) { $1 } }

    var place: [String: String] {
        switch kind {
        case .webDAV: ["kind": "webdav", "address": address]
        case .s3:
            ["kind": "s3", "endpoint": address, "region": "", "bucket": S3StandIn.bucket, "prefix": "groceries"]
        }
    }

    var secrets: [String: String] {
        switch kind {
        case .webDAV: ["user": "ann", "password": WebDAVStandIn.password]
        case .s3: ["access-key": S3StandIn.accessKey, "secret-key": S3StandIn.secretKey]
        }
    }

    /// A name and password, or keys, that the server refuses.
    var wrong: [String: String] {
        switch kind {
        case .webDAV: ["user": "ann", "password": "wrong-secret"]
        case .s3: ["access-key": "WRONG", "secret-key": "wrong-secret"]
        }
    }

    /// The secrets, which no page, setting or description may contain.
    var hidden: [String] {
        let encoded = WebDAVStandIn.authorization.split(separator: " ").last.map(String.init) ?? ""
        return ["wrong-secret", WebDAVStandIn.password, encoded, S3StandIn.secretKey]
    }

    /// The files of devices, by path.
    var files: [String: Data] { kind == .s3 ? s3.objects : webDAV.files }

    /// Has the server refuse everything, as after its password was changed; or answer again.
    func refuse(_ isRefusing: Bool) {
        webDAV.fail("PROPFIND", isRefusing ? .init(status: 401) : nil)
        let error = Data("<Error><Code>InvalidAccessKeyId</Code></Error>".utf8)
        s3.fail(isRefusing ? .init(status: 403, body: error) : nil)
    }
}
