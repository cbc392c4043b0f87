import CoreData
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

/// Whatever becomes of the connection, a save is done once or not at all, and the program is told which.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct LostConnectionTests {
    /// As what a server is opened; what is known of a lost transaction, and how, differs.
    private static let modes = ["", "&pooler=transaction", "&engine=yugabytedb", "&engine=cockroachdb"]

    @Test(arguments: Trials.some(of: modes, atLeast: 2))
    func aCommitThatIsCutOffIsDoneOnce(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
        let trap = PacketTrap()
        let relay = try PacketRelay(to: server) { trap.fate($0) }
        let schema = Notes.newSchema("c")
        let notes = try Notes(server.url(schema: schema, folder: relay.folder, mode))
        let context = notes.newContext()
        let counter = try context.performAndWait {
            let counter = Notes.insert("0", in: context)
            try context.save()
            return Transfer(counter)
        }
        // A commit that goes alone is some 60 bytes, one that goes with a save some 500; so are the answers.
        let fates: [PacketRelay.Fate] = [
            .cut(after: 0), .cut(after: 1), .cut(after: 20), .cut(after: 200), .cut(after: 400), .cut(after: 2000),
            .late(0.3), .silence(0.3), .halved(after: 9, pause: 0.05), .halved(after: 40, pause: 0.05),
            .halved(after: 300, pause: 0.05),
        ]
        var number = 0
        for isAnswer in [false, true] {
            for fate in fates {
                if isAnswer, case .late = fate { continue }
                number += 1
                try context.performAndWait {
                    trap.set(fate) { isAnswer ? $0.isAnswerToCommit : $0.isCommit }
                    let note = Notes.insert(String(format: "%03d", number), in: context)
                    try context.save()
                    #expect(trap.hasSprung, "\(isAnswer ? "answer" : "commit") \(fate)")
                    #expect(!note.hasChanges)
                    trap.set(fate) { isAnswer ? $0.isAnswerToCommit : $0.isCommit }
                    counter.value.setValue(number, forKey: "count")
                    try context.save()
                    #expect(trap.hasSprung, "\(isAnswer ? "answer" : "commit") \(fate)")
                    // The next save finds the row at the version that the program believes it to have.
                    note.setValue(number, forKey: "count")
                    try context.save()
                }
            }
        }
        let found = try Notes(server.url(schema: schema)).contents()
        #expect(found.map(\.name) == ["0"] + (1...number).map { String(format: "%03d", $0) })
        #expect(found.map(\.count) == [number] + Array(1...number))
    }

    private struct Transfer: @unchecked Sendable {
        // Safe because the object is used on its context's queue only.
        let value: NSManagedObject
        init(_ value: NSManagedObject) { self.value = value }
    }

    @Test func whereNobodyCanTellTheErrorSaysSo() throws {
        let server = try PostgreSQLServer.shared
        let trap = PacketTrap()
        var relay: PacketRelay? = try PacketRelay(to: server) { trap.fate($0) }
        let schema = Notes.newSchema("u")
        let folder = try #require(relay?.folder)
        let notes = try Notes(
            server.url(schema: schema, folder: folder, "&connect_timeout=2"),
            [NSPersistentStoreTimeoutOption: 1 as NSNumber])
        let context = notes.newContext()
        try context.performAndWait {
            Notes.insert("a", in: context)
            try context.save()
            trap.set(.cut(after: 0)) { $0.isCommit }
            // Nobody listens any more, neither for the commit nor for who asks about it.
            relay = nil
            Notes.insert("b", in: context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSPersistentStoreIncompleteSaveError)
            #expect(error?.localizedDescription.contains("cannot be told") == true, "\(error.map { "\($0)" } ?? "")")
            #expect(context.insertedObjects.count == 1)
        }
        _ = relay
        #expect(try Notes(server.url(schema: schema)).contents().map(\.name) == ["a"])
    }

    /// Cuts, halves and delays anything at random.
    @Test(arguments: Trials.some(of: modes))
    func whatIsCutAtRandomLosesNothing(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
        for seed in Trials.seeds(4) {
            let numbers = Mutex(SeededNumbers(seed: seed))
            let isHarmless = Atomic<Bool>(true)
            let relay = try PacketRelay(to: server) { packet in
                guard !isHarmless.load(ordering: .relaxed) else { return .pass }
                return numbers.withLock { numbers in
                    let first = numbers.below(packet.count + 1)
                    if numbers.chance(packet.isCommit || packet.isAnswerToCommit ? 6 : 60) {
                        switch numbers.below(packet.isFromServer ? 2 : 4) {
                        case 0: return .cut(after: 0)
                        case 1: return .cut(after: first)
                        case 2: return .late(0.05)
                        default: return .silence(0.05)
                        }
                    }
                    return numbers.chance(5) ? .halved(after: first, pause: 0.002) : .pass
                }
            }
            let schema = Notes.newSchema("r")
            let notes = try Notes(server.url(schema: schema, folder: relay.folder, mode))
            let ledger = Notes.Ledger()
            isHarmless.store(false, ordering: .relaxed)
            DispatchQueue.concurrentPerform(iterations: 4) { writer in
                var rounds = 0
                notes.write("\(writer)", ledger) {
                    rounds += 1
                    return rounds <= 20
                }
            }
            isHarmless.store(true, ordering: .relaxed)
            let mistakes = ledger.mistakes(try Notes(server.url(schema: schema)).contents())
            #expect(mistakes.isEmpty, "seed \(seed)")
            #expect(ledger.summary.saved > 20, "seed \(seed): \(ledger.summary)")
        }
    }
}
