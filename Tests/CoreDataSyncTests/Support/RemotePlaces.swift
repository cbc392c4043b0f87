import CoreDataSync
import Foundation
import RemoteServers

@testable import CoreDataRemoteSync

/// A place on a server in this process that speaks WebDAV or S3.
final class StandInPlace: Sendable {
    enum Kind: CaseIterable, Sendable { case webDAV, s3 }

    let kind: Kind
    let server: LoopbackServer
    let webDAV = WebDAVStandIn()
    let s3 = S3StandIn()
    let place: any SyncPlace

    init(_ kind: Kind) throws {
        let (webDAV, s3) = (webDAV, s3)
        self.kind = kind
        server = try LoopbackServer { kind == .s3 ? s3.answer($0) : webDAV.answer($0) }
        place = try Self.place(kind, server.url)
    }

    /// A place on the server, for another device or with other credentials.
    static func place(
        _ kind: Kind, _ url: URL, secret: String? = nil, limits: RemoteLimits = RemoteLimits(),
        retries: RetryPolicy = RetryPolicy(attempts: 4, delay: 0.002, longestDelay: 20)
    ) throws -> any SyncPlace {
        switch kind {
        case .s3:
            return try S3Place(
                endpoint: url, bucket: S3StandIn.bucket, prefix: "my shop", region: "us-east-1",
                credentials: S3Credentials(accessKey: S3StandIn.accessKey, secretKey: secret ?? S3StandIn.secretKey),
                limits: limits, retries: retries)
        case .webDAV:
            guard let folder = URL(string: WebDAVStandIn.folder, relativeTo: url) else {
                throw CocoaError(.fileNoSuchFile)
            }
            return try WebDAVPlace(
                folder: folder, credentials: WebDAVCredentials(user: "ann", password: secret ?? WebDAVStandIn.password),
                limits: limits, retries: retries)
        }
    }

    var faults: StandInFaults { kind == .s3 ? s3.faults : webDAV.faults }

    /// The files, by folder and name.
    var files: [String: Data] {
        if kind == .webDAV { return webDAV.files }
        return Dictionary(uniqueKeysWithValues: s3.objects.map { ($0.key.replacing("my shop/", with: ""), $0.value) })
    }

    func set(_ path: String, _ data: Data?) {
        if kind == .s3 { s3.set("my shop/\(path)", data) } else { webDAV.set(path, data) }
    }

    func end() { server.end() }
}

/// Places on servers of others, each in a folder or prefix of its own.
enum RealPlace {
    static func make(
        _ kind: RealServer.Kind, on server: RealServer? = nil, name: String = UUID().uuidString,
        limits: RemoteLimits = RemoteLimits()
    ) throws -> any SyncPlace {
        let server = try server ?? RealServer.shared(kind)
        let retries = RetryPolicy(attempts: 3, delay: 0.02, longestDelay: 20)
        switch kind {
        case .webDAV:
            return try WebDAVPlace(
                folder: try server.url.appendingPathComponent(name),
                credentials: WebDAVCredentials(user: RealServer.user, password: RealServer.password), limits: limits,
                retries: retries)
        case .s3:
            return try S3Place(
                endpoint: try server.url, bucket: RealServer.bucket, prefix: name, region: "us-east-1",
                credentials: S3Credentials(accessKey: "test", secretKey: "test"), limits: limits, retries: retries)
        }
    }
}
