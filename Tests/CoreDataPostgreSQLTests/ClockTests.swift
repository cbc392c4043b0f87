import CoreDataSQL
import Foundation
import Synchronization
import Testing

@testable import CoreDataPostgreSQLDriver

/// What the driver does with time, by a clock that the tests set.
@Suite struct ClockTests {
    /// A clock that only goes on while somebody sleeps.
    private final class StoppedClock: Sendable {
        private let start = ContinuousClock.now
        private let pauses = Mutex<[Duration]>([])

        var sleeps: [Duration] { pauses.withLock { $0 } }

        var clock: PostgreSQLClock {
            PostgreSQLClock(
                now: { [self] in start + sleeps.reduce(.zero, +) },
                sleep: { [self] pause in pauses.withLock { $0.append(pause) } })
        }
    }

    /// A folder in which no server has a socket.
    private func options(_ clock: PostgreSQLClock) throws -> PostgreSQLOptions {
        let url = try #require(URL(string: "postgresql:///x?host=/nowhere/\(UUID().uuidString)&user=me"))
        var options = PostgreSQLOptions(try PostgreSQLAddress(url))
        options.clock = clock
        return options
    }

    @Test func aServerThatDoesNotAnswerIsTriedUntilTheTimeIsOver() throws {
        let stopped = StoppedClock()
        let options = try options(stopped.clock)
        #expect(options.connectTimeout == .seconds(10))
        let failure = #expect(throws: SQLFailure.self) {
            try PostgreSQLDatabase.open(options, waitsForServer: true)
        }
        #expect(failure?.kind == .cannotOpen)
        // 9.55 s in all: another second would be too long.
        let pauses: [Duration] = [50, 100, 200, 400, 800].map { .milliseconds($0) }
        #expect(stopped.sleeps == pauses + Array(repeating: .seconds(1), count: 8))
    }

    @Test func whoDoesNotWaitForAServerTriesOnce() throws {
        let stopped = StoppedClock()
        let options = try options(stopped.clock)
        #expect(throws: SQLFailure.self) { try PostgreSQLDatabase.open(options, waitsForServer: false) }
        #expect(stopped.sleeps.isEmpty)
    }

    @Test func aDeadlineThatHasPassedIsNotWaitedFor() {
        let stopped = StoppedClock()
        let condition = NSCondition()
        let deadline = stopped.clock.deadline(in: .milliseconds(1))
        condition.lock()
        defer { condition.unlock() }
        #expect(stopped.clock.wait(for: condition, until: deadline))
        stopped.clock.sleep(.milliseconds(1))
        #expect(!stopped.clock.wait(for: condition, until: deadline))
    }

    @Test func pausesDoubleUpToTheirLimit() {
        var backoff = Backoff(first: .seconds(1), limit: .seconds(5))
        #expect((0..<5).map { _ in backoff.next() } == [1, 2, 4, 5, 5].map { .seconds($0) })
        backoff.reset()
        #expect(backoff.next() == .seconds(1))
    }

    enum Event {
        case step(at: Int, LivenessProbe.Step)
        case answer(at: Int)
        case lost(at: Int, Bool)
    }

    /// Asked after 60 s, and lost 20 s after that; times are seconds.
    @Test(arguments: [
        [Event.step(at: 0, .wait), .step(at: 59, .wait), .lost(at: 59, false), .step(at: 60, .sendProbe)],
        [
            .step(at: 60, .sendProbe), .lost(at: 60, false), .step(at: 61, .takeAnswer), .answer(at: 61),
            .lost(at: 61, false), .step(at: 120, .wait), .step(at: 121, .sendProbe),
        ],
        [.step(at: 70, .sendProbe), .step(at: 89, .takeAnswer), .lost(at: 89, false), .lost(at: 90, true)],
        // An answer that comes at the last moment counts.
        [.step(at: 60, .sendProbe), .step(at: 80, .takeAnswer), .answer(at: 80), .lost(at: 80, false)],
    ])
    func aSessionThatListensIsAskedAndLost(_ events: [Event]) {
        let start = ContinuousClock.now
        var probe = LivenessProbe(interval: .seconds(60), limit: .seconds(20), now: start)
        for event in events {
            switch event {
            case .step(let time, let expected): #expect(probe.step(at: start + .seconds(time)) == expected, "\(event)")
            case .answer(let time): probe.didAnswer(at: start + .seconds(time))
            case .lost(let time, let expected):
                #expect(probe.isLost(at: start + .seconds(time)) == expected, "\(event)")
            }
        }
    }
}
