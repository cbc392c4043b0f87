import CoreDataSync
import Foundation
import RemoteServers
import TestSupport
import Testing

@testable import CoreDataRemoteSync

/// How a file is created at once or not at all, on servers that know conditions and on those that do not.
@Suite(.timeLimit(.minutes(Sanitizer.minutes(2)))) struct RemoteCreationTests {
    private let one = Data("one".utf8)
    private let two = Data("two".utf8)

    private func methods(_ remote: StandInPlace) -> [String] { remote.server.requests.map(\.method) }

    // MARK: S3

    @Test(arguments: [
        (S3StandIn.Condition.observed, ["HEAD", "PUT", "PUT"], ["PUT"], ["PUT"]),
        (.ignored, ["HEAD", "PUT", "PUT", "GET"], ["HEAD", "PUT", "GET"], ["HEAD"]),
        (.refused, ["HEAD", "PUT", "PUT", "GET"], ["HEAD", "PUT", "GET"], ["HEAD"]),
    ])
    func theFirstCreationFindsOutAboutConditions(
        condition: S3StandIn.Condition, first: [String], second: [String], existing: [String]
    ) async throws {
        let remote = try StandInPlace(.s3)
        defer { remote.end() }
        let place = remote.place
        remote.s3.setCondition(condition)
        #expect(try await place.create("f", in: "a", one))
        let count = first.count
        #expect(methods(remote) == first)
        #expect(try await place.create("g", in: "a", one))
        #expect(Array(methods(remote).dropFirst(count)) == second)
        #expect(try await !place.create("f", in: "a", two))
        #expect(Array(methods(remote).dropFirst(count + second.count)) == existing)
        #expect(remote.files == ["a/f": one, "a/g": one])
    }

    @Test func whereTheServiceIgnoresConditionsTheLaterWriterWins() async throws {
        let remote = try StandInPlace(.s3)
        defer { remote.end() }
        remote.s3.setCondition(.ignored)
        let place = remote.place
        #expect(try await place.create("f", in: "a", one))
        // Another writer's object arrives between the look and the upload; the service keeps the other one.
        remote.faults.set("PUT", .init(), times: 1)
        remote.set("a/g", two)
        remote.faults.set("HEAD", .init(status: 404), times: 1)
        #expect(try await !place.create("g", in: "a", one))
        #expect(remote.files["a/g"] == two)
    }

    @Test func twoRequestsForOneNameAtOnceAreToldApart() async throws {
        let remote = try StandInPlace(.s3)
        defer { remote.end() }
        let place = remote.place
        #expect(try await place.create("e", in: "a", one))
        let conflict = LoopbackServer.Answer(
            status: 409, body: Data("<Error><Code>ConditionalRequestConflict</Code></Error>".utf8))
        remote.faults.set("PUT", conflict, times: 1)
        let data = one
        let error = await #expect(throws: SyncPlaceError.self) { try await place.create("f", in: "a", data) }
        #expect(error?.reason == .unavailable && error?.message.contains("ConditionalRequestConflict") == true)
        for (there, isCreated) in [(two, false), (one, true)] {
            remote.set("a/f", there)
            remote.faults.set("PUT", conflict, times: 1)
            #expect(try await place.create("f", in: "a", one) == isCreated)
        }
    }

    @Test func aLargeFileIsNotSentTwice() async throws {
        let remote = try StandInPlace(.s3)
        defer { remote.end() }
        #expect(try await remote.place.create("f", in: "a", Data(repeating: 1, count: (1 << 20) + 1)))
        #expect(methods(remote) == ["HEAD", "PUT", "GET"])
    }

    // MARK: WebDAV

    @Test func aFileIsSentUnderAHiddenNameAndRenamed() async throws {
        let remote = try StandInPlace(.webDAV)
        defer { remote.end() }
        #expect(try await remote.place.create("f", in: "a", one))
        let requests = remote.server.requests
        #expect(
            requests.map(\.method) == [
                "HEAD", "PROPFIND", "MKCOL", "PROPFIND", "MKCOL", "PUT", "MOVE", "GET",
            ])
        let put = try #require(requests.first { $0.method == "PUT" })
        #expect(put.path.contains("/a/.f.") && put.path.hasSuffix(".partial"), "\(put.path)")
        #expect(requests.first { $0.method == "MOVE" }?.headers["overwrite"] == "F")
        #expect(remote.files == ["a/f": one])
        #expect(try await remote.place.create("g", in: "a", one))
        #expect(methods(remote).suffix(4) == ["HEAD", "PUT", "MOVE", "GET"], "the folder is known")
    }

    /// A server that checks and renames in two steps may let two devices rename.
    @Test func aFileThatAnotherDeviceReplacedIsNotOurs() async throws {
        let remote = try StandInPlace(.webDAV)
        defer { remote.end() }
        let place = remote.place
        remote.faults.set("GET", .init(body: two), times: 1)
        #expect(try await !place.create("f", in: "a", one))
    }

    @Test(arguments: ["PUT", "MOVE"])
    func nothingIsLeftWhereCreatingFails(method: String) async throws {
        let remote = try StandInPlace(.webDAV)
        defer { remote.end() }
        let (place, data) = (remote.place, one)
        remote.faults.set(method, .init(status: 507))
        let error = await #expect(throws: SyncPlaceError.self) { try await place.create("f", in: "a", data) }
        #expect(error?.reason == .full)
        #expect(remote.files.isEmpty)
        remote.faults.set("MOVE", .init(status: 412), times: 1)
        remote.faults.set("PUT", nil)
        #expect(try await !place.create("f", in: "a", data))
        #expect(remote.files.isEmpty)
    }

    @Test func aFolderThatWasDeletedIsMadeAgain() async throws {
        let remote = try StandInPlace(.webDAV)
        defer { remote.end() }
        let place = remote.place
        #expect(try await place.create("f", in: "a", one))
        remote.faults.set("PUT", .init(status: 409), times: 1)
        #expect(try await place.create("g", in: "a", one))
    }

    @Test func aMissingFolderAboveIsAnError() async throws {
        let remote = try StandInPlace(.webDAV)
        defer { remote.end() }
        let (place, data) = (remote.place, one)
        remote.faults.set("MKCOL", .init(status: 409))
        let error = await #expect(throws: SyncPlaceError.self) { try await place.create("f", in: "a", data) }
        #expect(error?.message.contains("folder above it is missing") == true, "\(error?.message ?? "")")
    }

    @Test func leftoversOfKilledProgramsGoAfterADay() async throws {
        let remote = try StandInPlace(.webDAV)
        defer { remote.end() }
        let place = remote.place
        #expect(try await place.create("f", in: "a", one))
        remote.webDAV.set("a/.g.1f.partial", one, date: "Sun, 22 Nov 2026 08:30:04 GMT")
        remote.webDAV.set("a/.h.1f.partial", one, date: "Sun, 22 Nov 2026 08:30:06 GMT")
        remote.webDAV.set("a/.other", one, date: "Sun, 22 Nov 2020 08:30:06 GMT")
        #expect(try await place.list("a") == ["f"])
        #expect(Set(remote.files.keys) == ["a/f", "a/.h.1f.partial", "a/.other"])
    }
}
