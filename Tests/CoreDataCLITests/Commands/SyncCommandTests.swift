import Foundation
import TestSupport
import Testing

/// `coredata sync …`
@Suite struct SyncCommandTests {
    private static let items = """
        <entity name="Item" representedClassName="Item"><attribute name="name" optional="YES" attributeType="String"/>\
        <attribute name="note" optional="YES" attributeType="String"/>\
        <userInfo><entry key="sync.key" value="name"/></userInfo></entity>
        """

    /// A folder with empty stores that record their history.
    private func scratch(stores: String...) throws -> Scratch {
        let scratch = try Scratch()
        _ = try scratch.makeStore(entities: Self.items)
        for store in stores {
            let run = try CommandRun.coredata(
                "store", "create", scratch.path(store), "--model", scratch.path("Model.xcdatamodel"), "--history")
            try #require(run.status == 0, "\(run.error)")
        }
        return scratch
    }

    private func save(_ name: String, note: String? = nil, in store: String, _ scratch: Scratch) throws {
        let note = note.map { #", "note": "\#($0)""# } ?? ""
        let file = try scratch.write(#"[{"name": "\#(name)"\#(note)}]"#, to: "items.json")
        let run = try CommandRun.coredata(
            "import", scratch.path(store), "--entity", "Item", "--unique", "Item.name", file)
        try #require(run.status == 0, "\(run.error)")
    }

    private func exchange(_ store: String, _ scratch: Scratch, _ options: String...) throws -> [String: Any] {
        let run = try CommandRun.run(
            CommandRun.executable(),
            ["sync", "now", scratch.path(store), "--place", scratch.path("place"), "--device", store, "--json"]
                + options)
        try #require(run.status == 0, "\(run.output)\(run.error)")
        return try object(run)
    }

    private func object(_ run: CommandRun) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    }

    private func list(_ run: CommandRun) throws -> [[String: Any]] {
        try #require(run.status == 0, "\(run.error)")
        return try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
    }

    private func status(_ store: String, _ scratch: Scratch) throws -> [String: Any] {
        try object(try CommandRun.coredata("sync", "status", scratch.path(store), "--json"))
    }

    @Test func twoStoresExchange() throws {
        let scratch = try scratch(stores: "A.sqlite", "B.sqlite")
        try save("Milk", in: "A.sqlite", scratch)
        let sent = try exchange("A.sqlite", scratch)
        #expect(sent["captured"] as? Int == 1 && sent["sent"] as? Int == 1, "\(sent)")
        let received = try exchange("B.sqlite", scratch)
        #expect(received["received"] as? Int == 1 && received["applied"] as? Int == 1, "\(received)")
        #expect(try CommandRun.coredata("query", scratch.path("B.sqlite"), "Item", "--json").output.contains("Milk"))

        #expect(try status("A.sqlite", scratch)["capture"] as? String == "current")
        try save("Milk", note: "1 l", in: "A.sqlite", scratch)
        let behind = try status("A.sqlite", scratch)
        #expect(behind["capture"] as? String == "behind" && behind["newerTransactions"] as? Int == 1, "\(behind)")
        let text = try CommandRun.coredata("sync", "status", scratch.path("A.sqlite"))
        #expect(text.status == 0 && text.output.contains("1 newer one to read"), "\(text.output)\(text.error)")

        try save("Milk", note: "2 l", in: "B.sqlite", scratch)
        for store in ["A.sqlite", "B.sqlite", "A.sqlite"] { _ = try exchange(store, scratch) }
        for store in ["A.sqlite", "B.sqlite"] {
            let found = try list(try CommandRun.coredata("sync", "conflicts", scratch.path(store), "--json"))
            let conflict = try #require(found.first)
            #expect(
                found.count == 1 && conflict["property"] as? String == "note"
                    && conflict["object"] as? String == "Item/p1")
            // B reads its history after A, so its value has the later stamp.
            #expect(conflict["losing"] as? String == "1 l" && conflict["winning"] as? String == "2 l", "\(conflict)")
        }
        #expect(try status("A.sqlite", scratch)["conflicts"] as? Int == 1)
        #expect(
            try CommandRun.coredata("sync", "conflicts", scratch.path("A.sqlite"), "--limit", "1").lines.last?
                .contains("1 l") == true)

