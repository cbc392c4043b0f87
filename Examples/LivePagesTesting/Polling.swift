/// Waits for conditions that no event tells of.
package enum Polling {
    /// The condition did not come true in time. Thrown out of a test, it is the test's issue.
    package struct Timeout: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Asks until the condition holds, or the time is over; returns whether it holds.
    package static func holds(
        isolation: isolated (any Actor)? = #isolation, within seconds: Double = 30,
        _ condition: () async throws -> Bool
    ) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while try await !condition() {
            guard ContinuousClock.now < deadline else { return false }
            try await Task.sleep(for: .milliseconds(20))
        }
        return true
    }

    /// Asks until the condition holds; throws ``Timeout`` where it does not in time.
    package static func wait(
        isolation: isolated (any Actor)? = #isolation, for what: String, within seconds: Double = 30,
        _ condition: () async throws -> Bool
    ) async throws {
        guard try await holds(within: seconds, condition) else {
            throw Timeout(description: "waited \(seconds) seconds for \(what)")
        }
    }
}
