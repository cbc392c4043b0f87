import CoreDataSync
import CoreDataSyncEngine
import CoreDataSyncSimulation
import Foundation
import Testing

/// A planted defect is found, and the script that shows it is short.
@Suite struct ShrinkerTests {
    /// A place through which one device loses a property of what others write.
    private struct ForgetfulPlace: SyncPlace {
        let base: any SyncPlace
        let property: String

        func list(_ folder: String?) async throws -> [String] { try await base.list(folder) }
        func delete(_ file: String, in folder: String) async throws { try await base.delete(file, in: folder) }

        func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
            try await base.create(file, in: folder, data)
        }

        func read(_ file: String, in folder: String) async throws -> Data? {
            guard let data = try await base.read(file, in: folder) else { return nil }
            guard var segment = try? Segment(bytes: data) else { return data }
            for index in segment.states.indices where segment.states[index].created == nil {
                segment.states[index].properties[property] = nil
            }
            return segment.bytes
        }
    }

    private static func run(_ scenario: Scenario) async -> SimulationFailure? {
        await Simulation.run(scenario) { device, base in
            device == 1 ? ForgetfulPlace(base: base, property: "text") : base
        }.failure
    }

    @Test func anApplierThatDropsOneEditIsFound() async throws {
        let scenario = Scenario(
            seed: 3, model: .smallest, devices: [.init(isFile: false), .init(isFile: false)],
            steps: [
                .insert(device: 0, entity: "A", number: 1, owner: nil),
                .insert(device: 1, entity: "A", number: 2, owner: nil), .exchange(device: 0), .exchange(device: 1),
                .set(device: 1, object: 2, attribute: "text", value: 3), .wait(seconds: 60),
                .set(device: 0, object: 1, attribute: "text", value: 4), .save(device: 0), .exchange(device: 1),
            ])
        #expect(await Simulation.run(scenario).failure == nil)
        #expect(await Self.run(scenario)?.kind == .difference)
        var shrinker = Shrinker(scenario) { await Self.run($0)?.kind == .difference }
        let small = await shrinker.shrink()
        // Insert and exchange; set.
        #expect(small.steps.count <= 4 && small.devices.count == 2, "\(small.script)")
        #expect(small.steps.contains { if case .set = $0 { true } else { false } })
        #expect(small.script.contains("set(device: 0") && small.test.contains(".set(device: 0"), "\(small.test)")
    }

    @Test func devicesAreRenumberedWhenOneIsLeftOut() async {
        let scenario = Scenario(
            seed: 1, model: .smallest, devices: [.init(), .init(), .init()],
            steps: [.save(device: 0), .exchange(device: 1), .exchange(device: 2), .wait(seconds: 1)])
        var shrinker = Shrinker(scenario) { scenario in
            scenario.steps.contains { if case .exchange = $0 { true } else { false } }
        }
        let small = await shrinker.shrink()
        #expect(small.devices == [.init(isFile: false, version: 1)] && small.steps == [.exchange(device: 0)])
    }
}