        let known = try list(try CommandRun.coredata("sync", "devices", scratch.path("A.sqlite"), "--json"))
        let there = try list(try CommandRun.coredata("sync", "devices", "--place", scratch.path("place"), "--json"))
        for devices in [known, there] {
            #expect(Set(devices.compactMap { $0["name"] as? String }) == ["A.sqlite", "B.sqlite"], "\(devices)")
            #expect(devices.allSatisfy { $0["hasLease"] as? Bool == true })
        }
        #expect(known.first?["isThisDevice"] as? Bool == true && known.count == 2 && there.count == 2)
    }

    @Test func aStoreThatAnotherProcessSynchronisesIsOnlyRead() throws {
        let scratch = try scratch(stores: "A.sqlite")
        try save("Milk", in: "A.sqlite", scratch)
        _ = try exchange("A.sqlite", scratch)
        let lock = try scratch.write(
            #"{"process": 4711, "program": "Groceries", "host": "h"}"#, to: "A.sqlite-sync-lock")
        let descriptor = open(lock, O_RDWR)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX) == 0)
        let run = try CommandRun.coredata("sync", "now", scratch.path("A.sqlite"), "--place", scratch.path("place"))
        #expect(run.status == 2, "\(run.output)")
        #expect(run.error.contains("is synchronised by process 4711 (Groceries) on h"), "\(run.error)")
        for command in ["status", "devices", "conflicts"] {
            #expect(try CommandRun.coredata("sync", command, scratch.path("A.sqlite")).status == 0, "\(command)")
        }
    }

    @Test func damagedAndMissingFilesAreFound() throws {
        let scratch = try scratch(stores: "A.sqlite", "B.sqlite")
        try save("Milk", in: "A.sqlite", scratch)
        _ = try exchange("A.sqlite", scratch)
        try save("Bread", in: "A.sqlite", scratch)
        _ = try exchange("A.sqlite", scratch)
        _ = try exchange("B.sqlite", scratch)
        let place = scratch.path("place")
        let sound = try CommandRun.coredata("sync", "verify", "--place", place)
        #expect(sound.status == 0 && sound.lines.last?.contains("is sound: 2 devices") == true, "\(sound.output)")
        #expect(sound.output.contains("2 segments"), "no snapshot contains them: \(sound.output)")

        let device = try #require(try status("A.sqlite", scratch)["device"] as? String)
        let folder = scratch.folder.appendingPathComponent("place").appendingPathComponent(device)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("segment-0000000000000001"))
        let second = folder.appendingPathComponent("segment-0000000000000002")
        try Data(contentsOf: second).dropLast().write(to: second)
        let run = try CommandRun.coredata("sync", "verify", "--place", place, "--json")
        #expect(run.status == 1)
        let problems = try #require(try object(run)["problems"] as? [[String: Any]])
        #expect(Set(problems.compactMap { $0["kind"] as? String }) == ["torn", "missingSegments"], "\(problems)")
        #expect(problems.contains { $0["file"] as? String == "segment-0000000000000002" })
        let text = try CommandRun.coredata("sync", "verify", "--place", place)
        #expect(text.status == 1 && text.lines.last == "\(place): 2 problems")
        #expect(text.output.contains("segment 1 is missing"), "\(text.output)")
    }

    @Test func aStoreJoinsWithoutItsObjects() throws {
        let scratch = try scratch(stores: "A.sqlite", "B.sqlite")
        try save("Milk", in: "A.sqlite", scratch)
        try save("Tea", in: "B.sqlite", scratch)
        _ = try exchange("A.sqlite", scratch)
        _ = try exchange("B.sqlite", scratch, "--seeding", "replaceLocal")
        let items = try CommandRun.coredata("query", scratch.path("B.sqlite"), "Item", "--json").output
        #expect(items.contains("Milk") && !items.contains("Tea"), "\(items)")
    }

    @Test func aSealedFolderNeedsItsPassphrase() throws {
        let scratch = try scratch(stores: "A.sqlite")
        try save("Milk", in: "A.sqlite", scratch)
        let right = try scratch.write("correct horse\n", to: "right.txt")
        _ = try exchange("A.sqlite", scratch, "--passphrase-file", right)
        let place = scratch.path("place")
        let without = try CommandRun.coredata("sync", "verify", "--place", place)
        #expect(without.status == 2 && without.error.contains("--passphrase-file"), "\(without.error)")
        let sound = try CommandRun.coredata("sync", "verify", "--place", place, "--passphrase-file", right)
        #expect(sound.status == 0, "\(sound.output)\(sound.error)")
        let wrong = try scratch.write("wrong\n", to: "wrong.txt")
        let refused = try CommandRun.coredata("sync", "devices", "--place", place, "--passphrase-file", wrong)
        #expect(refused.status == 2 && refused.error.contains("passphrase"), "\(refused.error)")
    }

    @Test func mistakesAreTold() throws {
        let scratch = try scratch(stores: "A.sqlite")
        let (store, file) = (scratch.path("A.sqlite"), try scratch.write("", to: "empty.txt"))
        let mistakes: [([String], String)] = [
            (["status", store], "is not synchronised"), (["conflicts", store], "is not synchronised"),
            (["status", scratch.path("none.sqlite")], "There is no store"), (["devices"], "one of both"),
            (["devices", store, "--place", scratch.path("place")], "one of both"),
            (["devices", store, "--passphrase-file", file], "goes with --place"),
            (["conflicts", store, "--limit", "0"], "--limit"),
            (["verify", "--place", scratch.path("none")], "There is no folder"),
            (["verify", "--place", file], "is a file"),
            (["verify", "--place", scratch.folder.path, "--passphrase-file", file], "is not sealed"),
            (["now", store, "--place", scratch.path("new"), "--passphrase-file", file], "is empty"),
            (["now", store, "--place", scratch.path("new"), "--seeding", "nobody"], "seeding"),
        ]
        for (arguments, message) in mistakes {
            let run = try CommandRun.run(CommandRun.executable(), ["sync"] + arguments)
            #expect(run.status == 2 && run.error.contains(message), "\(arguments): \(run.error)")
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.path("new")))
        #expect(!FileManager.default.fileExists(atPath: store + "-sync"))
    }
}
