import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore

/// A migration by mappings that only name properties, whose policies and classes have nothing of their own to do: row by row, and
/// each row once. No object is made.
///
/// ```
///  keys of all source rows ──▶ keys of all new rows are known ──▶ each row read, its keys exchanged, written
/// ```
/// What it makes is what ``MigrationRun`` would make, pass by pass. Where a row is not as expected, as one that validation would refuse,
/// it gives up: then that one starts anew, and tells.
struct RowMigration {
    /// A row is not as expected.
    struct GivenUp: EngineFailure {}

    /// What becomes of a source row's columns, by one mapping.
    private struct Leg {
        let mapping: NSEntityMapping
        let source: EntityRuntime
        let destination: EntityRuntime
        var steps: [Step] = []
        /// The columns that must not be NULL.
        var mandatory: [Int] = []
    }

    private enum Step {
        case copy(Int, to: Int, ColumnKind)
        case integer(Int, to: Int, AccessKind)
        case boolean(Int, to: Int)
        case constant(Value, to: Int, slot: Int)
        /// The key, and the entity's number where there is a column for it; by the mapping of that name, or by whichever.
        case relate(Int, root: Int, to: Int, entity: Int, mapping: String?, subtree: [Int])
    }

    private let manager: NSMigrationManager
    private let source: AttachedStore
    private let model: ModelRuntime
    private let mappings: [NSEntityMapping]
    private let isInferred: Bool
    private var legs: [Leg] = []

    /// - Returns: `nil` where policies, classes, expressions or relationships ask for objects.
    init?(
        _ manager: NSMigrationManager, _ mappings: [NSEntityMapping], from coordinator: NSPersistentStoreCoordinator,
        to new: ModelRuntime
    ) {
        guard type(of: manager) == NSMigrationManager.self, let store = coordinator.attachedStores.first,
            mappings.allSatisfy({ ($0.entityMigrationPolicyClassName ?? "").isEmpty }),
            Set(mappings.map(\.name)).count == mappings.count
        else { return nil }
        self.manager = manager
        self.mappings = mappings
        source = store
        model = coordinator.runtime
        isInferred = manager.mappingModel?.isInferred == true
        let pairs = MappingPairs(mappings: mappings, old: model, new: new, isInferred: isInferred)
        for mapping in mappings {
            if mapping.mappingType == .addEntityMappingType || mapping.mappingType == .removeEntityMappingType {
                continue
            }
            guard let name = mapping.sourceEntityName else { continue }
            guard let from = model.entity(named: name),
                let to = mapping.destinationEntityName.flatMap(new.entity(named:)), !to.compiled.isAbstract,
                !from.hasHooksOfNewObjects, !to.hasHooksOfNewObjects
            else { return nil }
            guard let leg = Self.leg(mapping, from, to, pairs) else { return nil }
            legs.append(leg)
        }
    }

    private static func leg(
        _ mapping: NSEntityMapping, _ from: EntityRuntime, _ to: EntityRuntime, _ pairs: MappingPairs
    ) -> Leg? {
        var leg = Leg(mapping: mapping, source: from, destination: to)
        guard let attributes = attributes(of: mapping, from, to),
            let relationships = relationships(of: mapping, from, to, pairs)
        else { return nil }
        for slot in to.slots where slot.attribute != nil && slot.column >= 0 && attributes[slot.property.slot] == nil {
            guard let value = slot.attribute?.defaultValue, !value.isNull else { continue }
            leg.steps.append(.constant(value, to: slot.column, slot: slot.property.slot))
        }
        leg.steps += attributes.values.compactMap { $0 } + relationships
        for slot in to.validation.mandatory {
            guard to.slots[slot].column >= 0, to.slots[slot].property.composite == nil else { return nil }
            leg.mandatory.append(to.slots[slot].column)
        }
        return leg
    }

    // MARK: Attributes

    /// The step of each slot that the mapping sets, an empty one where it becomes NULL.
    private static func attributes(
        of mapping: NSEntityMapping, _ from: EntityRuntime, _ to: EntityRuntime
    ) -> [Int: Step?]? {
        var steps: [Int: Step?] = [:]
        guard let properties = mapping.attributeMappings else {
            for slot in from.slots where slot.attribute != nil && slot.property.composite == nil {
                guard let own = to.slot(forKey: slot.name).map({ to.slots[$0] }), own.type == slot.type,
                    !own.property.isTransient, own.attribute?.isDerived == false
                else { continue }
                guard let step = copy(slot, to: own) else { return nil }
                steps[own.property.slot] = .some(step)
            }
            return steps
        }
        for property in properties {
            guard let name = property.name, let expression = property.valueExpression else { continue }
            guard let slot = to.slot(forKey: name).map({ to.slots[$0] }), let attribute = slot.attribute,
                slot.kind != .composite, slot.property.composite == nil
            else { return nil }
            if attribute.isDerived { continue }
            if slot.column < 0 { return nil }
            if let (near, _) = PlainMappings.slots(property, expression.node, from, to) {
                guard from.slots[near].attribute != nil, let step = copy(from.slots[near], to: slot) else { return nil }
                steps[slot.property.slot] = .some(step)
            } else if case .constant = expression.node {
                guard let value = constant(expression, slot) else { return nil }
                steps[slot.property.slot] =
                    value.isNull ? .some(nil) : .some(.constant(value, to: slot.column, slot: slot.property.slot))
            } else {
                return nil
            }
        }
        return steps
    }

