import CoreData
import Foundation
import PostgreSQLServer
import RemoteServers
import TestSupport
import Testing

@testable import CoreDataRemoteSync
@testable import CoreDataSync

/// Places and whole stories on servers of others: wsgidav for WebDAV, moto for S3.
@Suite(.timeLimit(.minutes(Sanitizer.minutes(3)))) struct RealServerTests {
    static let kinds: [RealServer.Kind] = [.webDAV, .s3]

    @Test(.enabled(if: ContinuousIntegration.isOn, "\(ContinuousIntegration.isOff)"))
    func serversAreInstalled() { #expect(RealServer.isInstalled, "\(RealServer.missing)") }

    @Test(.enabled(if: RealServer.isInstalled, "\(RealServer.missing)"), arguments: kinds)
    func largeFilesAndManyFilesArrive(kind: RealServer.Kind) async throws {
        let place = try RealPlace.make(kind)
        let bytes = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
        #expect(try await place.create("large", in: "a", bytes))
        #expect(try await place.read("large", in: "a") == bytes)
        #expect(try await !place.create("large", in: "a", Data([1])))
        let names = Set((0..<25).map { "f-\($0)" })
        for name in names { #expect(try await place.create(name, in: "b", Data([1]))) }
        // The S3 service lists 20 names at once.
        #expect(Set(try await place.list("b")) == names)
        #expect(try await place.list(nil) == ["a", "b"])
    }

    /// Foundation's networking on Linux leaves a request with the wrong password waiting for ever, if the server says
    /// what it wants.
    @Test(.enabled(if: RealServer.isInstalled, "\(RealServer.missing)"))
    func aWrongPasswordIsAnErrorAtOnce() async throws {
        let place = try WebDAVPlace(
            folder: try RealServer.shared(.webDAV).url.appendingPathComponent("x"),
            credentials: WebDAVCredentials(user: RealServer.user, password: "wrong"))
        let start = ContinuousClock.now
        let error = await #expect(throws: SyncPlaceError.self) { try await place.list(nil) }
        #expect(error?.reason == .noPermission && error?.message.contains("401") == true, "\(error?.message ?? "")")
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test(.enabled(if: RealServer.isInstalled, "\(RealServer.missing)"))
    func aMissingBucketIsAnError() async throws {
        let place = try S3Place(
            endpoint: try RealServer.shared(.s3).url, bucket: "none-of-this-name",
            credentials: S3Credentials(accessKey: "test", secretKey: "test"))
        let error = await #expect(throws: SyncPlaceError.self) { try await place.list(nil) }
        #expect(error?.message.contains("The bucket does not exist") == true, "\(error?.message ?? "")")
        await #expect(throws: SyncPlaceError.self) { try await place.create("f", in: "a", Data([1])) }
        await #expect(throws: SyncPlaceError.self) { try await place.read("f", in: "a") }
    }

    /// The authority of the certificate is not one that the system trusts.
    @Test(.enabled(if: RealServer.isInstalled && TestCertificates.isInstalled, "\(RealServer.missing)"))
    func anUntrustedCertificateIsRefused() async throws {
        let folder = try TemporaryFolder()
        let authority = try TestCertificates(in: folder.url, name: "ours")
        let server = try RealServer(.webDAV, certificate: try authority.certificate(for: "localhost"))
        defer { server.end() }
        let place = try RealPlace.make(.webDAV, on: server)
        let error = await #expect(throws: SyncPlaceError.self) { try await place.list(nil) }
        #expect(error?.reason == .unavailable && error?.message.contains("certificate is not trusted") == true)
        withExtendedLifetime(folder) {}
    }

    /// Conflicts, a large value, a server that goes away and comes back, a snapshot and purging.
    @Test(.enabled(if: RealServer.isInstalled, "\(RealServer.missing)"), arguments: Trials.some(of: kinds))
    func twoDevicesSynchroniseOverAServerThatGoesAway(kind: RealServer.Kind) async throws {
        let (folder, name) = (try TemporaryFolder(), UUID().uuidString)
        let server = try RealServer(kind)
        defer { server.end() }
        let clock = TestClock()
        func device(_ device: String, _ place: any SyncPlace) throws -> SyncingDevice {
            try SyncingDevice(device, place, url: folder("\(device).sqlite"), clock: clock)
        }
        // Each device has connections of its own.
        let kitchen = try device("Kitchen", RealPlace.make(kind, on: server, name: name))
        let phone = try device("Phone", RealPlace.make(kind, on: server, name: name))
        let photo = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try kitchen.save { _ in
            let unit = kitchen.new("Unit", ["name": "kg"])
            _ = kitchen.new("Item", ["name": "Milk", "photo": photo, "unit": unit])
        }
        try phone.save { _ in _ = phone.new("Unit", ["name": "kg"]) }
        try await settle(kitchen, phone)
        #expect(try phone.contents() == kitchen.contents() && phone.contents().count == 2)
        try phone.save { _ in
            let milk = try phone.object("Item", "Milk")
            #expect(milk?.value(forKey: "photo") as? Data == photo)
        }

        // Both edit while the server is away.
        try server.stop()
        try kitchen.save { _ in try kitchen.object("Item", "Milk")?.setValue("1 litre", forKey: "note") }
        try phone.save { _ in
            try phone.object("Item", "Milk")?.setValue("2 litres", forKey: "note")
            _ = phone.new("Item", ["name": "Butter"])
        }
        for device in [kitchen, phone] {
            let error = await #expect(throws: SyncPlaceError.self) { try await device.exchange() }
            #expect(error?.reason == .unavailable, "\(error?.message ?? "")")
            guard case .failed = device.sync.state.activity else {
                Issue.record("\(device.sync.state)")
                continue
            }
        }
        try phone.restart()
        try server.start()
        try await settle(kitchen, phone)
        #expect(try phone.contents() == kitchen.contents() && kitchen.contents().count == 3)
        for device in [kitchen, phone] {
            #expect(try device.text("Item", "Milk", "note") == "2 litres")
            let conflict = try #require(try await device.sync.conflicts().first)
            #expect(conflict.losing == "1 litre" && conflict.winning == "2 litres")
        }

        // Enough for a snapshot; then segments are deleted that it contains.
        for number in 0..<8 {
            try kitchen.save { _ in
                try kitchen.object("Item", "Butter")?.setValue(
                    String(repeating: "\(number)", count: 15_000), forKey: "note")
            }
            try await settle(kitchen, phone, rounds: 1)
        }
        try await settle(kitchen, phone)
        let own = kitchen.folder
        let files = try await kitchen.place.list(own)
        #expect(files.contains { $0.hasPrefix("snapshot") })
        #expect(!files.contains("segment-0000000000000001"), "\(files)")
        #expect(files.contains { $0.hasPrefix("blob") })

        // A third device reads the snapshot.
        let tablet = try device("Tablet", RealPlace.make(kind, on: server, name: name))
        try await settle(tablet, kitchen, phone)
        #expect(try tablet.contents() == kitchen.contents())
        #expect(try phone.contents() == kitchen.contents())
        for device in [kitchen, phone, tablet] { try device.close() }
        withExtendedLifetime(folder) {}
    }
}
