import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore

/// Checks the rows of a transaction: the old ones before they are written, the new ones after.
///
/// ```
///  willWrite: may the accessor update or delete the stored rows?
///  didWrite:  may it create or update to the new rows? does it read the objects to which they refer?
///             does nothing refer to a deleted row that it may not change?
/// ```
/// Each question is one statement for each entity and rule, with the rule as its condition: the same translation as for
/// reads. A rule that is always or never true needs no statement. All hooks read in the transaction.
final class AccessCheck: SaveParticipation {
    let access: CompiledAccess
    let store: any TransactionReading
    private let isBatch: Bool
    /// The rows that are deleted only for a trial, and are not checked; `nil` for a save. See ``ConstraintTrial``.
    private let leaving: Set<RowKey>?
    /// The rows that the transaction has inserted: what refers to them needs no right to read them.
    private(set) var inserted: Set<RowKey> = []
    /// The rows that statements of a batch update changed, and the columns.
    private var noted: [Int: (keys: [RowKey], columns: IndexMask)] = [:]

    var model: CompiledModel { access.model }

    init(
        _ access: CompiledAccess, _ store: any TransactionReading, isBatch: Bool, leaving: Set<RowKey>? = nil
    ) {
        self.access = access
        self.store = store
        self.isBatch = isBatch
        self.leaving = leaving
    }

    var wantsKeys: Bool { true }

    func willWrite(_ portion: SavePortion) throws {
        try checkOldUpdates(portion.changes)
        try checkOldDeletions(portion.changes)
        for insertion in portion.changes.insertions {
            let entity = insertion.row.entity
            if case .constant(false) = access.condition(.create, entity) { throw access.denied(.create, entity) }
        }
        try checkLinks(portion.changes, isNew: false)
    }

    func didWrite(_ portion: SavePortion) throws {
        let changes = portion.changes
        inserted.formUnion(changes.insertions.map(\.row.key))
        try checkNewInsertions(changes)
        try checkNewUpdates(changes)
        try checkLinks(changes, isNew: true)
        if !isBatch { try checkReferences(to: staying(changes.deletions).map(\.key)) }
    }

    /// Returns the deletions that are part of the save.
    private func staying(_ deletions: [ChangeSet.Deletion]) -> [ChangeSet.Deletion] {
        guard let leaving else { return deletions }
        return deletions.filter { !leaving.contains($0.key) }
    }

    /// Rows that one statement deletes satisfy the rules already: they are the condition of the statement.
    func note(_ kind: HistoryKind, _ keys: [RowKey], _ columns: IndexMask) throws {
        guard kind == .update else { return }
        for (entity, keys) in Dictionary(grouping: keys, by: \.entity) {
            noted[entity, default: ([], IndexMask())].keys += keys
            for column in columns { noted[entity]?.columns.insert(column) }
        }
    }

    func willEnd() throws {
        for (entity, noted) in noted {
            try require(.update, noted.keys, entity, isNew: true)
            for slot in slots(of: noted.columns, entity) {
                try requireProperty(slot, noted.keys, entity, isNew: true)
            }
            try checkStoredDestinations(noted.keys, noted.columns, entity)
        }
        if let leaving {
            // A server reports the failures of the statements with the next result.
            if let row = leaving.first { _ = try stored([row.primaryKey], of: row.entity) }
            throw TrialEnd()
        }
    }

    // MARK: Questions

    /// Throws unless the accessor may do that with all of the rows, which are of one entity.
    func require(_ verb: AccessVerb, _ keys: [RowKey], _ entity: Int, isNew: Bool = false) throws {
        guard !keys.isEmpty else { return }
        try require(access.condition(verb, entity), keys) { access.denied(verb, entity, isNew: isNew) }
    }

    /// Throws unless the accessor may update the rows, all of one entity, and the properties that change in them.
    ///
    /// - Parameter isNew: whether the rules are asked of the new rows, or of the old ones.
    private func requireUpdates(_ updates: [ChangeSet.Update], _ entity: Int, isNew: Bool) throws {
        let kinds = model.entities[entity].rowLayout.kinds
        var changed: [RowKey] = []
        var bySlot: [Int: [RowKey]] = [:]
        for update in updates {
            // Members of a to-many are no values of the row, which only gets a new version.
            let slots = slots(of: update.changedColumns(kinds), entity)
            if slots.isEmpty { continue }
            let key = (isNew ? update.new : update.old).key
            changed.append(key)
            for slot in slots { bySlot[slot, default: []].append(key) }
        }
        try require(.update, changed, entity, isNew: isNew)
        for (slot, keys) in bySlot { try requireProperty(slot, keys, entity, isNew: isNew) }
    }

    /// Throws unless the rule of the property, if it has one, allows to update it in all of the rows.
    func requireProperty(_ slot: Int, _ keys: [RowKey], _ entity: Int, isNew: Bool) throws {
        guard !keys.isEmpty, let condition = access.updateCondition(slot: slot, of: entity) else { return }
        try require(condition, keys) { access.denied(.update, entity, slot: slot, isNew: isNew) }
    }

