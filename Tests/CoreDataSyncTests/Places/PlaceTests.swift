import CoreDataSync
import Foundation
import RemoteServers
import TestSupport
import Testing

/// What every place must do.
@Suite(.timeLimit(.minutes(Sanitizer.minutes(2)))) struct PlaceTests {
    enum Kind: CaseIterable, Sendable {
        case memory, folder, sealed
        /// On stand-ins in this process.
        case webDAV, s3, sealedWebDAV
        /// On servers of others.
        case realWebDAV, realS3

        static let allCases: [Self] =
            [.memory, .folder, .sealed, .webDAV, .s3, .sealedWebDAV]
            + (RealServer.isInstalled ? [.realWebDAV, .realS3] : [])
        static let local: [Self] = [.memory, .folder, .sealed]
    }

    private func withPlace(_ kind: Kind, _ body: (any SyncPlace) async throws -> Void) async throws {
        switch kind {
        case .memory: try await body(MemoryPlace())
        case .folder:
            let folder = try TemporaryFolder()
            try await body(FolderPlace(folder.url.appendingPathComponent("new/place")))
            withExtendedLifetime(folder) {}
        case .sealed: try await body(SealedPlace(MemoryPlace(), passphrase: "p", cost: .forTests))
        case .webDAV, .s3, .sealedWebDAV:
            let remote = try StandInPlace(kind == .s3 ? .s3 : .webDAV)
            defer { remote.end() }
            try await body(
                kind == .sealedWebDAV ? SealedPlace(remote.place, passphrase: "p", cost: .forTests) : remote.place)
        case .realWebDAV: try await body(RealPlace.make(.webDAV))
        case .realS3: try await body(RealPlace.make(.s3))
        }
    }

    private let one = Data("one".utf8)

    @Test(arguments: Kind.allCases)
    func anEmptyPlaceHasNothing(kind: Kind) async throws {
        try await withPlace(kind) { place in
            #expect(try await place.list(nil) == [])
            #expect(try await place.list("a") == [])
            #expect(try await place.read("hello-1", in: "a") == nil)
            try await place.delete("hello-1", in: "a")
        }
    }

    @Test(arguments: Kind.allCases)
    func filesAreCreatedOnceListedReadAndDeleted(kind: Kind) async throws {
        try await withPlace(kind) { place in
            #expect(try await place.create("f-2", in: "b", one))
            #expect(try await place.create("f-1", in: "b", Data("two".utf8)))
            #expect(try await place.create("f-1", in: "a", one))
            #expect(try await !place.create("f-1", in: "b", one), "it exists")
            #expect(try await place.list(nil) == ["a", "b"])
            #expect(try await place.list("b") == ["f-1", "f-2"])
            #expect(try await place.read("f-1", in: "b") == Data("two".utf8))
            try await place.delete("f-1", in: "b")
            #expect(try await place.list("b") == ["f-2"])
            #expect(try await place.read("f-1", in: "b") == nil)
            #expect(try await place.create("f-1", in: "b", one), "its name is free again")
        }
    }

    @Test(arguments: Kind.allCases)
    func oneOfManyWritersCreatesAFile(kind: Kind) async throws {
        try await withPlace(kind) { place in
            let winners = try await withThrowingTaskGroup(of: UInt8?.self) { group in
                for number in UInt8(0)..<8 {
                    group.addTask {
                        try await place.create("f", in: "a", Data(repeating: number, count: 5000)) ? number : nil
                    }
                }
                return try await group.reduce(into: []) { all, number in all += number.map { [$0] } ?? [] }
            }
            #expect(winners.count == 1)
            #expect(try await place.read("f", in: "a") == Data(repeating: try #require(winners.first), count: 5000))
        }
    }

    @Test(arguments: Kind.allCases, ["", ".", "..", ".f", "a/b", "../f", "a\u{0}b", "a b", "ä", "f\n"])
    func namesThatCouldLeaveTheFolderAreRefused(kind: Kind, name: String) async throws {
        try await withPlace(kind) { place in
            let data = one
            await #expect(throws: SyncPlaceError.self) { try await place.list(name) }
            await #expect(throws: SyncPlaceError.self) { try await place.read(name, in: "a") }
            await #expect(throws: SyncPlaceError.self) { try await place.read("f", in: name) }
            await #expect(throws: SyncPlaceError.self) { try await place.create(name, in: "a", data) }
            await #expect(throws: SyncPlaceError.self) { try await place.create("f", in: name, data) }
            await #expect(throws: SyncPlaceError.self) { try await place.delete(name, in: "a") }
            await #expect(throws: SyncPlaceError.self) { try await place.delete("f", in: name) }
            let folders = try await place.list(nil)
            #expect(folders == [])
        }
    }

    @Test(arguments: [
        ("segment-0000000000000001", true), ("0B5c_.x", true), (String(repeating: "a", count: 200), true),
        (String(repeating: "a", count: 201), false), ("-", true), ("a:b", false), ("a\\b", false), ("a~", false),
    ])
    func namesHaveFewCharacters(name: String, isValid: Bool) { #expect(PlaceName.isValid(name) == isValid) }

    @Test(arguments: Kind.local)
    func changesAreTold(kind: Kind) async throws {
        try await withPlace(kind) { place in
            _ = try await place.create("f", in: "a", one)
            var changes = place.changes().makeAsyncIterator()
            _ = try await place.create("g", in: "a", one)
            #expect(await changes.next() != nil, "in a folder that was there")
            // A folder's creation may be told before its file's.
            _ = try await place.create("f", in: "b", one)
            #expect(await changes.next() != nil, "a new folder")
            try await place.delete("f", in: "b")
            #expect(await changes.next() != nil, "a deletion")
        }
    }
}
