import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Sets the derived attributes of a ``MemoryGraph`` like the triggers of an SQL store: after changes on either side of
/// a relationship, and without incrementing versions.
struct MemoryDerivations {
    private struct Attribute {
        var derivation: Derivation
        /// The entity that declares the attribute.
        var entity: CompiledEntity
        var property: CompiledProperty
    }

    /// The old and the new row; one of them may be missing.
    struct Change {
        var old: RowSnapshot?
        var new: RowSnapshot?

        var row: RowSnapshot? { new ?? old }
    }

    private let model: CompiledModel
    private let attributes: [Attribute]
    /// The derived columns by entity.
    private let columns: [[Int]]

    /// - Throws: ``StoreFailure`` for an invalid expression.
    init(model: CompiledModel, entities: Set<Int>) throws {
        self.model = model
        var attributes: [Attribute] = []
        var columns = [[Int]](repeating: [], count: model.entities.count)
        for entity in model.entities where entities.contains(entity.ordinal) {
            for property in entity.properties where property.attribute?.isDerived == true && !property.isTransient {
                columns[entity.ordinal].append(entity.rowLayout.columnOfSlot[property.slot])
                guard property.declaringEntity == entity.ordinal else { continue }
                attributes.append(try Self.attribute(property, entity, model))
            }
        }
        self.attributes = attributes
        self.columns = columns
    }

    private static func attribute(
        _ property: CompiledProperty, _ entity: CompiledEntity, _ model: CompiledModel
    ) throws -> Attribute {
        let text = property.attribute?.derivationExpression ?? ""
        func failure(_ reason: String) -> StoreFailure {
            StoreFailure(
                .unsupportedModel,
                "The derived attribute '\(property.name)' of entity '\(entity.name)' (\(text)) cannot be stored: \(reason).",
                entity: entity.name, property: property.name)
        }
        guard property.attribute?.derivationFilter == nil else {
            throw failure("a derivation with a filter predicate is not supported")
        }
        do {
            return Attribute(
                derivation: try Derivation.read(text, entity: entity, model: model), entity: entity, property: property)
        } catch let problem as Derivation.Problem {
            throw failure(problem.reason)
        }
    }

    // MARK: After a save

    /// Returns the row with the graph's derived values, ignoring values that a client set.
    func keepingDerived(_ row: RowSnapshot, of graph: MemoryGraph) -> RowSnapshot {
        let derived = columns[row.entity]
        guard !derived.isEmpty else { return row }
        let known = graph.row(row.primaryKey, root: model.entities[row.entity].root)
        let layout = model.entities[row.entity].rowLayout
        return Self.copy(row, layout) { column, builder in
            guard derived.contains(column) else { return false }
            if let known { builder.copy(column, kind: layout.kinds[column], from: known) }
            return true
        }
    }

    /// Sets the attributes affected by the changes; returns the changed rows without duplicates.
    func update(_ graph: inout MemoryGraph, after changes: [Change], links: [ChangeSet.Link], now: Double) -> [RowKey] {
        guard !attributes.isEmpty else { return [] }
        var keys: [RowKey] = []
        var seen: Set<RowKey> = []
        var (changes, links, isFirst) = (changes, links, true)
        // Derived values may be the source of others; the limit ends cycles.
        for _ in 0..<16 {
            var next: [Change] = []
            for attribute in attributes {
                for key in rows(of: attribute, toSetAfter: changes, links, isFirst: isFirst, in: graph) {
                    guard let row = graph.row(key.primaryKey, root: attribute.entity.root) else { continue }
                    if seen.insert(row.key).inserted { keys.append(row.key) }
                    let set = self.set(attribute, of: row, in: graph, now: now)
                    graph.put(set)
                    let column = model.entities[row.entity].rowLayout.columnOfSlot[attribute.property.slot]
                    let kind = model.entities[row.entity].rowLayout.kinds[column]
                    if !set.isEqual(to: row, at: column, kind: kind) { next.append(Change(old: row, new: set)) }
                }
            }
            if next.isEmpty { break }
            (changes, links, isFirst) = (next, [], false)
        }
        return keys
    }

    /// Returns the rows whose attribute the changes affect.
    private func rows(
        of attribute: Attribute, toSetAfter changes: [Change], _ links: [ChangeSet.Link], isFirst: Bool,
        in graph: MemoryGraph
    ) -> [RowKey] {
        var keys: [RowKey] = []
        var seen: Set<Int64> = []
        func add(_ key: Int64) {
            if seen.insert(key).inserted { keys.append(RowKey(entity: attribute.entity.ordinal, primaryKey: key)) }
        }
        for change in changes {
            guard let new = change.new, attribute.entity.subtree.contains(new.entity) else { continue }
            if change.old == nil || isOwnCause(change, of: attribute, isFirst: isFirst) { add(new.primaryKey) }
        }
        switch attribute.derivation.source {
        case .now, .own: break
        case .destination(let first, let read):
            guard let destination = first.relationship?.destination else { break }
            for change in changes {
                guard let new = change.new, model.entities[destination].subtree.contains(new.entity),
                    change.old == nil || differs(change, .attribute(slot: read.slot))
                else { continue }
                let role = RowLayout.Role.destinationKey(slot: first.slot)
                for row in graph.rows(referringTo: new.primaryKey, by: role, root: attribute.entity.root)
                where attribute.entity.subtree.contains(row.entity) {
                    add(row.primaryKey)
                }
            }
        case .count(let property), .aggregate(_, let property, _):
            owners(property, attribute, changes, links).forEach(add)
        }
        return keys
    }