    private static func copy(_ from: EntityRuntime.Slot, to: EntityRuntime.Slot) -> Step? {
        guard from.type == to.type, from.column >= 0, to.column >= 0, from.property.composite == nil,
            to.property.composite == nil
        else { return nil }
        switch from.kind {
        case .boolean: return .boolean(from.column, to: to.column)
        case .integer: return .integer(from.column, to: to.column, AccessKind(to))
        case .real, .single, .date, .text, .link, .decimal, .identifier, .bytes:
            return .copy(from.column, to: to.column, to.kind.columnKind)
        case .object, .reference, .composite: return nil
        }
    }

    private static func constant(_ expression: NSExpression, _ slot: EntityRuntime.Slot) -> Value? {
        guard let value = expression.expressionValue(with: nil, context: nil), !(value is NSNull) else { return .null }
        guard slot.kind != .object, let accepted = ManagedObjectValues.acceptedValue(value, slot.kind) else {
            return nil
        }
        if case .integer(let number) = accepted, !AccessKind(slot).holds(number) { return nil }
        return accepted
    }

    // MARK: Relationships

    private static func relationships(
        of mapping: NSEntityMapping, _ from: EntityRuntime, _ to: EntityRuntime, _ pairs: MappingPairs
    ) -> [Step]? {
        guard let properties = mapping.relationshipMappings else { return [] }
        let plain = PlainMappings(mapping, from: from, to: to).relationships
        var steps: [Step] = []
        for (property, step) in zip(properties, plain) where property.name != nil && property.valueExpression != nil {
            guard case .relate(let near, let far, let name) = step else { return nil }
            let (old, new) = (from.slots[near], to.slots[far])
            if new.relationship?.inverseSlot != nil, !pairs.arePlain(to, far, oneToOne: true) { return nil }
            if new.isToMany {
                // The members say so themselves.
                if new.relationship?.inverseSlot == nil { return nil }
                continue
            }
            guard !old.isToMany, old.column >= 0, new.column >= 0, !new.property.isTransient else { return nil }
            steps.append(
                .relate(
                    old.column, root: old.destinationRoot, to: new.column, entity: new.entityColumn, mapping: name,
                    subtree: new.destinationSubtree))
        }
        return steps
    }

    // MARK: Running

    /// Makes the rows, and tells which are to be validated yet.
    ///
    /// - Throws: ``GivenUp``, what the manager was cancelled with, and what writing may throw.
    func run(into store: AttachedStore) throws -> KeyRuns {
        let destination = store.target
        var made = try keys(in: destination)
        var saved = KeyRuns()
        for (index, mapping) in mappings.enumerated() {
            try manager.step(Double(index) / Double(mappings.count))
            manager.begin(mapping)
            guard let leg = legs.first(where: { $0.mapping === mapping }) else { continue }
            try RowWriting(self, leg, destination).run(&made, &saved)
        }
        return saved
    }

    /// What becomes of what, by the names of the mappings.
    private func keys(in destination: any RowSource) throws -> [String: KeyPairs] {
        var sources: [(Leg, KeyRuns)] = []
        var counts: [Int: Int] = [:]
        for leg in legs {
            guard destination.includes(entity: leg.destination.ordinal) else { throw GivenUp() }
            let keys = try MappingSource(leg.mapping, leg.source, in: source, of: model).keys()
            counts[leg.destination.root, default: 0] += keys.count
            sources.append((leg, keys))
        }
        var next: [Int: Int64] = [:]
        for (root, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
            next[root] = try destination.allocateKeys(root: root, count: count).lowerBound
        }
        var made: [String: KeyPairs] = [:]
        for (leg, keys) in sources {
            var pairs = KeyPairs()
            let root = leg.destination.root
            for start in stride(from: 0, to: keys.count, by: 4096) {
                for key in keys.keys(start..<min(keys.count, start + 4096)) {
                    let new = next[root] ?? 1
                    next[root] = new + 1
                    pairs.append(key, .init(root: root, entity: leg.destination.ordinal, primaryKey: new))
                }
            }
            made[leg.mapping.name] = pairs
        }
        return made
    }

