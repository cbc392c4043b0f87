import CoreData
import Foundation

/// Compares a store with what those who wrote to it were told, as if they had written one after the other.
struct StressCheck {
    private let url: URL
    private let expected: StressReport

    init(_ url: URL, _ reports: [StressReport]) {
        self.url = url
        expected = reports.reduce(into: StressReport()) { $0.add($1) }
    }

    func run() throws {
        let verification = try NSPersistentStoreCoordinator.verifyPersistentStore(at: url)
        guard verification.isPassed else {
            throw StressFailure(verification.findings.map(\.description).joined(separator: "\n"))
        }
        let stack = try StressStack(at: url)
        let context = stack.newContext()
        try context.performAndWait {
            try checkEntries(context)
            try checkSteps(context)
            let labels = try context.all("Label").compactMap { $0.value(forKey: "name") as? String }
            guard labels.sorted() == expected.labels.sorted() else {
                throw StressFailure("labels are \(labels.sorted()), not \(expected.labels.sorted())")
            }
            try checkHistory(context)
        }
        try stack.close()
        print("\(expected.saves) saves, \(expected.conflicts) conflicts, \(expected.entries.count) entries")
    }

    private func checkEntries(_ context: NSManagedObjectContext) throws {
        var found: [String: StressReport.Entry] = [:]
        for group in try context.all("Group") {
            guard let index = (group.value(forKey: "name") as? String).flatMap({ Int($0) }) else {
                throw StressFailure("a group without its name")
            }
            for entry in group.value(forKey: "entries") as? Set<NSManagedObject> ?? [] {
                guard let name = entry.value(forKey: "name") as? String,
                    let value = entry.value(forKey: "value") as? Int
                else { throw StressFailure("half an entry: \(entry)") }
                found[name] = StressReport.Entry(group: index, value: value)
            }
        }
        guard try context.all("Entry").count == found.count, found == expected.entries else {
            throw StressFailure(Self.difference(found, expected.entries))
        }
    }

    private func checkSteps(_ context: NSManagedObjectContext) throws {
        for (index, steps) in expected.steps.enumerated() {
            let value = try context.one("Counter", named: "\(index)").value(forKey: "value") as? Int
            guard value == steps else {
                throw StressFailure("counter \(index) is \(value ?? -1) after \(steps) steps")
            }
        }
    }

    /// What the history says was inserted and not deleted is what is there.
    private func checkHistory(_ context: NSManagedObjectContext) throws {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        var present: Set<NSManagedObjectID> = []
        var last: Int64 = 0
        for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
            guard transaction.transactionNumber == last + 1, transaction.changes?.isEmpty == false else {
                throw StressFailure("transaction \(transaction.transactionNumber) follows \(last), or is empty")
            }
            last = transaction.transactionNumber
            for change in transaction.changes ?? [] where change.changedObjectID.entity.name == "Entry" {
                switch change.changeType {
                case .insert: present.insert(change.changedObjectID)
                case .delete: present.remove(change.changedObjectID)
                default:
                    guard present.contains(change.changedObjectID) else {
                        throw StressFailure("\(change.changedObjectID) changed before it was inserted")
                    }
                }
            }
        }
        let found = Set(try context.all("Entry").map(\.objectID))
        guard found == present else {
            throw StressFailure("the history has \(present.count) entries, the store \(found.count)")
        }
    }

    /// The first few that differ.
    static func difference(
        _ found: [String: StressReport.Entry], _ expected: [String: StressReport.Entry]
    ) -> String {
        let names = Set(found.keys).union(expected.keys).sorted().filter { found[$0] != expected[$0] }
        func text(_ entry: StressReport.Entry?) -> String { entry.map { "(\($0.group), \($0.value))" } ?? "none" }
        return names.prefix(8).map { "\($0) is \(text(found[$0])), not \(text(expected[$0]))" }
            .joined(separator: ", ") + (names.count > 8 ? " and \(names.count - 8) more" : "")
    }
}
