/// Everything that a simulation does: a model, devices, and steps. Equal scenarios run alike.
package struct Scenario: Hashable, Sendable {
    /// Decides what the steps do not say: identifiers that devices make, and when a faulty place fails.
    package var seed: UInt64
    package var model: SimulatedModel
    package var devices: [Device]
    package var steps: [Step]

    package init(seed: UInt64, model: SimulatedModel, devices: [Device], steps: [Step]) {
        (self.seed, self.model, self.devices, self.steps) = (seed, model, devices, steps)
    }

    package struct Device: Hashable, Sendable {
        /// Whether the store is a file, as a device needs that dies, is copied or restored.
        package var isFile: Bool
        /// The version of the model that it begins with.
        package var version: Int

        package init(isFile: Bool = true, version: Int = 1) { (self.isFile, self.version) = (isFile, version) }
    }

    /// The number of edits.
    package var edits: Int { steps.reduce(0) { $0 + $1.edits } }

    /// The steps, one a line.
    package var script: String {
        (["seed \(seed), \(devices.count) devices"] + model.lines + steps.map { "\($0)" }).joined(separator: "\n")
    }

    /// A test that runs the scenario, to be pasted.
    package var test: String {
        func expression(_ value: Any) -> String {
            String(reflecting: value).replacing("CoreDataSyncSimulation.", with: "")
        }
        return """
            @Test func scenarioOfSeed\(seed)() async throws {
                let model = \(expression(model))
                let scenario = Scenario(
                    seed: \(seed), model: model,
                    devices: \(expression(devices).replacing("Scenario.Device", with: ".init")),
                    steps: [
            \(steps.map { "            .\($0)," .replacing("CoreDataSyncSimulation.", with: "")}.joined(separator: "\n"))
                    ])
                #expect(await Simulation.run(scenario).failure == nil)
            }
            """
    }
}

extension SimulatedModel {
    /// What the model has, one entity or relationship a line.
    var lines: [String] {
        entities.map { entity in
            let words =
                [entity.parent.map { "below \($0)" }, "\(entity.identity)", entity.editWins ? "editWins" : nil]
                + [entity.hasCode ? "code" : nil] + entity.attributes.map { "\($0.name): \($0.kind) \($0.merge)" }
            return "entity \(entity.name): \(words.compactMap(\.self).joined(separator: ", "))"
        }
            + relationships.map { relationship in
                let many = relationship.isToMany ? relationship.isOrdered ? " ordered" : " many" : ""
                let back = relationship.inverse.map {
                    " <-> \($0.name)\($0.isToMany ? $0.isOrdered ? " ordered" : " many" : "") \($0.rule)"
                }
                return "\(relationship.source).\(relationship.name)\(many) \(relationship.rule)\(back ?? "") -> "
                    + relationship.destination + (relationship.isRequired ? " required" : "")
            }
    }
}