    /// Returns whether a change in the row itself affects the attribute.
    private func isOwnCause(_ change: Change, of attribute: Attribute, isFirst: Bool) -> Bool {
        switch attribute.derivation.source {
        case .now: isFirst
        case .own(let read): differs(change, .attribute(slot: read.slot))
        case .destination(let first, _): differs(change, .destinationKey(slot: first.slot))
        case .count, .aggregate: false
        }
    }

    /// Returns the owners of a to-many whose members were added, removed or changed.
    private func owners(
        _ property: CompiledProperty, _ attribute: Attribute, _ changes: [Change], _ links: [ChangeSet.Link]
    ) -> [Int64] {
        guard let relationship = property.relationship else { return [] }
        let inverse = model.inverse(of: relationship)
        if let inverse, inverse.relationship?.isToMany == true {
            let own = (property.declaringEntity, property.slot)
            return links.flatMap { link -> [Int64] in
                let linked = model.entities[link.entity].properties[link.slot]
                let isOwn = (linked.declaringEntity, linked.slot) == own
                let isInverse = (linked.declaringEntity, linked.slot) == (inverse.declaringEntity, inverse.slot)
                return (isOwn ? [link.owner] : []) + (isInverse ? [link.destination] : [])
            }
        }
        let role: RowLayout.Role =
            inverse.map { .destinationKey(slot: $0.slot) }
            ?? .ownerKey(entity: property.declaringEntity, slot: property.slot)
        let members = model.entities[relationship.destination].subtree
        var owners: [Int64] = []
        for change in changes {
            guard let row = change.row, members.contains(row.entity) else { continue }
            var isConcerned = change.old == nil || change.new == nil || differs(change, role)
            if case .aggregate(_, _, let read) = attribute.derivation.source, !isConcerned {
                isConcerned = differs(change, .attribute(slot: read.slot))
            }
            guard isConcerned, let column = model.entities[row.entity].rowLayout.column(of: role) else { continue }
            for row in [change.old, change.new] {
                if let row, !row.isNull(column) { owners.append(row.integer(column)) }
            }
        }
        return owners
    }

    private func differs(_ change: Change, _ role: RowLayout.Role) -> Bool {
        guard let old = change.old, let new = change.new else { return true }
        let layout = model.entities[new.entity].rowLayout
        guard let column = layout.column(of: role) else { return false }
        return !old.isEqual(to: new, at: column, kind: layout.kinds[column])
    }

    // MARK: Values

    private func set(
        _ attribute: Attribute, of row: RowSnapshot, in graph: MemoryGraph, now: Double
    ) -> RowSnapshot {
        let layout = model.entities[row.entity].rowLayout
        let derived = layout.columnOfSlot[attribute.property.slot]
        let value = value(attribute.derivation, of: row, in: graph, now: now)
        return Self.copy(row, layout) { column, builder in
            guard column == derived else { return false }
            builder.set(value, layout.kinds[column], at: column)
            return true
        }
    }

    private func value(
        _ derivation: Derivation, of row: RowSnapshot, in graph: MemoryGraph, now: Double
    ) -> Value {
        let read: [String]
        switch derivation.source {
        case .now: return .date(now)
        case .own(let attribute): read = [attribute.name]
        case .destination(let first, let attribute): read = [first.name, attribute.name]
        case .count(let property):
            return .integer(
                Int64(graph.memberCount(of: row.primaryKey, entity: row.entity, slot: property.slot)))
        case .aggregate(let aggregate, let property, let attribute):
            let members = graph.members(of: row.primaryKey, entity: row.entity, slot: property.slot)
            let values = members.compactMap { member -> Constant? in
                let column = model.entities[member.entity].rowLayout.columnOfSlot[attribute.slot]
                let value = member.value(column, attribute.attribute?.type.kind ?? .object)
                return value.isNull ? nil : .value(value)
            }
            // As in SQL, the sum of no values is 0, and every other aggregate is nil.
            if values.isEmpty { return aggregate == .sum ? .integer(0) : .null }
            return Self.value(
                .function(aggregate.predicateName, [.constant(.collection(values, isOrdered: true))]), of: .null)
        }
        let path = ExpressionNode.keyPath(operand: .evaluatedObject, read)
        let expression = derivation.function.map { ExpressionNode.function($0.rawValue + ":", [path]) } ?? path
        return Self.value(expression, of: .object(MemoryObject(row, in: graph)))
    }

    private static func value(_ expression: ExpressionNode, of object: Operand) -> Value {
        guard case .value(let value)? = try? ExpressionEvaluator(expression).value(for: object) else { return .null }
        return value
    }

    /// Returns the row with the columns that `set` changes.
    private static func copy(
        _ row: RowSnapshot, _ layout: RowLayout, _ set: (Int, RowBuilder) -> Bool
    ) -> RowSnapshot {
        let builder = RowBuilder(columnCount: layout.columns.count)
        for column in layout.columns.indices where !set(column, builder) {
            builder.copy(column, kind: layout.kinds[column], from: row)
        }
        return builder.finish(primaryKey: row.primaryKey, version: row.version, entity: row.entity)
    }
}

extension Derivation.Aggregate {
    fileprivate var predicateName: String { self == .average ? "average:" : rawValue + ":" }
}
