import CoreDataToolkit
import Foundation
import TestSupport
import Testing

@testable import CoreDataRemoteBackup

/// The same against servers of others, where the environment names some:
///
///     moto_server -p 5000 &
///     S3_ENDPOINT=http://127.0.0.1:5000 S3_BUCKET=backups swift test --filter RealPeerTests
///     WEBDAV_FOLDER=http://127.0.0.1:8080/backups WEBDAV_USER=ann WEBDAV_PASSWORD=… swift test --filter RealPeerTests
///
/// The bucket, and the folder above the one that is named, have to be there.
@Suite(.timeLimit(.minutes(Sanitizer.minutes(5)))) struct RealPeerTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test(.enabled(if: environment["S3_ENDPOINT"] != nil, "S3_ENDPOINT names no service"))
    func anS3Service() async throws {
        let names = Self.environment
        let endpoint = try #require(URL(string: names["S3_ENDPOINT"] ?? ""))
        func destination(secret: String) throws -> S3Destination {
            try S3Destination(
                endpoint: endpoint, bucket: names["S3_BUCKET"] ?? "backups", prefix: "open core/data/",
                region: names["S3_REGION"] ?? "us-east-1",
                credentials: S3Credentials(accessKey: names["S3_ACCESS_KEY"] ?? "test", secretKey: secret))
        }
        try await story(try destination(secret: names["S3_SECRET_KEY"] ?? "test"))
        try await manyAreListed(try destination(secret: names["S3_SECRET_KEY"] ?? "test"))
        guard names["S3_CHECKS_SIGNATURES"] != nil else { return }
        await #expect(throws: ToolkitError.self) { try await destination(secret: "wrong").list() }
    }

    /// More than a service lists at once.
    private func manyAreListed(_ destination: S3Destination) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("peer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.zip")
        try Data([1]).write(to: file)
        let names = (0..<1005).map { "many-\($0).zip" }
        for name in names { try await destination.store(file, as: name) }
        let listed = try await destination.list().map(\.name)
        for name in names { try await destination.delete(name) }
        #expect(Set(listed) == Set(names))
    }

    @Test(.enabled(if: environment["WEBDAV_FOLDER"] != nil, "WEBDAV_FOLDER names no folder"))
    func aWebDAVServer() async throws {
        let names = Self.environment
        let folder = try #require(URL(string: names["WEBDAV_FOLDER"] ?? ""))
        let credentials = names["WEBDAV_USER"].map {
            WebDAVCredentials(user: $0, password: names["WEBDAV_PASSWORD"] ?? "")
        }
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
