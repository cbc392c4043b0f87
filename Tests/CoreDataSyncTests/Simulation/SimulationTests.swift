import CoreDataSyncSimulation
import Foundation
import TestSupport
import Testing

/// Random edits on several devices, and everything that can go wrong meanwhile: in the end all devices are equal, and
/// no write is lost.
///
/// `coredata sync simulate --seed SEED` runs longer, and makes a scenario that fails short.
@Suite struct SimulationTests {
    @Test func aSeedRunsAlikeTwice() async throws {
        let scenario = Scenario.random(ScenarioPlan(seed: 4, edits: 60, devices: 2, hazards: [.place, .deaths]))
        let (first, second) = (await Simulation.run(scenario), await Simulation.run(scenario))
        #expect(first.fingerprint == second.fingerprint)
        #expect(first.exchanges == second.exchanges)
        #expect(first.saved > 3)
    }

    @Test(arguments: Trials.seeds(4)) func twoDevicesAndOneEntity(_ seed: UInt64) async throws {
        let plan = ScenarioPlan(seed: seed, edits: 200, devices: 2, hazards: [], model: .smallest)
        let outcome = await Simulation.run(.random(plan))
        #expect(outcome.failure == nil, "seed \(seed)")
    }

    /// The same with a place that fails, devices that die and start again, and clocks that are wrong.
    @Test(arguments: Trials.seeds(8)) func hazardsOnOneEntity(_ seed: UInt64) async throws {
        let plan = ScenarioPlan(
            seed: seed, edits: 200, devices: 3, hazards: [.place, .losses, .deaths, .clocks, .silence], model: .smallest
        )
        let outcome = await Simulation.run(.random(plan))
        #expect(outcome.failure == nil, "seed \(seed)")
    }

    @Test func devicesDieAndPlacesFail() async throws {
        let steps: [Step] = [
            .insert(device: 0, entity: "A", number: 1, owner: nil),
            .set(device: 0, object: 1, attribute: "text", value: 2),
            .die(device: 0, at: 3), .exchange(device: 0), .trouble(device: 1, .readOnly),
            .insert(device: 1, entity: "A", number: 3, owner: nil), .exchange(device: 1),
        ]
        let scenario = Scenario(seed: 1, model: .smallest, devices: [.init(), .init()], steps: steps)
        let outcome = await Simulation.run(scenario)
        #expect(outcome.failure == nil && outcome.objects == 2, "\(outcome)")
        #expect(outcome.interruptions == 2)
    }
}
