/// Makes a failing scenario smaller: as long as a part of it fails in the same way, that part replaces it.
package struct Shrinker {
    /// The most runs that are tried.
    package var runs = 400
    private let fails: @Sendable (Scenario) async -> Bool
    package private(set) var scenario: Scenario

    /// - Parameter fails: whether a scenario fails as the whole one does.
    package init(_ scenario: Scenario, fails: @escaping @Sendable (Scenario) async -> Bool) {
        (self.scenario, self.fails) = (scenario, fails)
    }

    package mutating func shrink() async -> Scenario {
        var before: Scenario
        repeat {
            before = scenario
            await removeSteps()
            await mergeDevices()
            await simplifySteps()
            await simplifyModel()
        } while scenario != before && runs > 0
        return scenario
    }

    private mutating func takes(_ other: Scenario) async -> Bool {
        guard runs > 0, other != scenario else { return false }
        runs -= 1
        guard await fails(other) else { return false }
        scenario = other
        return true
    }

    /// Removes half of the steps, then a quarter, down to single ones.
    private mutating func removeSteps() async {
        var size = max(1, scenario.steps.count / 2)
        while runs > 0 {
            var start = 0
            while start < scenario.steps.count {
                var other = scenario
                other.steps.removeSubrange(start..<min(start + size, scenario.steps.count))
                if await !takes(other) { start += size }
            }
            if size == 1 { return }
            size = max(1, size / 2)
        }
    }

    /// Leaves out devices: their steps are those of another one, or are left out.
    private mutating func mergeDevices() async {
        for device in scenario.devices.indices.reversed() where scenario.devices.count > 1 {
            var other = scenario
            other.devices.remove(at: device)
            other.steps = scenario.steps.compactMap { $0.without(device) }
            _ = await takes(other)
        }
        for device in scenario.devices.indices where scenario.devices[device].isFile {
            var other = scenario
            other.devices[device] = .init(isFile: false, version: scenario.model.versions)
            _ = await takes(other)
        }
    }

    /// Replaces the rarer steps by plain exchanges, and shortens times.
    private mutating func simplifySteps() async {
        for index in scenario.steps.indices {
            let simpler: [Step] =
                switch scenario.steps[index] {
                case .die(let device, _): [.exchange(device: device)]
                case .trouble(let device, .rough):
                    PlaceTrouble.allCases.filter { $0 != .rough && $0 != .none }.map { .trouble(device: device, $0) }
                case .wait(let seconds) where seconds > 1: [.wait(seconds: 1)]
                case .restore(let device, false): [.restore(device: device, withSidecar: true)]
                default: []
                }
            for step in simpler {
                var other = scenario
                other.steps[index] = step
                if await takes(other) { break }
            }
        }
    }

    private mutating func simplifyModel() async {
        for index in scenario.model.relationships.indices.reversed() {
            var other = scenario
            other.model.relationships.remove(at: index)
            _ = await takes(other)
        }
        for index in scenario.model.entities.indices.reversed() {
            var other = scenario
            let name = scenario.model.entities[index].name
            other.model.entities.remove(at: index)
            if other.model.relationships.contains(where: { $0.source == name || $0.destination == name })
                || other.model.entities.contains(where: { $0.parent == name })
            {
                continue
            }
            if await takes(other) { continue }
            await simplifyEntity(index)
        }
    }

    private mutating func simplifyEntity(_ index: Int) async {
        for place in scenario.model.entities[index].attributes.indices.reversed() {
            var other = scenario
            other.model.entities[index].attributes.remove(at: place)
            _ = await takes(other)
        }
        for change in [
            { $0.hasCode = false }, { $0.editWins = false }, { $0.parent = nil },
            { (entity: inout SimulatedModel.Entity) in entity.identity = .random },
        ] {
            var other = scenario
            change(&other.model.entities[index])
            _ = await takes(other)
        }
    }
}

extension Step {
    /// The step if a device is left out; those behind it have smaller numbers then.
    func without(_ left: Int) -> Step? {
        guard let device else { return self }
        if device == left { return nil }
        let index = device > left ? device - 1 : device
        switch self {
        case .insert(_, let entity, let number, let owner):
            return .insert(device: index, entity: entity, number: number, owner: owner)
        case .set(_, let object, let attribute, let value):
            return .set(device: index, object: object, attribute: attribute, value: value)
        case .relate(_, let object, let relationship, let target):
            return .relate(device: index, object: object, relationship: relationship, target: target)
        case .unrelate(_, let object, let relationship, let target):
            return .unrelate(device: index, object: object, relationship: relationship, target: target)
        case .move(_, let object, let relationship, let from, let to):
            return .move(device: index, object: object, relationship: relationship, from: from, to: to)
        case .delete(_, let object): return .delete(device: index, object: object)
        case .batchInsert(_, let entity, let first, let count):
            return .batchInsert(device: index, entity: entity, first: first, count: count)
        case .batchUpdate(_, let entity, let attribute, let value, let first, let last):
            return .batchUpdate(
                device: index, entity: entity, attribute: attribute, value: value, first: first, last: last)
        case .batchDelete(_, let entity, let first, let last):
            return .batchDelete(device: index, entity: entity, first: first, last: last)
        case .save: return .save(device: index)
        case .exchange: return .exchange(device: index)
        case .die(_, let count): return .die(device: index, at: count)
        case .backUp: return .backUp(device: index)
        case .restore(_, let withSidecar): return .restore(device: index, withSidecar: withSidecar)
        case .copy(_, let to): return to == left ? nil : .copy(device: index, to: to > left ? to - 1 : to)
        case .purgeHistory: return .purgeHistory(device: index)
        case .upgrade: return .upgrade(device: index)
        case .setClock(_, let ahead): return .setClock(device: index, ahead: ahead)
        case .wait(let seconds): return .wait(seconds: seconds)
        case .trouble(_, let trouble): return .trouble(device: index, trouble)
        case .lose: return .lose(device: index)
        }
    }
}
