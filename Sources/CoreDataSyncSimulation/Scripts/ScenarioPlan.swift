/// What a random scenario consists of.
package struct ScenarioPlan: Hashable, Sendable {
    package var seed: UInt64
    package var edits: Int
    package var devices: Int
    /// What happens beside edits and exchanges.
    package var hazards: Set<Hazard>
    /// `nil` for a random model.
    package var model: SimulatedModel?

    package init(
        seed: UInt64, edits: Int, devices: Int = 3, hazards: Set<Hazard> = Set(Hazard.allCases),
        model: SimulatedModel? = nil
    ) {
        (self.seed, self.edits, self.devices, self.hazards, self.model) = (seed, edits, devices, hazards, model)
    }

    package enum Hazard: String, Hashable, Sendable, CaseIterable, Comparable {
        /// A place that fails in every way.
        case place
        /// Files that get lost.
        case losses
        /// Devices that die in an exchange.
        case deaths
        /// Stores that are restored from a backup.
        case restores
        /// Devices that are copied.
        case copies
        /// Clocks that are wrong.
        case clocks
        /// Months of silence.
        case silence
        /// Two versions of the model.
        case versions
        /// Batch requests.
        case batches
        /// Histories that are purged.
        case purges

        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }
}

extension Scenario {
    /// Makes a scenario from a seed.
    package static func random(_ plan: ScenarioPlan) -> Scenario {
        var generator = ScenarioGenerator(plan)
        return generator.make()
    }
}

/// Makes the steps of one scenario.
struct ScenarioGenerator {
    private let plan: ScenarioPlan
    private var numbers: SimulationNumbers
    private let model: SimulatedModel
    private var devices: [Scenario.Device] = []
    private var steps: [Step] = []
    private var edits = 0
    /// The last number of an object, and the last value.
    private var lastNumber = 0
    private var lastValue = 0
    /// Numbers of objects that may exist, by entity.
    private var known: [String: [Int]] = [:]
    /// A device that says nothing until so many edits were made.
    private var silence: (device: Int, until: Int)?

    init(_ plan: ScenarioPlan) {
        self.plan = plan
        numbers = SimulationNumbers(seed: plan.seed, "scenario")
        var forModel = SimulationNumbers(seed: plan.seed, "model")
        model = plan.model ?? .random(&forModel, versions: plan.hazards.contains(.versions) ? 2 : 1)
    }

    mutating func make() -> Scenario {
        let needsFile = !plan.hazards.isDisjoint(with: [.deaths, .restores, .copies, .versions, .purges])
        for _ in 0..<max(1, plan.devices) {
            let isFile = needsFile && !numbers.chance(4)
            // A store in memory has no later version of its model.
            let isOld = isFile && plan.hazards.contains(.versions) && numbers.chance(2)
            devices.append(.init(isFile: isFile, version: isOld ? 1 : model.versions))
        }
        while edits < plan.edits {
            let device = device()
            for _ in 0..<(1 + numbers.below(12)) { edit(device) }
            if !numbers.chance(5) { steps.append(.save(device: device)) }
            if numbers.chance(2) { steps.append(.exchange(device: self.device())) }
            hazard()
        }
        return Scenario(seed: plan.seed, model: model, devices: devices, steps: steps)
    }

    /// A device that is not silent.
    private mutating func device() -> Int {
        let device = numbers.below(devices.count)
        if let silence, devices.count > 1 {
            if edits >= silence.until {
                self.silence = nil
            } else if silence.device == device {
                return (device + 1) % devices.count
            }
        }
        return device
    }

    // MARK: Edits

    private mutating func edit(_ device: Int) {
        let entity = numbers.pick(model.entities)
        let objects = known[entity.name] ?? []
        let step: Step
        if objects.count < 3 || numbers.chance(6) {
            step = insertion(device, entity)
        } else {
            let object = object(of: entity.name) ?? 0
            switch numbers.below(20) {
            case 0..<2: step = deletion(device, object, entity.name)
            case 2..<9: step = relation(device, object, entity.name) ?? setting(device, object, entity.name)
            case 9 where plan.hazards.contains(.batches): step = batch(device, object, entity.name)
            default: step = setting(device, object, entity.name)
            }
        }
        steps.append(step)
        edits += step.edits
    }

    private mutating func object(of entity: String) -> Int? {
        let names = model.entities.map(\.name).filter { name in model.lineage(name).contains { $0.name == entity } }
        let some = known[numbers.pick(names)] ?? known[entity] ?? []
        guard !some.isEmpty else { return nil }
        // Recent objects more often, so that several devices edit one.
        return numbers.chance(2) ? some[some.count - 1 - numbers.below(min(8, some.count))] : numbers.pick(some)
    }

