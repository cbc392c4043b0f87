import CoreData
import CoreDataToolkit
import Foundation
import RemoteServers
import TestSupport
import Testing

@testable import CoreDataRemoteBackup

/// Whole stories: a store backed up to a server on this machine, and brought back.
@Suite(.timeLimit(.minutes(Sanitizer.minutes(3)))) struct RemoteBackupTests {
    enum Kind: String, CaseIterable, Sendable {
        case s3, webDAV
    }

    /// A server with an empty place, and the destination that leads there.
    struct Place: Sendable {
        let server: LoopbackServer
        let s3 = S3StandIn()
        let webDAV = WebDAVStandIn()
        let destination: any BackupDestination
        let folder: URL

        init(_ kind: Kind) throws {
            let (s3, webDAV) = (s3, webDAV)
            server = try LoopbackServer { kind == .s3 ? s3.answer($0) : webDAV.answer($0) }
            destination = try Self.destination(kind, server)
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("remote-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        static func destination(
            _ kind: Kind, _ server: LoopbackServer, secret: String = S3StandIn.secretKey,
            password: String = "pass:word",
            _ limits: RemoteLimits = RemoteLimits()
        ) throws -> any BackupDestination {
            switch kind {
            case .s3:
                var destination = try S3Destination(
                    endpoint: server.url, bucket: S3StandIn.bucket, prefix: "my shop/",
                    credentials: S3Credentials(accessKey: S3StandIn.accessKey, secretKey: secret))
                destination.limits = limits
                return destination
            case .webDAV:
                let url = try server.url
                guard let folder = URL(string: WebDAVStandIn.folder, relativeTo: url) else {
                    throw CocoaError(.fileNoSuchFile)
                }
                var destination = try WebDAVDestination(
                    folder: folder, credentials: WebDAVCredentials(user: "ann", password: password))
                destination.limits = limits
                return destination
            }
        }

        func set(_ name: String, _ data: Data) {
            s3.set("my shop/\(name)", data)
            webDAV.set(name, data)
        }

        func failAll(_ answer: LoopbackServer.Answer) {
            s3.fail(answer)
            for method in ["PROPFIND", "PUT", "GET", "HEAD", "MKCOL", "DELETE", "MOVE"] { webDAV.fail(method, answer) }
        }

        func end() {
            server.end()
            try? FileManager.default.removeItem(at: folder)
        }

        func file(_ size: Int, _ name: String = "a.zip") throws -> URL {
            let file = folder.appendingPathComponent(name)
            try Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }).write(to: file)
            return file
        }
    }

    private func model() -> NSManagedObjectModel {
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        name.isOptional = true
        let item = NSEntityDescription()
        item.name = "Item"
        item.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    private func names(_ stack: CoreDataStack) async throws -> [String] {
        let view = stack.viewContext
        return try await view.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try view.fetch(request).compactMap { $0.value(forKey: "name") as? String }
        }
    }

    @Test(arguments: Kind.allCases) func aStoreGoesThereAndComesBack(_ kind: Kind) async throws {
        let place = try Place(kind)
        defer { place.end() }
        let stack = try await CoreDataStack.setUp(
            model: model(), storeURL: place.folder.appendingPathComponent("Shop.sqlite"), options: .server)
        func add(_ name: String) async throws {
            try await stack.performImport { context in
                NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue(name, forKey: "name")
            }
        }
        try await add("Milk")
        let backup = Backup(stack, to: place.destination)
        #expect(try await backup.list().isEmpty)
        let made = try await backup.create(name: "first.zip")
        let listed = try await backup.list()
        #expect(listed.map(\.name) == ["first.zip"])
        #expect(listed.first?.size == made.size)
        #expect(listed.first?.date == Date(timeIntervalSince1970: 1_795_422_605))
        #expect(try await backup.verify("first.zip").isEmpty)
        try await add("Butter")
        try await backup.restore("first.zip")
        #expect(try await names(stack) == ["Milk"])
        await #expect { try await backup.create(name: "first.zip") } throws: {
            "\($0)".contains("There is a backup 'first.zip'")
        }
        try await backup.delete("first.zip")
        #expect(try await backup.list().isEmpty)
        await #expect {
            try await backup.delete("first.zip")
        } throws: {
            "\($0)".hasPrefix("There is no backup 'first.zip'")
        }
        await #expect {
            try await backup.restore("first.zip")
        } throws: {
            "\($0)".hasPrefix("There is no backup 'first.zip'")
        }
        #expect(try await names(stack) == ["Milk"])
        #expect(place.webDAV.files.isEmpty)
        try await stack.removeStores()
    }

    @Test(arguments: Kind.allCases) func whatIsDamagedOnTheWayIsNotRestored(_ kind: Kind) async throws {
        let place = try Place(kind)
        defer { place.end() }
        let stack = try await CoreDataStack.setUp(
            model: model(), storeURL: place.folder.appendingPathComponent("Shop.sqlite"), options: .server)
        try await stack.performImport { context in
            NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue("Milk", forKey: "name")
        }
        let backup = Backup(stack, to: place.destination)
        try await backup.create(name: "a.zip")
        var bytes = place.s3.objects["my shop/a.zip"] ?? place.webDAV.files["a.zip"] ?? Data()
        bytes[bytes.count / 2] ^= 0x55
        place.set("a.zip", bytes)
        await #expect(throws: ToolkitError.self) { try await backup.verify("a.zip") }
        await #expect(throws: ToolkitError.self) { try await backup.restore("a.zip") }
        #expect(try await names(stack) == ["Milk"])
        try await stack.removeStores()
    }

    @Test(arguments: Kind.allCases) func whatStandsBesideBackupsIsNotListed(_ kind: Kind) async throws {
        let place = try Place(kind)
        defer { place.end() }
        try await place.destination.store(try place.file(10), as: "a.zip")
        for name in ["notes.txt", "b.zip.part", "ü.zip", "x&y.zip"] { place.set(name, Data([1, 2])) }
        place.s3.set("my shop/deeper/c.zip", Data([1]))
        place.s3.set("other/d.zip", Data([1]))
        let names = try await place.destination.list().map(\.name).sorted()
        #expect(names.filter { $0.utf8.allSatisfy { $0 < 0x80 } && !$0.contains("&") } == ["a.zip"], "\(names)")
    }

    @Test(arguments: Kind.allCases, ["", "<a", "<html>Welcome</html>", "<a>&nothing;</a>"])
    func aListThatIsNoneIsSaid(_ kind: Kind, _ body: String) async throws {
        let place = try Place(kind)
        defer { place.end() }
        place.failAll(.init(status: kind == .s3 ? 200 : 207, body: Data(body.utf8)))
        let error = await #expect(throws: ToolkitError.self) { try await place.destination.list() }
        #expect(error?.message.contains("cannot be read") == true)
    }

    @Test func aLongListComesInPages() async throws {
        let place = try Place(.s3)
        defer { place.end() }
        for number in 0..<25 { place.set("b-\(number).zip", Data(count: number)) }
        place.s3.setPageSize(10)
        #expect(try await place.destination.list().count == 25)
        #expect(place.server.requests.count == 3)
    }

    @Test(arguments: Kind.allCases) func aLargeFileGoesThereAndBack(_ kind: Kind) async throws {
        let place = try Place(kind)
        defer { place.end() }
        let file = try place.file(5_000_000)
        try await place.destination.store(file, as: "large.zip")
        let back = place.folder.appendingPathComponent("back.zip")
        try await place.destination.fetch("large.zip", to: back)
        #expect(try Data(contentsOf: back) == (try Data(contentsOf: file)))
        #expect(place.webDAV.files.keys.allSatisfy { $0 == "large.zip" })
    }

    @Test(arguments: Kind.allCases) func wrongSecretsAreSaidAndNotRepeated(_ kind: Kind) async throws {
        let place = try Place(kind)
        defer { place.end() }
        let wrong = try Place.destination(kind, place.server, secret: "hush/hush", password: "hush/hush")
        let file = try place.file(10)
        for isUpload in [false, true] {
            let error = await #expect(throws: ToolkitError.self) {
                if isUpload { try await wrong.store(file, as: "a.zip") } else { _ = try await wrong.list() }
            }
            let text = "\(String(reflecting: error)) \(error?.localizedDescription ?? "")"
            #expect(text.contains(kind == .s3 ? "403" : "401"), "\(text)")
            for secret in ["hush", S3StandIn.secretKey, Data("ann:hush/hush".utf8).base64EncodedString(), "Signature="]
            {
                #expect(!text.contains(secret))
            }
        }
        #expect(place.s3.objects.isEmpty && place.webDAV.files.isEmpty)
    }

    @Test(arguments: Kind.allCases, [301, 404, 409, 500, 503, 507])
    func whateverAServerSaysIsAnErrorInWords(_ kind: Kind, _ status: Int) async throws {
        let place = try Place(kind)
        defer { place.end() }
        place.failAll(.init(status: status, headers: ["Location": "http://127.0.0.1:1/"], body: Data("<html>no".utf8)))
        let file = try place.file(10)
        let back = place.folder.appendingPathComponent("back.zip")
        let error = await #expect(throws: ToolkitError.self) { try await place.destination.store(file, as: "a.zip") }
        #expect(error?.message.contains("\(status)") == true, "\(error?.message ?? "")")
        await #expect(throws: ToolkitError.self) { try await place.destination.fetch("a.zip", to: back) }
        #expect(!FileManager.default.fileExists(atPath: back.path))
        // Nobody was led elsewhere.
        #expect(place.server.requests.count <= 4)
    }

    @Test(arguments: Kind.allCases) func whatComesShortIsNotTaken(_ kind: Kind) async throws {
        let place = try Place(kind)
        defer { place.end() }
        place.failAll(.init(headers: ["Content-Length": "1000"], body: Data(count: 1000), missing: 400))
        let back = place.folder.appendingPathComponent("back.zip")
        let error = await #expect(throws: ToolkitError.self) { try await place.destination.fetch("a.zip", to: back) }
        #expect(!FileManager.default.fileExists(atPath: back.path), "\(error?.message ?? "")")
    }

    @Test(arguments: Kind.allCases) func aServerThatDoesNotAnswerIsNotWaitedForForEver(_ kind: Kind) async throws {
        let place = try Place(kind)
        defer { place.end() }
        place.failAll(.init(delay: 8))
        var limits = RemoteLimits()
        limits.silence = 1
        let destination = try Place.destination(kind, place.server, limits)
        let error = await #expect(throws: ToolkitError.self) { try await destination.list() }
        #expect(error?.message.contains("did not answer in time") == true, "\(error?.message ?? "")")
    }

    @Test(arguments: Kind.allCases) func nobodyThereIsSaid(_ kind: Kind) async throws {
        let place = try Place(kind)
        place.end()
        let error = await #expect(throws: ToolkitError.self) { try await place.destination.list() }
        #expect(error?.message.contains("127.0.0.1:\(place.server.port)") == true)
        #expect(error?.message.contains("cannot be reached") == true, "\(error?.message ?? "")")
    }

    @Test func anUploadThatFailsLeavesNothing() async throws {
        let place = try Place(.webDAV)
        defer { place.end() }
        place.webDAV.fail("MOVE", .init(status: 507))
        let file = try place.file(10)
        await #expect(throws: ToolkitError.self) { try await place.destination.store(file, as: "a.zip") }
        #expect(place.webDAV.files.isEmpty)
    }

    @Test(arguments: [
        "ftp://example.com", "https://ann:hush@example.com", "file:///tmp", "https://example.com/?x=hush", "nothing",
    ])
    func addressesAreChecked(_ address: String) throws {
        let url = try #require(URL(string: address))
        let keys = S3Credentials(accessKey: "a", secretKey: "b")
        let folder = #expect(throws: ToolkitError.self) { try WebDAVDestination(folder: url, credentials: nil) }
        let bucket = #expect(throws: ToolkitError.self) {
            try S3Destination(endpoint: url, bucket: "backups", credentials: keys)
        }
        #expect(folder?.message.contains("hush") == false)
        #expect(bucket?.message.contains("hush") == false)
    }

    @Test(arguments: [("", ""), ("Up", ""), ("a/b", ""), ("ok-name", "../x"), ("ok-name", "a//b"), ("ok-name", "/")])
    func bucketsAndPrefixesAreChecked(_ bucket: String, _ prefix: String) throws {
        let url = try #require(URL(string: "https://example.com"))
        #expect(throws: ToolkitError.self) {
            try S3Destination(
                endpoint: url, bucket: bucket, prefix: prefix,
                credentials: S3Credentials(accessKey: "a", secretKey: "b"))
        }
    }
}
