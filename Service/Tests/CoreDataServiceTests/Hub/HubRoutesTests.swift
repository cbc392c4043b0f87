import CoreDataRemoteSync
import CoreDataSync
import Foundation
import Testing

@testable import CoreDataService

/// The files of an account are its own, and its devices do not write the service's.
@Suite struct HubRoutesTests {
    private static let folder = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"

    @Test(arguments: [
        ("GET", "/sync/files/.b", 400), ("GET", "/sync/files/kitchen", 200), ("GET", "/sync/files/..%2F..", 400),
        ("GET", "/sync/files/\(folder)/segment-1", 404), ("PUT", "/sync/files/\(folder.uppercased())/segment-1", 400),
        ("PUT", "/sync/files/kitchen/segment-1", 400),
        ("GET", "/sync/files/\(folder)/a/b", 404), ("PUT", "/sync/files/\(folder)/other-1", 400),
        ("PUT", "/sync/files/\(folder)/segment-1", 400), ("POST", "/sync/files/\(folder)/segment-1", 405),
        ("PUT", "/sync/files", 405), ("GET", "/sync/changes/x", 404), ("GET", "/sync", 404),
        ("DELETE", "/sync/files/\(folder)/segment-1", 204),
    ])
    func oddRequestsAreRefused(_ method: String, _ path: String, _ status: Int) async throws {
        try await HubHousehold.run { home in
            let answer = try await home.rest("ann").send(method, path, body: method == "GET" ? nil : [])
            #expect(answer.status == status, "\(answer.text)")
            var stranger = home.rest("ann")
            stranger.token = nil
            #expect(try await stranger.get("/sync/files").status == 401)
            #expect(try await stranger.get("/sync/changes").status == 401)
        }
    }

    @Test func foldersOfOthersAndOfTheServiceAreClosed() async throws {
        try await HubHousehold.run { home in
            let kitchen = try home.device("Kitchen", of: "ann")
            try kitchen.add("Tag", ["name": "cold"])
            try await kitchen.exchange()
            let ann = ServicePlace(session: try home.session("ann"))
            let mallory = ServicePlace(session: try home.session("mallory"))
            let folders = try await ann.list(nil)
            #expect(folders.count == 2)
            var theirs = 0
            for folder in folders {
                let files = try await ann.list(folder)
                #expect(!files.isEmpty)
                #expect(try await mallory.list(folder).isEmpty)
                for file in files { #expect(try await mallory.read(file, in: folder) == nil) }
                // Writing there makes a folder of the stranger's own, which ann does not see.
                _ = try await mallory.create("segment-9999999999999999", in: folder, Data("x".utf8))
                #expect(try await ann.list(folder) == files)
                try await mallory.delete(files[0], in: folder)
                #expect(try await ann.list(folder) == files)
                let isOwn = (try? await ann.create("segment-9999999999999998", in: folder, Data("x".utf8))) != nil
                if !isOwn {
                    theirs += 1
                    await #expect(throws: SyncPlaceError.self) { try await ann.delete(files[0], in: folder) }
                }
            }
            #expect(theirs == 1, "one folder is the service's")
        }
    }

    @Test func aSealedPlaceIsRefused() async throws {
        try await HubHousehold.run { home in
            let place = SealedPlace(
                ServicePlace(session: try home.session("ann")), passphrase: "a long and secret passphrase")
            let device = try HubDevice(home.folder.appendingPathComponent("Sealed.sqlite"), "Sealed", place)
            try device.add("Tag", ["name": "cold"])
            await #expect(throws: (any Error).self) { try await device.exchange() }
            #expect(try device.names("Tag") == ["cold"])
        }
    }

    @Test func damagedFilesStopNothingElse() async throws {
        try await HubHousehold.run { home in
            let place = ServicePlace(session: try home.session("ann"))
            for (name, data) in [
                ("segment-0000000000000001", Data("junk".utf8)),
                ("hello-0000000000000001", Data(repeating: 0, count: 99)),
                ("snapshot-0000000000000001", Data([1, 2, 3])),
            ] {
                #expect(try await place.create(name, in: Self.folder, data))
            }
            let kitchen = try home.device("Kitchen", of: "ann")
            try kitchen.add("Tag", ["name": "cold"])
            try await kitchen.exchange()
            #expect(try await home.rest("ann").get("/api/Tag").json.names == ["cold"])
        }
    }

    @Test func aServiceWithoutAHubSaysSo() async throws {
        try await Household.run { household in
            let place = ServicePlace(session: try await household.owner())
            let error = await #expect(throws: SyncPlaceError.self) { try await place.list(nil) }
            #expect(error?.message.contains("--sync") == true, "\(String(describing: error))")
        }
    }

    @Test func theReplicaOfADeletedAccountIsDeleted() async throws {
        try await HubHousehold.run { home in
            let spy = try home.device("Spy", of: "mallory")
            try spy.add("Tag", ["name": "cold"])
            try await spy.exchange()
            let replicas = home.folder.appendingPathComponent("replicas")
            func files() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: replicas.path).filter { $0.hasPrefix(account) }
            }
            let account = home.id("mallory").uuidString.lowercased()
            #expect(try !files().isEmpty)
            _ = try await home.accounts.deleteAccount(
                home.id("mallory"), password: HubHousehold.password, from: HubHousehold.from)
            await home.hub.start()
            let end = ContinuousClock.now + .seconds(20)
            while try !files().isEmpty, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(50)) }
            #expect(try files().isEmpty)
            #expect(try await home.rest("ann").get("/api/Tag").json.names == ["cold"])
        }
    }
}