    private mutating func insertion(_ device: Int, _ entity: SimulatedModel.Entity) -> Step {
        let number: Int
        let isShared = model.root(of: entity.name)?.identity != .random
        if isShared, let some = known[entity.name], !some.isEmpty, numbers.chance(2) {
            // The same object on another device, or after its deletion.
            number = numbers.pick(some)
        } else {
            lastNumber += 1
            number = lastNumber
            known[entity.name, default: []].append(number)
            if known[entity.name, default: []].count > 60 { known[entity.name]?.removeFirst() }
        }
        let owner = model.sides(of: entity.name).first(where: \.isRequired).flatMap { object(of: $0.destination) }
        return .insert(device: device, entity: entity.name, number: number, owner: owner)
    }

    private mutating func deletion(_ device: Int, _ object: Int, _ entity: String) -> Step {
        if numbers.chance(2) { known[entity]?.removeAll { $0 == object } }
        return .delete(device: device, object: object)
    }

    private mutating func value() -> Int {
        lastValue += 1
        return lastValue
    }

    private mutating func setting(_ device: Int, _ object: Int, _ entity: String) -> Step {
        if model.root(of: entity)?.hasCode == true, numbers.chance(8) {
            return .set(device: device, object: object, attribute: "code", value: 1 + numbers.below(12))
        }
        let attributes = model.attributes(of: entity)
        guard !attributes.isEmpty else { return .set(device: device, object: object, attribute: "none", value: 1) }
        let attribute = numbers.pick(attributes)
        let value = value()
        // A sum, a minimum and a maximum go up and down.
        let shown = attribute.merge == .last ? value : attribute.merge == .sum ? numbers.below(100) : 1 + value
        return .set(
            device: device, object: object, attribute: attribute.name, value: numbers.chance(12) ? nil : shown)
    }

    private mutating func relation(_ device: Int, _ object: Int, _ entity: String) -> Step? {
        let sides = model.sides(of: entity)
        guard !sides.isEmpty else { return nil }
        let side = numbers.pick(sides)
        guard let target = self.object(of: side.destination) else { return nil }
        if side.isOrdered, numbers.chance(2) {
            return .move(
                device: device, object: object, relationship: side.name, from: numbers.below(6), to: numbers.below(6))
        }
        if side.isToMany, numbers.chance(4) {
            return .unrelate(device: device, object: object, relationship: side.name, target: target)
        }
        let isEmptied = !side.isToMany && !side.isRequired && numbers.chance(6)
        return .relate(device: device, object: object, relationship: side.name, target: isEmptied ? nil : target)
    }

    private mutating func batch(_ device: Int, _ object: Int, _ entity: String) -> Step {
        switch numbers.below(4) {
        case 0 where !model.sides(of: entity).contains(where: \.isRequired):
            let (first, count) = (lastNumber + 1, 1 + numbers.below(5))
            lastNumber += count
            known[entity, default: []] += first...lastNumber
            return .batchInsert(device: device, entity: entity, first: first, count: count)
        case 1 where !model.canDeny:
            return .batchDelete(device: device, entity: entity, first: object, last: object + numbers.below(2))
        default:
            let plain = model.attributes(of: entity).filter {
                $0.merge == .last && $0.kind != .composite && $0.kind != .transformable
            }
            guard !plain.isEmpty else { return setting(device, object, entity) }
            return .batchUpdate(
                device: device, entity: entity, attribute: numbers.pick(plain).name, value: value(), first: object,
                last: object + numbers.below(4))
        }
    }

    // MARK: Hazards

    private mutating func hazard() {
        guard !plan.hazards.isEmpty, numbers.chance(2) else { return }
        let (device, hazard) = (device(), numbers.pick(plan.hazards.sorted()))
        let isFile = devices[device].isFile
        switch hazard {
        case .place:
            let trouble = numbers.chance(2) ? PlaceTrouble.none : numbers.pick(PlaceTrouble.allCases)
            steps.append(.trouble(device: device, trouble))
        case .losses: steps.append(.lose(device: device))
        case .deaths where isFile: steps.append(.die(device: device, at: 1 + numbers.below(25)))
        case .restores where isFile:
            let isBackup = numbers.chance(2)
            steps.append(
                isBackup ? .backUp(device: device) : .restore(device: device, withSidecar: numbers.chance(2)))
        case .copies where isFile && devices.count < 2 * plan.devices && numbers.chance(6):
            devices.append(devices[device])
            steps.append(.copy(device: device, to: devices.count - 1))
        case .clocks:
            let hours = numbers.pick([0, 0, -400 * 24, -30, -1, 1, 5, 20, 40])
            steps.append(.setClock(device: device, ahead: hours * 3600))
        case .silence where silence == nil && numbers.chance(4):
            silence = (device, edits + 100 + numbers.below(300))
            steps.append(.wait(seconds: numbers.pick([3_600, 86_400, 40 * 86_400, 90 * 86_400])))
        case .versions where isFile: steps.append(.upgrade(device: device))
        case .purges where isFile: steps.append(.purgeHistory(device: device))
        default: steps.append(.wait(seconds: 1 + numbers.below(600)))
        }
    }
}
