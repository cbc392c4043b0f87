import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore

/// A migration by mappings that only name properties, without custom policies and hooks: row by row, each row once. It
/// makes no objects.
///
/// ```
///  keys of all source rows ──▶ keys of all new rows are known ──▶ each row read, its keys replaced, written
/// ```
/// Its result is that of ``MigrationRun``, pass by pass. If a row is unexpected, for example one that validation would
/// refuse, it stops: then ``MigrationRun`` starts again, and reports the error.
struct RowMigration {
    /// A row is not as expected.
    struct UnexpectedRow: EngineFailure {}

    /// What becomes of a source row's columns, by one mapping.
    private struct MappedEntity {
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
        /// The key, and the entity's number if there is a column for it; by the mapping of that name, or by any.
        case relate(Int, root: Int, to: Int, entity: Int, mapping: String?, subtree: [Int])
    }

    private let manager: NSMigrationManager
    private let source: AttachedStore
    private let model: ModelRuntime
    private let mappings: [NSEntityMapping]
    private let isInferred: Bool
    private var mapped: [MappedEntity] = []

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
            guard let entity = Self.entity(mapping, from, to, pairs) else { return nil }
            mapped.append(entity)
        }
    }

    private static func entity(
        _ mapping: NSEntityMapping, _ from: EntityRuntime, _ to: EntityRuntime, _ pairs: MappingPairs
    ) -> MappedEntity? {
        var entity = MappedEntity(mapping: mapping, source: from, destination: to)
        guard let attributes = attributes(of: mapping, from, to),
            let relationships = relationships(of: mapping, from, to, pairs)
        else { return nil }
        for slot in to.slots where slot.attribute != nil && slot.column >= 0 && attributes[slot.property.slot] == nil {
            guard let value = slot.attribute?.defaultValue, !value.isNull else { continue }
            entity.steps.append(.constant(value, to: slot.column, slot: slot.property.slot))
        }
        entity.steps += attributes.values.compactMap { $0 } + relationships
        for slot in to.validation.mandatory {
            guard to.slots[slot].column >= 0, to.slots[slot].property.composite == nil else { return nil }
            entity.mandatory.append(to.slots[slot].column)
        }
        return entity
    }

    // MARK: Attributes

    /// Returns the step of each slot that the mapping sets; an empty step sets NULL.
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

    /// Makes the rows, and returns those that must still be validated.
    ///
    /// - Throws: ``UnexpectedRow``, the error of a cancellation, and the errors of writing.
    func run(into store: AttachedStore) throws -> KeyRuns {
        let destination = store.target
        var made = try keys(in: destination)
        var saved = KeyRuns()
        for (index, mapping) in mappings.enumerated() {
            try manager.step(Double(index) / Double(mappings.count))
            manager.begin(mapping)
            guard let entity = mapped.first(where: { $0.mapping === mapping }) else { continue }
            try RowWriting(self, entity, destination).run(&made, &saved)
        }
        return saved
    }

    /// What becomes of what, by the names of the mappings.
    private func keys(in destination: any RowSource) throws -> [String: KeyPairs] {
        var sources: [(MappedEntity, KeyRuns)] = []
        var counts: [Int: Int] = [:]
        for entity in mapped {
            guard destination.includes(entity: entity.destination.ordinal) else { throw UnexpectedRow() }
            let keys = try MappingSource(entity.mapping, entity.source, in: source, of: model).keys()
            counts[entity.destination.root, default: 0] += keys.count
            sources.append((entity, keys))
        }
        var next: [Int: Int64] = [:]
        for (root, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
            next[root] = try destination.allocateKeys(root: root, count: count).lowerBound
        }
        var made: [String: KeyPairs] = [:]
        for (entity, keys) in sources {
            var pairs = KeyPairs()
            let root = entity.destination.root
            for start in stride(from: 0, to: keys.count, by: 4096) {
                for key in keys.keys(start..<min(keys.count, start + 4096)) {
                    let new = next[root] ?? 1
                    next[root] = new + 1
                    pairs.append(key, .init(root: root, entity: entity.destination.ordinal, primaryKey: new))
                }
            }
            made[entity.mapping.name] = pairs
        }
        return made
    }

    /// The rows of one mapping on their way.
    private final class RowWriting {
        private let migration: RowMigration
        private let entity: MappedEntity
        private let destination: any RowSource
        private let builder: RowBuilder
        private let validates: Bool
        private let names: [String]
        private let origin: ChangeOrigin?
        private var changes = ChangeSet()
        private var byteCount = 0

        private static let portionSize = 8192
        private static let largestPortion = 4 << 20

        init(_ migration: RowMigration, _ entity: MappedEntity, _ destination: any RowSource) {
            self.migration = migration
            self.entity = entity
            self.destination = destination
            builder = RowBuilder(columnCount: entity.destination.layout.columns.count)
            validates = !entity.destination.validation.rules.isEmpty || !entity.destination.validation.counted.isEmpty
            names = migration.mappings.compactMap(\.name).sorted()
            origin = destination.recordsHistory ? ChangeOrigin(author: nil, contextName: nil) : nil
        }

        func run(_ made: inout [String: KeyPairs], _ saved: inout KeyRuns) throws {
            guard var own = made[entity.mapping.name], own.count > 0 else { return }
            let plan = try MappingSource(entity.mapping, entity.source, in: migration.source, of: migration.model).plan
            try CoreDataErrors.converting {
                try migration.source.source.fetchRows(plan) { rows in
                    for index in rows.indices {
                        let row = rows.view(index)
                        let key = KeyPairs.Key(root: entity.source.root, entity: row.entity, primaryKey: row.primaryKey)
                        guard let new = own.destinations(of: key).first else { throw UnexpectedRow() }
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
            // No reader exists yet.
            destination.rowCache.removeAll()
            changes = ChangeSet()
            byteCount = 0
        }

        private func add(_ row: RowView, _ primaryKey: Int64, _ made: inout [String: KeyPairs]) throws {
            for step in entity.steps {
                switch step {
                case .copy(let from, let to, let kind):
                    if row.isUnreadable(from) { throw UnexpectedRow() }
                    builder.copy(from, of: row, kind: kind, to: to)
                case .integer(let from, let to, let width):
                    if row.isNull(from) {
                        builder.setNull(at: to)
                    } else {
                        guard width.holds(row.integer(from)) else { throw UnexpectedRow() }
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
                        value, slot: slot, of: entity.destination, entity.destination.layout.kinds[to], at: to,
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
            for column in entity.mandatory where builder.isNull(column) { throw UnexpectedRow() }
            byteCount += builder.byteCount
            changes.insertions.append(
                ChangeSet.Insertion(
                    row: builder.finish(primaryKey: primaryKey, version: 1, entity: entity.destination.ordinal)))
        }

        private func destination(
            of key: KeyPairs.Key, _ name: String?, _ subtree: [Int], _ made: inout [String: KeyPairs]
        ) throws -> KeyPairs.Key? {
            if let name {
                if let found = made[name]?.destinations(of: key).first {
                    // The pass that makes objects reports the object of the wrong entity.
                    guard subtree.contains(Int(found.entity)) else { throw UnexpectedRow() }
                    return found
                }
                guard migration.isInferred else { return nil }
            }
            for other in names {
                guard let found = made[other]?.destinations(of: key), !found.isEmpty else { continue }
                if let fitting = found.first(where: { subtree.contains(Int($0.entity)) }) { return fitting }
                if name != nil { throw UnexpectedRow() }
                return nil
            }
            return nil
        }
    }
}
