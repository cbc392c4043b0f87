import CoreData
import CoreDataStore
import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// A store that two processes share is an SQLite file.
extension FetchedResultsSpecification {
    static let seeds = Trials.seeds(1)

    @Test("Merges of what another process saved are among the edits", arguments: seeds)
    func anotherProcess(_ seed: UInt64) throws {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Store.sqlite")
        let model = try NSManagedObjectModel(document: StoreTestSupport.document(Library.entities))
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
        let (context, sibling) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
        for context in [context, sibling] { context.persistentStoreCoordinator = coordinator }
        let process = ListProcess(url, coordinator.currentPersistentHistoryToken(fromStores: nil))
        try context.performAndWait {
            var edits = ListEdits(seed: seed * 2, context: context, sibling: sibling, batches: true)
            edits.editInProcess = { try process.edit(Int(seed) * 100_000 + $0, mergingInto: context) }
            try check(edits, context, sibling, seed: seed * 2, undoes: false, asksMemory: true)
        }
        // About ten; how many of them change anything is by chance.
        #expect(process.merged > 1)
    }
}

/// A process of its own that edits the store of a list, and what it saved.
private final class ListProcess {
    private let url: URL
    private var token: NSPersistentHistoryToken?
    /// How many transactions were merged.
    private(set) var merged = 0

    init(_ url: URL, _ token: NSPersistentHistoryToken?) { (self.url, self.token) = (url, token) }

    func edit(_ seed: Int, mergingInto context: NSManagedObjectContext) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("HistoryWriter")
        process.arguments = [url.path, "edits", String(seed)]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
            token = transaction.token
            guard transaction.author == "another process" else { continue }
            context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            merged += 1
        }
    }
}
