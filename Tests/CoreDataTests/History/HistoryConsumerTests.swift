import CoreData
import Foundation
import Testing

/// Readers of a history that have names, and purging that asks them.
@Suite struct HistoryConsumerTests {
    @Test func nobodyLosesWhatHeHasNotRead() throws {
        let stack = try HistoryStack()
        try stack.add("A")
        try stack.coordinator.noteHistoryRead(upTo: nil, byConsumer: "index")
        try stack.add("B")
        try stack.add("C")
        #expect(try stack.coordinator.purgeHistory().deletedTransactions == 0)
        let token = try #require(try stack.coordinator.historyToken(ofConsumer: "index"))
        let new = try stack.transactions(.fetchHistory(after: token))
        #expect(new.count == 3)
        try stack.coordinator.noteHistoryRead(upTo: new[1].token, byConsumer: "index")
        let purge = try stack.coordinator.purgeHistory()
        #expect(purge.deletedTransactions == 2 && purge.cutOff.isEmpty)
        let next = try #require(try stack.coordinator.historyToken(ofConsumer: "index"))
        #expect(try stack.transactions(.fetchHistory(after: next)).map(\.transactionNumber) == [3])
    }

    @Test func aCapCutsOffByName() throws {
        let stack = try HistoryStack()
        try stack.coordinator.noteHistoryRead(upTo: stack.token, byConsumer: "asleep")
        for title in ["A", "B", "C"] { try stack.add(title) }
        try stack.coordinator.noteHistoryRead(upTo: stack.token, byConsumer: "awake")
        let purge = try stack.coordinator.purgeHistory(keepingAtMost: 1)
        #expect(purge.cutOff.map(\.name) == ["asleep"])
        let token = try #require(try stack.coordinator.historyToken(ofConsumer: "asleep"))
        #expect(throws: CocoaError.self) { try stack.transactions(.fetchHistory(after: token)) }
        #expect(try stack.coordinator.removeHistoryConsumer("asleep"))
        #expect(try stack.coordinator.historyConsumers().map(\.name) == ["awake"])
        #expect(try stack.coordinator.historyToken(ofConsumer: "asleep") == nil)
        #expect(try stack.coordinator.purgeHistory(olderThan: -60).deletedTransactions == 1)
    }

    @Test func consumersOutliveTheStoreAndSavesOfMetadata() throws {
        let stack = try HistoryStack()
        try stack.add("A")
        // Read before there is a consumer, and written after.
        stack.coordinator.setMetadata(["mine": "x"], for: stack.store)
        try stack.coordinator.noteHistoryRead(upTo: stack.token, byConsumer: "index")
        try stack.add("B")
        #expect(try stack.coordinator.historyConsumers().map(\.name) == ["index"])
        try stack.coordinator.remove(stack.store)
        let other = try HistoryStack(opening: stack.url)
        #expect(try other.coordinator.historyConsumers().map(\.transactionNumber) == [1])
        #expect(other.store.metadata["mine"] as? String == "x")
        #expect(!other.store.metadata.keys.contains { $0.contains("Consumer") })
    }

    @Test func aSequenceGivesWhatIsThereAndWhatComes() async throws {
        let stack = try HistoryStack()
        try stack.add("A")
        let sequence = stack.newContext().history()
        let reading = Task {
            var numbers: [Int64] = []
            for try await transaction in sequence {
                numbers.append(transaction.transactionNumber)
                if numbers.count == 4 { break }
            }
            return numbers
        }
        try stack.add("B")
        // Another coordinator is as good as another process.
        let other = try HistoryStack(opening: stack.url)
        try other.add("C")
        try stack.add("D")
        #expect(try await reading.value == [1, 2, 3, 4])
    }

    @Test func aSequenceEndsWithItsTask() async throws {
        let stack = try HistoryStack()
        let sequence = stack.newContext().history(after: stack.token)
        let reading = Task {
            for try await _ in sequence {}
            return true
        }
        reading.cancel()
        #expect(try await reading.value)
    }

    @Test func aSequenceOfAStoreInMemoryWaitsToo() async throws {
        let stack = try HistoryStack(inMemory: true)
        let sequence = stack.newContext().history()
        let reading = Task {
            for try await transaction in sequence where transaction.author == "last" { return true }
            return false
        }
        try stack.add("A")
        try stack.add("B", author: "last")
        #expect(try await reading.value)
    }

    @Test func whatWasPurgedEndsASequenceWithAnError() async throws {
        let stack = try HistoryStack()
        let token = stack.token
        for title in ["A", "B"] { try stack.add(title) }
        try stack.coordinator.purgeHistory(keepingAtMost: 0)
        var iterator = stack.newContext().history(after: token).makeAsyncIterator()
        await #expect(throws: CocoaError.self) { _ = try await iterator.next() }
    }
}