    private func require(_ condition: PredicateNode, _ keys: [RowKey], _ denied: () -> AccessDenied) throws {
        switch condition {
        case .constant(true): return
        case .constant(false): throw denied()
        default:
            let all = Set(keys)
            if try store.keys(of: Array(all), where: condition).count < all.count { throw denied() }
        }
    }

    /// Returns those of the rows, all of one entity, that the accessor may read.
    func readable(_ keys: [RowKey], _ entity: Int) throws -> Set<RowKey> {
        guard let condition = access.security.rows[entity] else { return Set(keys) }
        return try store.keys(of: keys, where: condition)
    }

    /// Returns the keys with the entities of their rows, without missing rows.
    func stored(_ keys: Set<Int64>, of entity: Int) throws -> [RowKey] {
        try Array(keys).sorted().portions(of: 500).flatMap { part in
            var plan = FetchPlan(entity: entity)
            plan.predicate = .rows(part.map { RowKey(entity: entity, primaryKey: $0) })
            return try store.keys(plan)
        }
    }

    /// Returns the properties to which the columns belong.
    func slots(of columns: IndexMask, _ entity: Int) -> [Int] {
        let layout = model.entities[entity].rowLayout
        var slots: Set<Int> = []
        for column in columns {
            switch layout.columns[column].role {
            case .attribute(let slot), .destinationKey(let slot), .destinationEntity(let slot), .order(let slot):
                slots.insert(slot)
            // They belong to the owner; see `checkOwners`.
            case .ownerKey, .ownerOrder: break
            }
        }
        return slots.sorted()
    }

    // MARK: Old rows

    private func checkOldUpdates(_ changes: ChangeSet) throws {
        for (entity, updates) in Dictionary(grouping: changes.updates, by: \.old.entity) {
            try requireVisible(updates.map { ($0.old.key, $0.old.version) }, entity, .update)
            try requireUpdates(updates, entity, isNew: false)
        }
    }

    private func checkOldDeletions(_ changes: ChangeSet) throws {
        for (entity, deletions) in Dictionary(grouping: staying(changes.deletions), by: \.key.entity) {
            try requireVisible(deletions.map { ($0.key, $0.version) }, entity, .delete)
            let keys = deletions.map(\.key)
            try require(.delete, keys, entity)
            if !isBatch { try checkHiddenDestinations(of: keys, entity, changes) }
        }
    }

    /// A row that the accessor may not read is to it as a deleted one.
    private func requireVisible(_ rows: [(key: RowKey, version: Int32)], _ entity: Int, _ verb: AccessVerb) throws {
        guard access.security.rows[entity] != nil else { return }
        let readable = try readable(rows.map(\.key), entity)
        let hidden = rows.filter { !readable.contains($0.key) }
        if hidden.isEmpty { return }
        if isBatch {
            throw access.denied(verb, entity, reason: "the request would change objects that the accessor may not read")
        }
        throw SaveFailure.conflicts(
            hidden.map { SaveFailure.Conflict(key: $0.key, expectedVersion: $0.version, persisted: nil) })
    }

    // MARK: New rows

    private func checkNewInsertions(_ changes: ChangeSet) throws {
        for (entity, insertions) in Dictionary(grouping: changes.insertions, by: \.row.entity) {
            let rows = insertions.map(\.row)
            try require(.create, rows.map(\.key), entity, isNew: true)
            for slot in access.slotsWithUpdateRules(of: entity) {
                let own = rows.filter { isSet(slot, in: $0, entity) }.map(\.key)
                try requireProperty(slot, own, entity, isNew: true)
            }
            try checkDestinations(rows.map { (nil, $0) }, entity)
            try checkOwners(rows.map { (nil, $0) }, entity)
        }
    }

    /// Whether the new row has another value than the model's default.
    private func isSet(_ slot: Int, in row: RowSnapshot, _ entity: Int) -> Bool {
        let compiled = model.entities[entity]
        let column = compiled.rowLayout.columnOfSlot[slot]
        guard column >= 0, !row.isNull(column) else { return false }
        guard let attribute = compiled.properties[slot].attribute, !attribute.defaultValue.isNull else { return true }
        let builder = RowBuilder(columnCount: compiled.rowLayout.kinds.count)
        builder.set(attribute.defaultValue, compiled.rowLayout.kinds[column], at: column)
        let standard = builder.finish(primaryKey: 0, version: 0, entity: entity)
        return !row.isEqual(to: standard, at: column, kind: compiled.rowLayout.kinds[column])
    }

    private func checkNewUpdates(_ changes: ChangeSet) throws {
        for (entity, updates) in Dictionary(grouping: changes.updates, by: \.new.entity) {
            try requireUpdates(updates, entity, isNew: true)
            try checkDestinations(updates.map { ($0.old, $0.new) }, entity)
            try checkOwners(updates.map { ($0.old, $0.new) }, entity)
        }
    }
}
