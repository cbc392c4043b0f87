import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Copies the rows of one source to an empty one, independent of their kinds.
///
/// ```
///  rows of every entity, in portions ──▶ pairs of many-to-many relationships, owner by owner
/// ```
/// Rows keep their keys, unless the target assigns keys of its own kind. Only one portion is in memory at a time, and
/// the keys.
package struct RowCopy {
    private let source: any RowSource
    private let target: any RowSource
    private let model: CompiledModel
    private let entities: [Int]
    private let origin: ChangeOrigin?
    private let portionSize: Int
    /// Whether rows keep their keys even if the target assigns keys of its own kind.
    private let keepsKeys: Bool
    private let write: (ChangeSet) throws -> Void
    /// Called after each portion with the number of rows and pairs so far.
    package var progress: (Int) -> Void = { _ in }
    /// Called with whether the target is working from now on, and so causes failures.
    package var writing: (Bool) -> Void = { _ in }
    /// Whether the target may already contain portions from an earlier, interrupted copy of the same source.
    package var goesOn = false
    /// Called with the number of rows and pairs that already exist.
    package var found: (Int) -> Void = { _ in }

    package init(from source: any RowSource, to target: any RowSource, model: CompiledModel) {
        self.init(from: source, to: target, model: model, keepsKeys: false) { changes in
            _ = try target.save(keys: [:]) { _ in changes }
            // The target has no readers yet, so it need not cache the rows.
            target.rowCache.removeAll()
        }
    }

    private init(
        from source: any RowSource, to target: any RowSource, model: CompiledModel, keepsKeys: Bool,
        write: @escaping (ChangeSet) throws -> Void
    ) {
        self.keepsKeys = keepsKeys
        self.write = write
        self.source = source
        self.target = target
        self.model = model
        entities = model.entities.indices.filter { source.includes(entity: $0) }
        origin = target.recordsHistory ? ChangeOrigin(author: nil, contextName: nil) : nil
        portionSize = (target as? any CopyTarget)?.copiedPortion ?? 1024
    }

    /// - Throws: ``StoreFailure`` for an entity that the target lacks; ``ExternalDataFailure`` for an unreadable value.
    ///   The target then contains the rows copied so far.
    package func run() throws {
        if let missing = entities.first(where: { !target.includes(entity: $0) && !model.entities[$0].isAbstract }) {
            throw StoreFailure(
                .unknownConfiguration, "The other store has no entity '\(model.entities[missing].name)'.",
                entity: model.entities[missing].name)
        }
        guard let filled = target as? any CopyTarget else { return try copy() }
        try filled.filling { try copy() }
        writing(true)
        try filled.endCopy(
            highestKeys: { try (source as? any CopyableSource)?.highestKeys() ?? [:] }, wasResumed: goesOn)
    }

    private func copy() throws {
        let keys = try newKeys()
        var done = 0
        func write(_ changes: ChangeSet) throws {
            writing(true)
            try self.write(changes)
            writing(false)
            done += changes.insertions.count + changes.links.count
            progress(done)
        }
        func skip(_ count: Int) {
            guard count > 0 else { return }
            done += count
            found(count)
            progress(done)
        }
        for entity in entities { try copyRows(of: entity, keys, skip, write) }
        for entity in entities {
            for property in model.entities[entity].properties where property.declaringEntity == entity {
                try copyPairs(of: property, keys, skip, write)
            }
        }
    }

    // MARK: Keys

    /// Returns, by root entity, the new keys of rows in the target, if they differ.
    private func newKeys() throws -> [Int: [Int64: Int64]]? {
        guard !keepsKeys, (target as? any CopyTarget)?.sharesKeys == true else { return nil }
        var result: [Int: [Int64: Int64]] = [:]
        for root in Set(entities.map { model.entities[$0].root }).sorted() {
            var known: [Int64: Int64] = [:]
            var keys: [Int64] = []
            for entity in entities where model.entities[entity].root == root {
                var plan = FetchPlan(entity: entity)
                plan.includesSubentities = false
                keys += try source.keys(plan).map(\.primaryKey)
            }
            guard !keys.isEmpty else { continue }
            for (key, new) in zip(keys.sorted(), try target.allocateKeys(root: root, count: keys.count)) {
                known[key] = new
            }
            result[root] = known
        }
        return result
    }

    /// Returns the key of a row of the hierarchy in the target; for a missing row, its old key.
    private func key(_ key: Int64, root: Int, _ keys: [Int: [Int64: Int64]]?) -> Int64 {
        guard let keys else { return key }
        return keys[root]?[key] ?? key
    }

    // MARK: Rows

    private func copyRows(
        of entity: Int, _ keys: [Int: [Int64: Int64]]?, _ skip: (Int) -> Void, _ write: (ChangeSet) throws -> Void
    ) throws {
        let compiled = model.entities[entity]
        guard !compiled.isAbstract else { return }
        let layout = compiled.rowLayout
        let builder = RowBuilder(columnCount: layout.columns.count)
        var changes = ChangeSet()
        let there = goesOn ? try KeyRanges(target.keys(ofRowsOf: entity)) : KeyRanges([])
        func finishPortion() throws {
            guard !changes.insertions.isEmpty else { return }
            changes.origin = origin
            try write(changes)
            changes = ChangeSet()
        }
        try source.forEachRow(of: entity) { rows in
            var skipped = 0
            defer { skip(skipped) }
            for index in rows.indices {
                // It stays in the list, and is released with the portion.
                let row = rows[index]
                if there.contains(key(row.primaryKey, root: compiled.root, keys)) {
                    skipped += 1
                    continue
                }
                for column in layout.columns.indices { try copy(column, of: row, compiled, keys, to: builder) }
                let new = builder.finish(
                    primaryKey: key(row.primaryKey, root: compiled.root, keys), version: 1, entity: entity)
                changes.insertions.append(ChangeSet.Insertion(row: new))
                if changes.insertions.count == portionSize { try finishPortion() }
            }
        }
        try finishPortion()
    }

    private func copy(
        _ column: Int, of row: RowSnapshot, _ entity: CompiledEntity, _ keys: [Int: [Int64: Int64]]?,
        to builder: RowBuilder
    ) throws {
        let layout = entity.rowLayout
        if row.isUnreadable(column) {
            // Throws with the reason; if it succeeds, the value did not exist when the row was read.
            let bytes = try row.withBytes(column) { try source.bytes(ofStored: $0) }
            return builder.setData(bytes, at: column)
        }
        guard !row.isNull(column) else { return }
        func root(_ entity: Int, _ slot: Int) -> Int {
            let relationship = model.entities[entity].properties[slot].relationship
            return model.entities[relationship?.destination ?? entity].root
        }
        switch layout.columns[column].role {
        case .attribute, .order, .ownerOrder: builder.copy(column, kind: layout.kinds[column], from: row)
        case .destinationKey(let slot):
            builder.setInteger(key(row.integer(column), root: root(entity.ordinal, slot), keys), at: column)
        case .ownerKey(let owner, _):
            builder.setInteger(key(row.integer(column), root: model.entities[owner].root, keys), at: column)
        case .destinationEntity:
            let destination = source.entity(numbered: row.integer(column))
            builder.setInteger(destination.map { target.number(ofEntity: $0) } ?? 0, at: column)
        }
    }

    // MARK: Pairs

    private static let orderStep: Int64 = 1024

    /// Returns the relationship whose pairs are copied: the ordered side of a many-to-many, else one of both.
    static func pairs(of property: CompiledProperty, _ model: CompiledModel) -> CompiledRelationship? {
        guard let relationship = property.relationship, relationship.isToMany, !property.isTransient,
            let inverse = model.inverse(of: relationship), let back = inverse.relationship, back.isToMany
        else { return nil }
        let isSecond = (inverse.declaringEntity, inverse.slot) < (property.declaringEntity, property.slot)
        return relationship.isOrdered || !back.isOrdered && !isSecond ? relationship : nil
    }

    /// Copies the pairs of a many-to-many: from the ordered side, or from both sides if both are ordered.
    private func copyPairs(
        of property: CompiledProperty, _ keys: [Int: [Int64: Int64]]?, _ skip: (Int) -> Void,
        _ write: (ChangeSet) throws -> Void
    ) throws {
        guard let relationship = Self.pairs(of: property, model) else { return }
        let entity = property.declaringEntity
        let roots = (model.entities[entity].root, model.entities[relationship.destination].root)
        try source.forEachOwner(of: property, in: model) { owners in
            var changes = ChangeSet()
            changes.origin = origin
            let there = try ownersThere(of: property, owners.map { key($0.owner, root: roots.0, keys) })
            for (owner, destinations) in owners {
                // The pairs of an owner were written together.
                if there.contains(key(owner, root: roots.0, keys)) {
                    skip(destinations.count)
                    continue
                }
                for (index, destination) in destinations.enumerated() {
                    changes.links.append(
                        ChangeSet.Link(
                            .insert, entity: entity, slot: property.slot, owner: key(owner, root: roots.0, keys),
                            destination: key(destination, root: roots.1, keys),
                            order: relationship.isOrdered ? Int64(index + 1) * Self.orderStep : nil))
                }
            }
            if !changes.links.isEmpty { try write(changes) }
        }
    }

    /// Returns the owners that already have pairs in the target.
    private func ownersThere(of property: CompiledProperty, _ owners: [Int64]) throws -> Set<Int64> {
        guard goesOn, let filled = target as? any CopyTarget else { return [] }
        return try filled.ownersWithMembers(of: property, among: owners)
    }
}

