import CoreData
import CoreDataAccounts
import CoreDataRemoteSync
import CoreDataSync
import Foundation
import Testing

@testable import CoreDataService

/// Devices of several accounts synchronise through the files of a group.
@Suite struct PlaceStoryTests {
    @Test func devicesOfTwoAccountsSynchroniseThroughAGroup() async throws {
        try await Household.run { household in
            let (ann, ben) = (try await household.owner(), try await household.member(.editor, "ben"))
            let kitchen = try household.device("Kitchen", ann)
            let phone = try household.device("Phone", ben)
            try kitchen.add("Milk")
            _ = try await kitchen.sync.syncNow()
            _ = try await phone.sync.syncNow()
            #expect(try phone.names() == ["Milk"])
            try phone.add("Bread")
            _ = try await phone.sync.syncNow()
            _ = try await kitchen.sync.syncNow()
            #expect(try kitchen.names() == ["Bread", "Milk"])
            #expect(Set(try await kitchen.sync.devices().map(\.name)) == ["Kitchen", "Phone"])
        }
    }

    @Test func aChangeWakesTheOtherDevice() async throws {
        try await Household.run { household in
            let (ann, ben) = (try await household.owner(), try await household.member(.editor, "ben"))
            let place = ServicePlace(session: ann, group: household.group)
            var changes = place.changes().makeAsyncIterator()
            let writer = Task {
                // Until the other one watches: what was there before it began is no change.
                for number in 0... {
                    try Task.checkCancellation()
                    _ = try await ServicePlace(session: ben, group: household.group)
                        .create("segment-\(number)", in: "phone", Data("x".utf8))
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            let limit = Task {
                try await Task.sleep(for: .seconds(20))
                writer.cancel()
            }
            #expect(await changes.next() != nil)
            writer.cancel()
            limit.cancel()
        }
    }

    @Test func aPlaceKeepsItsPromises() async throws {
        try await Household.run { household in
            let place = ServicePlace(session: try await household.owner(), group: household.group)
            #expect(try await place.list(nil) == [])
            #expect(try await place.list("kitchen") == [])
            #expect(try await place.read("segment-1", in: "kitchen") == nil)
            #expect(try await place.create("segment-1", in: "kitchen", Data("one".utf8)))
            #expect(try await !place.create("segment-1", in: "kitchen", Data("two".utf8)))
            #expect(try await place.create("segment-2", in: "kitchen", Data([0, 255, 0])))
            #expect(try await place.read("segment-1", in: "kitchen") == Data("one".utf8))
            #expect(try await place.read("segment-2", in: "kitchen") == Data([0, 255, 0]))
            #expect(try await place.list(nil) == ["kitchen"])
            #expect(try await place.list("kitchen") == ["segment-1", "segment-2"])
            try await place.delete("segment-1", in: "kitchen")
            try await place.delete("segment-1", in: "kitchen")
            #expect(try await place.list("kitchen") == ["segment-2"])
            await #expect(throws: SyncPlaceError.self) { try await place.create(".hidden", in: "kitchen", Data([1])) }
            await #expect(throws: SyncPlaceError.self) { try await place.create("empty", in: "kitchen", Data()) }
        }
    }

    @Test func viewersReceiveAndDoNotSend() async throws {
        try await Household.run { household in
            let (ann, eve) = (try await household.owner(), try await household.member(.viewer, "eve"))
            let kitchen = try household.device("Kitchen", ann)
            let tablet = try household.device("Tablet", eve)
            try kitchen.add("Milk")
            _ = try await kitchen.sync.syncNow()
            _ = try? await tablet.sync.syncNow()
            #expect(try tablet.names() == ["Milk"])
            try tablet.add("Not for others")
            let error = await #expect(throws: (any Error).self) { try await tablet.sync.syncNow() }
            #expect((error as? SyncPlaceError)?.reason == .noPermission, "\(String(describing: error))")
            _ = try await kitchen.sync.syncNow()
            #expect(try kitchen.names() == ["Milk"])
        }
    }

    @Test func nobodyElseSeesOrChangesTheFiles() async throws {
        try await Household.run { household in
            let ann = try await household.owner()
            let place = ServicePlace(session: ann, group: household.group)
            #expect(try await place.create("segment-1", in: "kitchen", Data("secret".utf8)))
            let ben = try await household.member(.editor, "ben")
            let other = ServicePlace(session: ben, group: household.group)
            // A member reads all, and changes only what is his.
            #expect(try await other.read("segment-1", in: "kitchen") == Data("secret".utf8))
            await #expect(throws: SyncPlaceError.self) {
                try await other.create("segment-2", in: "kitchen", Data([1]))
            }
            await #expect(throws: SyncPlaceError.self) { try await other.delete("segment-1", in: "kitchen") }
            // A former member, a stranger, and a group that does not exist look the same.
            try await household.accounts.leaveGroup(household.group, account: household.id("ben"))
            let stranger = ServicePlace(session: try await household.stranger(), group: household.group)
            let nowhere = ServicePlace(session: ben, group: UUID())
            for place in [other, stranger, nowhere] {
                await #expect(throws: SyncPlaceError.self) { try await place.list(nil) }
                await #expect(throws: SyncPlaceError.self) { try await place.list("kitchen") }
                await #expect(throws: SyncPlaceError.self) { try await place.read("segment-1", in: "kitchen") }
                await #expect(throws: SyncPlaceError.self) { try await place.create("a", in: "b", Data([1])) }
                await #expect(throws: SyncPlaceError.self) { try await place.delete("segment-1", in: "kitchen") }
            }
            #expect(try await place.list("kitchen") == ["segment-1"])
        }
    }

    @Test(arguments: [
        ("GET", "/groups/GROUP/files/a/.b", 400), ("GET", "/groups/GROUP/files/..%2F..", 400),
        ("GET", "/groups/GROUP/files//", 400), ("GET", "/groups/x/files", 404),
        ("GET", "/groups/GROUP/files/a/b/c", 404), ("PUT", "/groups/GROUP/files/a/b", 400),
        ("POST", "/groups/GROUP/files/a/b", 405), ("PUT", "/groups/GROUP/files", 405),
        ("GET", "/groups/GROUP/changes/x", 404), ("GET", "/groups/GROUP/files/a/b", 404),
    ])
    func oddRequestsAreRefused(_ method: String, _ path: String, _ status: Int) async throws {
        try await Household.run { household in
            var client = household.client
            client.token = try await household.owner().token
            let path = path.replacing("GROUP", with: household.group.uuidString)
            let answer = try await client.send(method, path, body: method == "GET" ? nil : [])
            #expect(answer.status == status, "\(answer.text)")
            client.token = nil
            #expect(try await client.get("/groups/\(household.group.uuidString)/files").status == 401)
        }
    }

    @Test func aGroupHasBounds() async throws {
        var limits = FileLimits()
        (limits.filesPerGroup, limits.bytesPerGroup, limits.largestFile) = (3, 20, 10)
        try await Household.run(limits) { household in
            let place = ServicePlace(session: try await household.owner(), group: household.group)
            let reason = { (name: String, count: Int) async throws -> SyncPlaceError.Reason? in
                do { _ = try await place.create(name, in: "k", Data(repeating: 1, count: count)) } catch let error
                    as SyncPlaceError
                {
                    return error.reason
                }
                return nil
            }
            #expect(try await reason("a", 11) == .tooLarge)
            #expect(try await reason("a", 10) == nil)
            #expect(try await reason("b", 9) == nil)
            #expect(try await reason("c", 2) == .full)
            #expect(try await reason("c", 1) == nil)
            #expect(try await reason("d", 1) == .full)
            try await place.delete("a", in: "k")
            #expect(try await reason("d", 10) == nil)
        }
    }
}
