import CoreData
import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// Pairs and positions.
@Suite struct CaptureRelationshipTests {
    private func tags(_ object: NSManagedObject, _ name: String = "tags") -> NSMutableSet {
        object.mutableSetValue(forKey: name)
    }

    @Test(arguments: [true, false])
    func pairsAreComparedWithTheirState(fromItem: Bool) throws {
        let stack = try CaptureStack()
        let (item, red, blue) = try stack.save { _ in
            let (item, red, blue) = (
                stack.new("Item"), stack.new("Tag", ["name": "red"]), stack.new("Tag", ["name": "blue"])
            )
            tags(item).add(red)
            return (item, red, blue)
        }
        let first = try stack.run()
        let (id, redID, blueID) = (try stack.id(item), try stack.id(red), try stack.id(blue))
        #expect(first[id]?.edge("tags", redID)?.isPresent == true && first[id]?.edges.count == 1)
        #expect(first[redID]?.edges.isEmpty == true)
        try stack.save { _ in
            if fromItem {
                tags(item).remove(red)
                tags(item).add(blue)
            } else {
                tags(red, "items").remove(item)
                tags(blue, "items").add(item)
            }
        }
        let second = try stack.run()
        #expect(second.states.count == 1 && second[id]?.properties.isEmpty == true)
        #expect(second[id]?.edge("tags", redID)?.isPresent == false)
        #expect(second[id]?.edge("tags", redID)?.added == first[id]?.created)
        #expect(second[id]?.edge("tags", blueID)?.isPresent == true)
        try stack.save { _ in tags(item).add(red) }
        let third = try stack.run()
        #expect(third[id]?.edges.count == 1 && third[id]?.edge("tags", redID)?.isPresent == true)
        #expect(try stack.entry(item)?.state.edges.count { $0.value.isPresent } == 2)
    }

    @Test func oneWayToManysArePairs() throws {
        let stack = try CaptureStack()
        let (item, tag) = try stack.save { _ in
            let (item, tag) = (stack.new("Item"), stack.new("Tag"))
            tags(item, "keywords").add(tag)
            return (item, tag)
        }
        let first = try stack.run()
        #expect(first[try stack.id(item)]?.edge("keywords", try stack.id(tag))?.isPresent == true)
        try stack.save { _ in tags(item, "keywords").remove(tag) }
        let second = try stack.run()
        #expect(second.states.count == 1)
        #expect(second[try stack.id(item)]?.edge("keywords", try stack.id(tag))?.isPresent == false)
    }

    // MARK: Ordered

    private func order(_ owner: NSManagedObject, _ name: String) -> NSMutableOrderedSet {
        owner.mutableOrderedSetValue(forKey: name)
    }

    /// The names of the list's items, by their positions in the sidecar.
    private func sorted(_ items: [NSManagedObject], _ stack: CaptureStack) throws -> [String] {
        try items.map { item -> (String, String) in
            let state = try stack.entry(item)?.state
            let name = stack.context.performAndWait { item.value(forKey: "name") as? String }
            return (state?.properties["items#"]?.text ?? "", name ?? "")
        }.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }.map(\.1)
    }

    @Test func onlyMembersThatMovedGetPositions() throws {
        let stack = try CaptureStack()
        let (list, items) = try stack.save { _ in
            let items = ["a", "b", "c", "d"].map { stack.new("Item", ["name": $0]) }
            let list = stack.new("List")
            order(list, "items").addObjects(from: items)
            return (list, items)
        }
        let first = try stack.run()
        #expect(first.states.count == 5)
        #expect(try sorted(items, stack) == ["a", "b", "c", "d"])
        for item in items {
            let id = try stack.id(item)
            #expect(first[id]?.properties["items#"] == (try stack.entry(item)?.state.properties["items#"]))
        }
        try stack.save { _ in order(list, "items").moveObjects(at: IndexSet(integer: 3), to: 1) }
        let second = try stack.run()
        #expect(second.states.map(\.id) == [try stack.id(items[3])])
        #expect(second.states[0].properties.keys.sorted() == ["items#"])
        #expect(try sorted(items, stack) == ["a", "d", "b", "c"])
        let new = try stack.save { _ in
            let new = stack.new("Item", ["name": "e"])
            order(list, "items").insert(new, at: 0)
            return new
        }
        let third = try stack.run()
        #expect(third.states.map(\.id) == [try stack.id(new)])
        #expect(third.states[0].properties.keys.sorted() == ["items#", "list", "name"])
        #expect(try sorted(items + [new], stack) == ["e", "a", "d", "b", "c"])
    }

    @Test func aMemberOfAnotherOwnerGetsAPositionThere() throws {
        let stack = try CaptureStack()
        let (item, other) = try stack.save { _ in
            let items = ["a", "b", "c", "d"].map { stack.new("Item", ["name": $0]) }
            let (list, other) = (stack.new("List"), stack.new("List"))
            order(list, "items").addObjects(from: Array(items[..<3]))
            order(other, "items").add(items[3])
            return (items[1], other)
        }
        try stack.run()
        let old = try stack.entry(item)?.state.properties["items#"]
        try stack.save { _ in item.setValue(other, forKey: "list") }
        let captured = try stack.run()
        #expect(captured.states.count == 1)
        #expect(captured.states[0].properties.keys.sorted() == ["items#", "list"])
        #expect(captured.states[0].properties["items#"] != old)
    }

    @Test func pairsOfOrderedSidesHavePositions() throws {
        let stack = try CaptureStack()
        let (lists, songs) = try stack.save { _ in
            let songs = ["x", "y", "z"].map { stack.new("Song", ["name": $0]) }
            let lists = ["p", "q"].map { stack.new("Playlist", ["name": $0]) }
            for list in lists { order(list, "songs").addObjects(from: songs) }
            return (lists, songs)
        }
        func positions(_ list: Int) throws -> [String?] {
            let state = try #require(try stack.entry(lists[list])?.state)
            return try songs.map { state.edge("songs", try stack.id($0))?.position?.text }
        }
        func inverse(_ song: Int) throws -> [String?] {
            try lists.map { list in
                try stack.entry(list)?.state.edge("songs", try stack.id(songs[song]))?.inversePosition?.text
            }
        }
        func ascend(_ texts: [String?]) -> Bool {
            zip(texts, texts.dropFirst()).allSatisfy { a, b in
                a.flatMap { a in b.map { a.utf8.lexicographicallyPrecedes($0.utf8) } } ?? false
            }
        }
        let first = try stack.run()
        #expect(first.states.count == 5)
        #expect(try ascend(positions(0)))
        #expect(try ascend(positions(1)))
        #expect(try ascend(inverse(0)))
        #expect(try ascend(inverse(2)))
        // The last song of the first list comes first; in the other list nothing moves.
        try stack.save { _ in order(lists[0], "songs").moveObjects(at: IndexSet(integer: 2), to: 0) }
        let second = try stack.run()
        #expect(second.states.map(\.id) == [try stack.id(lists[0])])
        #expect(second.states[0].edges.keys.map(\.destination) == [try stack.id(songs[2])])
        let moved = try positions(0)
        #expect(ascend([moved[2], moved[0], moved[1]]))
        // The other side's order.
        try stack.save { _ in order(songs[1], "playlists").moveObjects(at: IndexSet(integer: 1), to: 0) }
        let third = try stack.run()
        #expect(third.states.count == 1 && third.states[0].edges.count == 1)
        #expect(try ascend(inverse(1).reversed()))
        #expect(try ascend(inverse(0)))
    }
}