/// A set of keys with many consecutive ones.
private struct KeyRanges {
    private var ranges: [ClosedRange<Int64>] = []

    init(_ keys: [Int64]) {
        for key in keys.sorted() {
            if let last = ranges.last, last.upperBound + 1 == key {
                ranges[ranges.count - 1] = last.lowerBound...key
            } else {
                ranges.append(key...key)
            }
        }
    }

    func contains(_ key: Int64) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(key)
    }
}

extension RowSource {
    /// Returns the keys of the rows of exactly this entity.
    fileprivate func keys(ofRowsOf entity: Int) throws -> [Int64] {
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        return try keys(plan).map(\.primaryKey)
    }
}

extension RowSource {
    /// Iterates over the rows of exactly this entity in portions, for any source; few of them are in memory at a time.
    func forEachRow(of entity: Int, _ take: (RowList) throws -> Void) throws {
        if let copyable = self as? any CopyableSource { return try copyable.forEachPortion(of: entity, take) }
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        try fetchRows(plan, take)
    }
}

extension RowSource {
    /// Iterates over the objects with the keys of a to-many's members; only the members of one portion are in memory.
    func forEachOwner(
        of property: CompiledProperty, in model: CompiledModel,
        _ take: ([(owner: Int64, destinations: [Int64])]) throws -> Void
    ) throws {
        if let copyable = self as? any CopyableSource {
            return try copyable.forEachPortion(ofOwnersOf: property, take)
        }
        let entity = property.declaringEntity
        let owners = try keys(FetchPlan(entity: entity)).map(\.primaryKey)
        let root = model.entities[property.relationship?.destination ?? entity].root
        for start in stride(from: 0, to: owners.count, by: 1024) {
            let portion = Array(owners[start..<min(start + 1024, owners.count)])
            let found = try destinationRows(entity: entity, slot: property.slot, owners: portion)
            try take(found.map { ($0.owner, $0.rows.map(\.primaryKey)) })
            for row in found.lazy.flatMap(\.rows) {
                rowCache.giveUp(HeldRow(row), root: root, primaryKey: row.primaryKey)
            }
        }
    }
}

extension RowCopy {
    /// Returns the whole content of the source, with keys and derived values unchanged.
    static func graph(of source: any RowSource, model: CompiledModel, entities: [Int]) throws -> MemoryGraph {
        var graph = MemoryGraph(model: model)
        let target = try MemoryEngine(model: model, entities: entities)
        let copy = RowCopy(from: source, to: target, model: model, keepsKeys: true) { changes in
            for insertion in changes.insertions { graph.put(insertion.row) }
            for link in changes.links { graph.apply(link) }
        }
        try copy.copy()
        return graph
    }
}
