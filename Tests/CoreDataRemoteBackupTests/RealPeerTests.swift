import CoreDataToolkit
import Foundation
import RemoteServers
import TestSupport
import Testing

@testable import CoreDataRemoteBackup

/// The same against servers of others: moto and wsgidav, which the tests start, or those that the environment names:
///
///     S3_ENDPOINT=http://127.0.0.1:5000 S3_BUCKET=backups swift test --filter RealPeerTests
///     WEBDAV_FOLDER=http://127.0.0.1:8080/backups WEBDAV_USER=ann WEBDAV_PASSWORD=… swift test --filter RealPeerTests
///
/// The bucket, and the folder above the one that is named, have to be there.
@Suite(.timeLimit(.minutes(Sanitizer.minutes(5)))) struct RealPeerTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test(.enabled(if: ContinuousIntegration.isOn, "\(ContinuousIntegration.isOff)"))
    func serversAreInstalled() { #expect(RealServer.isInstalled, "\(RealServer.missing)") }

    @Test(.enabled(if: environment["S3_ENDPOINT"] != nil || RealServer.isInstalled, "\(RealServer.missing)"))
    func anS3Service() async throws {
        let names = Self.environment
        let named = names["S3_ENDPOINT"].flatMap { URL(string: $0) }
        let endpoint = try named ?? RealServer.shared(.s3).url
        let bucket = named == nil ? RealServer.bucket : names["S3_BUCKET"] ?? "backups"
        func destination(secret: String) throws -> S3Destination {
            try S3Destination(
                endpoint: endpoint, bucket: bucket, prefix: "open core/data/",
                region: names["S3_REGION"] ?? "us-east-1",
                credentials: S3Credentials(accessKey: names["S3_ACCESS_KEY"] ?? "test", secretKey: secret))
        }
        try await story(try destination(secret: names["S3_SECRET_KEY"] ?? "test"))
        // More than a page: our service lists 20 at once.
        try await manyAreListed(
            try destination(secret: names["S3_SECRET_KEY"] ?? "test"), count: named == nil ? 45 : 1005)
        guard names["S3_CHECKS_SIGNATURES"] != nil else { return }
        await #expect(throws: ToolkitError.self) { try await destination(secret: "wrong").list() }
    }

    /// More than a service lists at once.
    private func manyAreListed(_ destination: S3Destination, count: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("peer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.zip")
        try Data([1]).write(to: file)
        let names = (0..<count).map { "many-\($0).zip" }
        for name in names { try await destination.store(file, as: name) }
        let listed = try await destination.list().map(\.name)
        for name in names { try await destination.delete(name) }
        #expect(Set(listed) == Set(names))
    }

    @Test(.enabled(if: environment["WEBDAV_FOLDER"] != nil || RealServer.isInstalled, "\(RealServer.missing)"))
    func aWebDAVServer() async throws {
        let names = Self.environment
        let named = names["WEBDAV_FOLDER"].flatMap { URL(string: $0) }
        let folder = try named ?? RealServer.shared(.webDAV).url.appendingPathComponent("Backups")
        let user = named == nil ? RealServer.user : names["WEBDAV_USER"]
        let password = named == nil ? RealServer.password : names["WEBDAV_PASSWORD"] ?? ""
        let credentials = user.map { WebDAVCredentials(user: $0, password: password) }
        try await story(try WebDAVDestination(folder: folder, credentials: credentials))
    }

    private func story(_ destination: any BackupDestination) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("peer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, back) = (folder.appendingPathComponent("a.zip"), folder.appendingPathComponent("b.zip"))
        try Data((0..<6_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }).write(to: file)
        let name = "story-\(UUID().uuidString).zip"
        try await destination.store(file, as: name)
        let listed = try #require(try await destination.list().first { $0.name == name })
        #expect(listed.size == 6_000_000)
        #expect(abs(listed.date.timeIntervalSinceNow) < 600)
        let again = await #expect(throws: ToolkitError.self) { try await destination.store(file, as: name) }
        #expect(again?.message.contains("There is a backup") == true)
        try await destination.fetch(name, to: back)
        #expect(try Data(contentsOf: back) == Data(contentsOf: file))
        try await destination.delete(name)
        #expect(try await destination.list().allSatisfy { $0.name != name })
        await #expect(throws: ToolkitError.self) { try await destination.delete(name) }
        await #expect(throws: ToolkitError.self) {
            try await destination.fetch(name, to: folder.appendingPathComponent("c.zip"))
        }
    }
}
