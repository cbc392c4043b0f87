import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// Recovers the readable content of a damaged store to a new store.
///
/// ```
///  keys 1 … the highest, in ranges ──▶ halve unreadable ranges, down to single rows ──▶ rows ──▶ pairs
/// ```
/// Rows are found by key, which needs only the table's B-tree; for a damaged B-tree, see ``RepairedCopy``. A to-one to
/// a lost row becomes nil, so that the new store is consistent.
package struct StoreRecovery {
    /// The saved and the lost rows of one entity.
    package struct Finding: Sendable {
        package var entity: String
        package var rows = 0
        /// Keys of unreadable rows, if they existed; adjacent keys are one range.
        package var unreadableKeys: [ClosedRange<Int64>] = []
        /// The number of unreadable values in readable rows.
        package var lostValues = 0
        /// The number of to-ones to lost rows.
        package var lostReferences = 0
        /// The number of rows whose many-to-many members are unreadable.
        package var lostMembers = 0
        /// The number of rows that the new store refused.
        package var refusedRows = 0
        /// Whether none of its rows can be reached.
        package var isUnreachable = false
    }

    /// The result of a recovery.
    package struct Outcome: Sendable {
        package var findings: [Finding]
        /// The missing parts of the damaged store's metadata, and the values used instead.
        package var notes: [String]
    }

    /// With these pragmas, SQLite reads a file that is shorter than its header says.
    package static let readingPragmas = ["writable_schema": "ON"]

    private let source: StoreEngine
    private let target: StoreEngine
    private let model: CompiledModel
    private var findings: [Int: Finding] = [:]
    /// The rows in the new store, by root entity.
    private var saved: [Int: Set<Int64>] = [:]

    private init(_ source: StoreEngine, _ target: StoreEngine) {
        self.source = source
        self.target = target
        model = source.model
    }

    /// Creates a store with the readable content of another.
    ///
    /// - Throws: if nothing can be read, or the new store cannot be created or written.
    package static func recover(
        model: CompiledModel, configuration: String?, from damaged: StoreOptions, to options: StoreOptions,
        driver: any SQLDatabaseFile.Type, makeDatabase: @escaping DatabaseFactory
    ) throws -> Outcome {
        var damaged = damaged
        damaged.ignoresModelVersioning = true
        damaged.createsStore = false
        damaged.database.pragmas.merge(readingPragmas) { $1 }
        var opened = try open(model: model, configuration: configuration, damaged, makeDatabase: makeDatabase)
        let copy = RepairedCopy(
            of: opened.engine, damaged.database, beside: options.database.path ?? "", driver: driver)
        if let copy {
            opened.engine.close()
            damaged.database.path = copy.path
            opened = try open(model: model, configuration: configuration, damaged, makeDatabase: makeDatabase)
        }
        let source = opened.engine
        // The source has the copy's file open.
        defer { withExtendedLifetime(copy) { source.close() } }
        let target = try StoreEngine.open(
            model: model, configuration: configuration, options: options, makeDatabase: makeDatabase)
        defer { target.close() }
        var recovery = StoreRecovery(source, target)
        try recovery.run()
        // Do not reuse keys that the damaged store assigned to deleted rows.
        try target.raiseKeyCounters(to: (try? source.highestKeys()) ?? [:])
        return Outcome(
            findings: model.entities.compactMap { recovery.findings[$0.ordinal] },
            notes: opened.notes + (copy?.notes ?? []) + leftovers(of: source))
    }

    private mutating func run() throws {
        for entity in source.entities where !model.entities[entity].isAbstract {
            findings[entity] = Finding(entity: model.entities[entity].name)
        }
        let roots = Set(source.entities.map { model.entities[$0].root }).sorted()
        var highest: [Int: Int64] = [:]
        for root in roots {
            highest[root] = source.highestKey(root: root)
            if source.isUnreachable(root: root, highest: highest[root] ?? 0) {
                for entity in model.entities[root].subtree { findings[entity]?.isUnreachable = true }
                highest[root] = 0
                continue
            }
            try forEachReadableRow(root: root, upTo: highest[root] ?? 0, notes: false) { row, recovery in
                recovery.saved[root, default: []].insert(row.primaryKey)
            }
        }
        for root in roots { try copyRows(root: root, upTo: highest[root] ?? 0) }
        for entity in source.entities {
            for property in model.entities[entity].properties where property.declaringEntity == entity {
                try copyPairs(of: property)
            }
        }
    }

    // MARK: Rows

    private static let keysAtOnce: Int64 = 512

    private mutating func forEachReadableRow(
        root: Int, upTo highest: Int64, notes: Bool, _ body: (RowSnapshot, inout StoreRecovery) throws -> Void
    ) throws {
        var start: Int64 = 1
        while start <= highest {
            let end = min(highest, start + Self.keysAtOnce - 1)
            for row in read(start...end, root: root, notes: notes) { try body(row, &self) }
            source.rowCache.removeAll()
            start = end + 1
        }
    }

    /// Returns the rows of a range; an unreadable range is halved.
    private mutating func read(_ keys: ClosedRange<Int64>, root: Int, notes: Bool) -> [RowSnapshot] {
        do {
            return try source.heldRows(Array(keys), root: root, staleness: 0).snapshots
        } catch {
            guard keys.count > 1 else {
                if notes { note(keys.lowerBound, root: root) }
                return []
            }
            let middle = keys.lowerBound + Int64(keys.count) / 2
            return read(keys.lowerBound...(middle - 1), root: root, notes: notes)
                + read(middle...keys.upperBound, root: root, notes: notes)
        }
    }

    private mutating func note(_ key: Int64, root: Int) {
        let entity = findings[root] == nil ? model.entities[root].subtree.first { findings[$0] != nil } ?? root : root
        var ranges = findings[entity]?.unreadableKeys ?? []
        if let last = ranges.last, last.upperBound + 1 == key {
            ranges[ranges.count - 1] = last.lowerBound...key
        } else {
            ranges.append(key...key)
        }
        findings[entity]?.unreadableKeys = ranges
    }

    private mutating func copyRows(root: Int, upTo highest: Int64) throws {
        var rows: [RowSnapshot] = []
        try forEachReadableRow(root: root, upTo: highest, notes: true) { row, recovery in
            rows.append(recovery.cleaned(row))
            guard rows.count == 1024 else { return }
            try recovery.write(rows)
            rows = []
        }
        try write(rows)
    }

    /// Returns the row for the new store.
    private mutating func cleaned(_ row: RowSnapshot) -> RowSnapshot {
        let entity = model.entities[row.entity]
        let layout = entity.rowLayout
        let builder = RowBuilder(columnCount: layout.columns.count)
        var lost: Set<Int> = []
        for (index, column) in layout.columns.enumerated() {
            if row.isUnreadable(index) {
                findings[row.entity]?.lostValues += 1
                continue
            }
            guard !row.isNull(index) else { continue }
            switch column.role {
            case .destinationKey(let slot):
                let destination = entity.properties[slot].relationship?.destination ?? entity.ordinal
                if saved[model.entities[destination].root]?.contains(row.integer(index)) != true {
                    findings[row.entity]?.lostReferences += 1
                    lost.insert(slot)
                    continue
                }
            case .ownerKey(let owner, _):
                if saved[model.entities[owner].root]?.contains(row.integer(index)) != true { continue }
            default: break
            }
            builder.copy(index, kind: layout.kinds[index], from: row)
        }
        for slot in lost {
            for column in [layout.entityColumnOfSlot[slot], layout.orderColumnOfSlot[slot]] where column >= 0 {
                builder.setNull(at: column)
            }
        }
        for (index, column) in layout.columns.enumerated() {
            guard case .destinationEntity(let slot) = column.role, !row.isNull(index), !lost.contains(slot) else {
                continue
            }
            let destination = source.entity(numbered: row.integer(index))
            builder.setInteger(destination.map { target.number(ofEntity: $0) } ?? 0, at: index)
        }
        return builder.finish(primaryKey: row.primaryKey, version: 1, entity: row.entity)
    }

    /// Writes all rows at once; if there is a conflict, one by one.
    private mutating func write(_ rows: [RowSnapshot]) throws {
        guard !rows.isEmpty else { return }
        do {
            try save(rows)
            for row in rows { findings[row.entity]?.rows += 1 }
        } catch is SaveFailure {
            for row in rows {
                do {
                    try save([row])
                    findings[row.entity]?.rows += 1
                } catch is SaveFailure { findings[row.entity]?.refusedRows += 1 }
            }
        }
    }

    private func save(_ rows: [RowSnapshot]) throws {
        _ = try target.save(keys: [:]) { _ in
            var changes = ChangeSet()
            changes.insertions = rows.map { ChangeSet.Insertion(row: $0) }
            return changes
        }
        target.rowCache.removeAll()
    }

    // MARK: Pairs

    private mutating func copyPairs(of property: CompiledProperty) throws {
        guard let relationship = property.relationship, relationship.isToMany, !property.isTransient,
            let inverse = model.inverse(of: relationship), inverse.relationship?.isToMany == true
        else { return }
        let entity = property.declaringEntity
        let owners = (saved[model.entities[entity].root] ?? []).sorted()
        var failed: Set<Int64> = []
        for start in stride(from: 0, to: owners.count, by: 256) {
            try copyPairs(of: property, Array(owners[start..<min(start + 256, owners.count)]), &failed)
        }
        if !failed.isEmpty { try scanPairs(of: property, relationship, failed) }
    }

    /// Scans the table for pairs that no index reaches.
    private mutating func scanPairs(
        of property: CompiledProperty, _ relationship: CompiledRelationship, _ owners: Set<Int64>
    ) throws {
        let (entity, slot) = (property.declaringEntity, property.slot)
        guard let table = source.layout.joinTables[.init(entity: entity, slot: slot)] else {
            findings[entity]?.lostMembers += owners.count
            return
        }
        let scan = PairScan(table, of: owners, in: source)
        if scan.isIncomplete { findings[entity]?.lostMembers += owners.count }
        let known = saved[model.entities[relationship.destination].root] ?? []
        var order: [Int64: Int64] = [:]
        var changes = ChangeSet()
        for pair in scan.pairs where known.contains(pair.destination) {
            order[pair.owner, default: 0] += 1024
            changes.links.append(
                ChangeSet.Link(
                    .insert, entity: entity, slot: slot, owner: pair.owner, destination: pair.destination,
                    order: relationship.isOrdered ? order[pair.owner] : nil))
            guard changes.links.count == 1024 else { continue }
            let portion = changes
            _ = try target.save(keys: [:]) { _ in portion }
            changes = ChangeSet()
        }
        let rest = changes
        if !rest.links.isEmpty { _ = try target.save(keys: [:]) { _ in rest } }
    }

    /// Copies pairs from both sides: one side may have pairs that are unreadable on the other.
    private mutating func copyPairs(
        of property: CompiledProperty, _ owners: [Int64], _ failed: inout Set<Int64>
    ) throws {
        let entity = property.declaringEntity
        guard let relationship = property.relationship else { return }
        let known = saved[model.entities[relationship.destination].root] ?? []
        var changes = ChangeSet()
        do {
            let found = try source.destinationRows(entity: entity, slot: property.slot, owners: owners)
            for (owner, rows) in found {
                for (index, row) in rows.enumerated() where known.contains(row.primaryKey) {
                    changes.links.append(
                        ChangeSet.Link(
                            .insert, entity: entity, slot: property.slot, owner: owner, destination: row.primaryKey,
                            order: relationship.isOrdered ? Int64(index + 1) * 1024 : nil))
                }
            }
        } catch {
            guard owners.count > 1 else {
                failed.formUnion(owners)
                return
            }
            try copyPairs(of: property, Array(owners[..<(owners.count / 2)]), &failed)
            return try copyPairs(of: property, Array(owners[(owners.count / 2)...]), &failed)
        }
        source.rowCache.removeAll()
        if !changes.links.isEmpty { _ = try target.save(keys: [:]) { _ in changes } }
    }
}
