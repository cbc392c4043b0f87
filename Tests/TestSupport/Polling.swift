import Foundation

/// Waits for conditions that no event tells of: the one place of the tests that does.
///
///     try Polling.wait(for: "a session that waits") { try sessions() > 0 }
///     #expect(Polling.holds { list.isEmpty })
public enum Polling {
    /// The condition did not come true in time. Thrown out of a test, it is the test's issue.
    public struct Timeout: Error, CustomStringConvertible {
        public let description: String
    }

    /// Asks until the condition holds, or the time is over; returns whether it holds.
    public static func holds(
        within seconds: Double = 60, every pause: Double = 0.01, _ condition: () throws -> Bool
    ) rethrows -> Bool {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while try !condition() {
            guard ContinuousClock.now < deadline else { return false }
            Thread.sleep(forTimeInterval: pause)
        }
        return true
    }

    /// Asks until the condition holds.
    ///
    /// - Parameter what: what is waited for, in words for the message.
    /// - Throws: ``Timeout`` where it does not hold in time.
    public static func wait(
        for what: String, within seconds: Double = 60, every pause: Double = 0.01, _ condition: () throws -> Bool
    ) throws {
        guard try holds(within: seconds, every: pause, condition) else { throw timeout(what, seconds) }
    }

    /// As above, for tests that are tasks: another task goes on meanwhile.
    public static func suspend(
        isolation: isolated (any Actor)? = #isolation, until what: String, within seconds: Double = 60,
        every pause: Double = 0.01, _ condition: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while try await !condition() {
            guard ContinuousClock.now < deadline else { throw timeout(what, seconds) }
            try await Task.sleep(for: .seconds(pause))
        }
    }

    private static func timeout(_ what: String, _ seconds: Double) -> Timeout {
        Timeout(description: "not within \(seconds) seconds: \(what)")
    }
}
