import CoreData
import Foundation
import Testing

/// Kills a process while it saves with history; `Tests/HistoryWriter` tells what it writes.
@Suite struct HistoryKillTests {
    @Test func aKilledProcessLeavesNoHalfTransaction() throws {
        let stack = try HistoryStack(options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
        let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("HistoryWriter")
        var told = 0
        for round in 0..<12 {
            let process = Process()
            process.executableURL = executable
            process.arguments = [stack.url.path, "forever"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            var text = Data()
            while text.count(where: { $0 == UInt8(ascii: "\n") }) < round + 1 {
                let part = output.fileHandleForReading.availableData
                guard !part.isEmpty else { break }
                text.append(part)
            }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            text.append(output.fileHandleForReading.readDataToEndOfFile())
            told += text.count { $0 == UInt8(ascii: "\n") }
            let transactions = try stack.transactions()
            // What was told is there, with what it changed; perhaps one more of each round is, whole.
            #expect(transactions.count >= told && transactions.count <= told + round + 1, "round \(round)")
            #expect(transactions.map(\.transactionNumber) == (1...transactions.count).map { Int64($0) })
            #expect(transactions.allSatisfy { $0.changes?.isEmpty == false })
            // The rows are those that the history says there are.
            var tags: Set<NSManagedObjectID> = []
            for change in transactions.flatMap({ $0.changes ?? [] }) {
                if change.changeType == .delete {
                    tags.remove(change.changedObjectID)
                } else {
                    tags.insert(change.changedObjectID)
                }
            }
            let context = stack.newContext()
            let found = try context.performAndWait {
                Set(try context.all(NSManagedObject.self, "Tag").map(\.objectID))
            }
            #expect(found == tags, "round \(round)")
        }
    }
}