    /// The rows of one mapping on their way.
    private final class RowWriting {
        private let migration: RowMigration
        private let leg: Leg
        private let destination: any RowSource
        private let builder: RowBuilder
        private let validates: Bool
        private let names: [String]
        private let origin: ChangeOrigin?
        private var changes = ChangeSet()
        private var byteCount = 0

        private static let portionSize = 8192
        private static let largestPortion = 4 << 20

        init(_ migration: RowMigration, _ leg: Leg, _ destination: any RowSource) {
            self.migration = migration
            self.leg = leg
            self.destination = destination
            builder = RowBuilder(columnCount: leg.destination.layout.columns.count)
            validates = !leg.destination.validation.rules.isEmpty || !leg.destination.validation.counted.isEmpty
            names = migration.mappings.compactMap(\.name).sorted()
            origin = destination.recordsHistory ? ChangeOrigin(author: nil, contextName: nil) : nil
        }

        func run(_ made: inout [String: KeyPairs], _ saved: inout KeyRuns) throws {
            guard var own = made[leg.mapping.name], own.count > 0 else { return }
            let plan = try MappingSource(leg.mapping, leg.source, in: migration.source, of: migration.model).plan
            try CoreDataErrors.converting {
                try migration.source.source.fetchRows(plan) { rows in
                    for index in rows.indices {
                        let row = rows.view(index)
                        let key = KeyPairs.Key(root: leg.source.root, entity: row.entity, primaryKey: row.primaryKey)
                        guard let new = own.destinations(of: key).first else { throw GivenUp() }
                        try add(row, new.primaryKey, &made)
                        if validates { saved.append(new) }
                        if changes.insertions.count == Self.portionSize || byteCount > Self.largestPortion {
                            try finishPortion()
                        }
                    }
                }
                try finishPortion()
            }
        }

        private func finishPortion() throws {
            guard !changes.insertions.isEmpty else { return }
            try migration.manager.step()
            changes.origin = origin
            _ = try destination.save(keys: [:]) { _ in changes }
            // Nobody reads from it yet.
            destination.rowCache.removeAll()
            changes = ChangeSet()
            byteCount = 0
        }

        private func add(_ row: RowView, _ primaryKey: Int64, _ made: inout [String: KeyPairs]) throws {
            for step in leg.steps {
                switch step {
                case .copy(let from, let to, let kind):
                    if row.isUnreadable(from) { throw GivenUp() }
                    builder.copy(from, of: row, kind: kind, to: to)
                case .integer(let from, let to, let width):
                    if row.isNull(from) {
                        builder.setNull(at: to)
                    } else {
                        guard width.holds(row.integer(from)) else { throw GivenUp() }
                        builder.setInteger(row.integer(from), at: to)
                    }
                case .boolean(let from, let to):
                    if row.isNull(from) {
                        builder.setNull(at: to)
                    } else {
                        builder.setInteger(row.integer(from) == 0 ? 0 : 1, at: to)
                    }
                case .constant(let value, let to, let slot):
                    try ManagedObjectValues.encode(
                        value, slot: slot, of: leg.destination, leg.destination.layout.kinds[to], at: to,
                        into: builder)
                case .relate(let from, let root, let to, let entity, let name, let subtree):
                    guard !row.isNull(from) else { continue }
                    let key = KeyPairs.Key(root: root, entity: 0, primaryKey: row.integer(from))
                    guard let found = try destination(of: key, name, subtree, &made) else { continue }
                    builder.setInteger(found.primaryKey, at: to)
                    if entity >= 0 {
                        builder.setInteger(destination.number(ofEntity: Int(found.entity)), at: entity)
                    }
                }
            }
            for column in leg.mandatory where builder.isNull(column) { throw GivenUp() }
            byteCount += builder.byteCount
            changes.insertions.append(
                ChangeSet.Insertion(
                    row: builder.finish(primaryKey: primaryKey, version: 1, entity: leg.destination.ordinal)))
        }

        private func destination(
            of key: KeyPairs.Key, _ name: String?, _ subtree: [Int], _ made: inout [String: KeyPairs]
        ) throws -> KeyPairs.Key? {
            if let name {
                if let found = made[name]?.destinations(of: key).first {
                    // Which object is of the wrong entity is told by who makes objects.
                    guard subtree.contains(Int(found.entity)) else { throw GivenUp() }
                    return found
                }
                guard migration.isInferred else { return nil }
            }
            for other in names {
                guard let found = made[other]?.destinations(of: key), !found.isEmpty else { continue }
                if let fitting = found.first(where: { subtree.contains(Int($0.entity)) }) { return fitting }
                if name != nil { throw GivenUp() }
                return nil
            }
            return nil
        }
    }
}
