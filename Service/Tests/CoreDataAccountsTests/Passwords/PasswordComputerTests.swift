import Foundation
import Synchronization
import Testing

@testable import CoreDataAccounts

@Suite struct PasswordComputerTests {
    @Test func boundsWhatRunsAndWhatWaits() async throws {
        let computer = PasswordComputer(slots: 2, places: 3)
        let gate = DispatchSemaphore(value: 0)
        let counters = Counters()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<9 {
                group.addTask {
                    do throws(AccountError) {
                        try await computer.compute { () throws(AccountError) in
                            counters.begin()
                            gate.wait()
                            counters.end()
                        }
                        return true
                    } catch {
                        #expect(error.code == "busy")
                        #expect(error.retryAfter ?? 0 > 0)
                        return false
                    }
                }
            }
            // Four find no place while nothing ends; then the others may end.
            var refused = 0
            while refused < 4, let isComputed = try await group.next() {
                #expect(!isComputed)
                refused += 1
            }
            for _ in 0..<5 { gate.signal() }
            var computed = 0
            while let isComputed = try await group.next() { computed += isComputed ? 1 : 0 }
            #expect(computed == 5)
        }
        #expect(counters.peak == 2)
        // All slots are free again.
        for _ in 0..<3 { #expect(try await computer.compute { () throws(AccountError) in 7 } == 7) }
    }

    @Test func errorOfTheComputationFreesItsSlot() async throws {
        let computer = PasswordComputer(slots: 1, places: 0)
        for _ in 0..<2 {
            await expect(.invalidLink) {
                try await computer.compute { () throws(AccountError) in throw AccountError.invalidLink }
            }
        }
    }
}

/// Counts what runs at once.
private final class Counters: Sendable {
    private let state = Mutex((now: 0, peak: 0))

    var peak: Int { state.withLock { $0.peak } }

    func begin() {
        state.withLock {
            $0.now += 1
            $0.peak = max($0.peak, $0.now)
        }
    }

    func end() { state.withLock { $0.now -= 1 } }
}
