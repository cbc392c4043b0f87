import Foundation

/// Many scenarios one after the other, until so many edits were made or one fails.
package struct SimulationSeries: Sendable {
    package var edits: Int
    package var seed: UInt64
    /// The number of devices; `nil` for another number in each scenario.
    package var devices: Int?
    package var hazards: Set<ScenarioPlan.Hazard>
    /// The number of edits of one scenario.
    package var portion: Int

    package init(
        edits: Int, seed: UInt64 = 1, devices: Int? = nil,
        hazards: Set<ScenarioPlan.Hazard> = Set(ScenarioPlan.Hazard.allCases), portion: Int = 1_000
    ) {
        (self.edits, self.seed, self.devices) = (edits, seed, devices)
        (self.hazards, self.portion) = (hazards, portion)
    }

    /// What a series has done so far.
    package struct Report: Codable, Sendable {
        package var edits = 0
        /// The creations, writes and deletions that stores accepted.
        package var saved = 0
        package var scenarios = 0
        package var exchanges = 0
        package var interruptions = 0
        package var conflicts = 0
        package var objects = 0
        package var failure: Failure?

        package init() {}

        package struct Failure: Codable, Sendable {
            package var seed: UInt64
            package var kind: String
            package var details: [String]
            /// The shrunk scenario: one step a line, and as a test.
            package var script: String
            package var test: String
        }
    }

    /// The plan of the scenario of a seed: each has other devices and other hazards.
    package func plan(_ seed: UInt64) -> ScenarioPlan {
        var numbers = SimulationNumbers(seed: seed, "plan")
        let devices = devices ?? 2 + numbers.below(3)
        // Some have all hazards, others few of them: a few at a time go deeper.
        let some = hazards.sorted().filter { _ in !numbers.chance(2) }
        return ScenarioPlan(
            seed: seed, edits: portion, devices: devices, hazards: numbers.chance(4) ? hazards : Set(some))
    }

    /// Runs scenarios.
    ///
    /// - Parameters:
    ///   - shrinks: whether a scenario that fails is shrunk.
    ///   - progress: called after each scenario.
    package func run(shrinks: Bool = true, _ progress: (Report) -> Void = { _ in }) async -> Report {
        var report = Report()
        var seed = seed
        while report.edits < edits {
            let scenario = Scenario.random(plan(seed))
            let outcome = await Simulation.run(scenario)
            report.edits += scenario.edits
            report.scenarios += 1
            report.saved += outcome.saved
            report.exchanges += outcome.exchanges
            report.interruptions += outcome.interruptions
            report.conflicts += outcome.conflicts
            report.objects += outcome.objects
            if let failure = outcome.failure {
                let (small, last) = shrinks ? await Self.shrunk(scenario, failure) : (scenario, failure)
                report.failure = Report.Failure(
                    seed: seed, kind: failure.kind.rawValue, details: last.details, script: small.script,
                    test: small.test)
                progress(report)
                return report
            }
            progress(report)
            seed += 1
        }
        return report
    }

    /// The smallest scenario that fails in the same way, and its failure.
    package static func shrunk(
        _ scenario: Scenario, _ failure: SimulationFailure
    ) async -> (Scenario, SimulationFailure) {
        let kind = failure.kind
        var shrinker = Shrinker(scenario) { await Simulation.run($0).failure?.kind == kind }
        let small = await shrinker.shrink()
        return (small, await Simulation.run(small).failure ?? failure)
    }
}
