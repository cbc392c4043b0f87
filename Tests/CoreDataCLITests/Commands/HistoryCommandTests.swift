import CoreData
import Foundation
import TestSupport
import Testing

/// `coredata history …`
@Suite struct HistoryCommandTests {
    private static let notes = """
        <entity name="Note" representedClassName="Note"><attribute name="title" optional="YES" \
        attributeType="String" preserveAfterDeletion="YES"/></entity>
        """

    private func makeStore(_ scratch: Scratch) throws -> String {
        _ = try scratch.makeStore(entities: Self.notes)
        let store = scratch.path("history.sqlite")
        let made = try CommandRun.coredata(
            "store", "create", store, "--model", scratch.path("Model.xcdatamodel"), "--history")
        try #require(made.status == 0, "\(made.error)")
        for title in ["Milk", "Bread"] {
            let file = try scratch.write(#"[{"title": "\#(title)"}]"#, to: "notes.json")
            let run = try CommandRun.coredata("import", store, "--entity", "Note", file)
            try #require(run.status == 0, "\(run.error)")
        }
        return store
    }

    @Test func transactionsAreListed() throws {
        let scratch = try Scratch()
        let store = try makeStore(scratch)
        let list = try CommandRun.coredata("history", "list", store)
        #expect(list.status == 0, "\(list.error)")
        #expect(list.lines.last == "2 transactions")
        #expect(list.lines.first?.hasPrefix("1  ") == true)
        #expect(list.lines.first?.hasSuffix("(coredata)  1 inserted") == true, "\(list.output)")
        let changes = try CommandRun.coredata("history", "list", store, "--after", "1", "--changes")
        #expect(changes.lines.map(String.init).contains("    inserted Note/p2"))
        #expect(changes.lines.last == "1 transaction")
        let json = try CommandRun.coredata("history", "list", store, "--json", "--changes", "--limit", "1")
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        #expect(object?["number"] as? Int == 2)
        #expect((object?["changes"] as? [[String: Any]])?.first?["type"] as? String == "inserted")
        #expect(
            try CommandRun.coredata("history", "list", store, "--where", "author == 'x'").output == "0 transactions\n")
        #expect(try CommandRun.coredata("history", "list", store, "--where", "author ==").status == 2)
    }

    @Test func whatIsThereIsWatched() throws {
        let scratch = try Scratch()
        let store = try makeStore(scratch)
        let watch = try CommandRun.coredata("history", "watch", store, "--after", "1", "--count", "1")
        #expect(watch.status == 0, "\(watch.error)")
        #expect(watch.output.hasPrefix("2  "))
    }

    @Test func purgingAsksConsumers() throws {
        let scratch = try Scratch()
        let store = try makeStore(scratch)
        #expect(try CommandRun.coredata("history", "purge", store).output == "Deleted 0 transactions\n")
        #expect(try CommandRun.coredata("history", "consumers", store).output == "no consumers\n")
        let url = URL(fileURLWithPath: store)
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        let attached = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
        try coordinator.noteHistoryRead(upTo: nil, byConsumer: "index")
        try coordinator.remove(attached)
        let consumers = try CommandRun.coredata("history", "consumers", store)
        #expect(consumers.lines.last?.hasPrefix("index") == true)
        let listed = try CommandRun.coredata("history", "consumers", store, "--json")
        let consumersAsJSON = try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]]
        #expect(
            consumersAsJSON?.first?["name"] as? String == "index"
                && consumersAsJSON?.first?["transactionNumber"] as? Int == 0)
        let kept = try CommandRun.coredata("history", "purge", store, "--json")
        #expect(kept.status == 0 && kept.output.contains(#""deletedTransactions" : 0"#), "\(kept.output)")
        let purge = try CommandRun.coredata("history", "purge", store, "--keep", "1")
        #expect(purge.status == 1)
        #expect(purge.output == "Deleted 1 transaction\ncut off: index, who had read up to 0\n")
        let list = try CommandRun.coredata("history", "list", store, "--after", "0")
        #expect(list.status != 0 && list.error.contains("purged"), "what is gone is not passed over: \(list.error)")
        #expect(try CommandRun.coredata("history", "list", store, "--after", "1").lines.last == "1 transaction")
        #expect(try CommandRun.coredata("history", "consumers", store, "--remove", "indx").status == 2)
        #expect(try CommandRun.coredata("history", "consumers", store, "--remove", "index").output == "Removed index\n")
    }

    @Test func aStoreWithoutHistoryIsRefused() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.notes)
        for command in ["list", "watch", "purge", "consumers"] {
            let run = try CommandRun.coredata("history", command, store)
            #expect(run.status == 2 && run.error.contains("history"), "\(command): \(run.error)")
        }
    }
}
