import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// The crossing from changed objects to the engine's change set, for one store; and back after the save.
///
/// ```
/// order values ─▶ engine.save ─▶ keys for new objects ─▶ rows and pairs ─▶ transaction ─▶ objects are clean
///                                                          │ error: new objects get their temporary keys back
/// ```
final class SavePreparation {
    let context: NSManagedObjectContext
    let store: SQLStore
    let inserted: [NSManagedObject]
    private(set) var updated: [NSManagedObject]
    let deleted: [NSManagedObject]
    private var builders: [Int: RowBuilder] = [:]
    /// The rows as they shall be, in the order of `inserted` and of `written`.
    private var insertedRows: [RowSnapshot] = []
    private var written: [(object: NSManagedObject, row: RowSnapshot)] = []
    private var temporaryKeys: [Int64] = []

    private struct Identity: Hashable {
        var root: Int
        var primaryKey: Int64
    }

    init(
        context: NSManagedObjectContext, store: SQLStore, inserted: [NSManagedObject],
        updated: [NSManagedObject], deleted: [NSManagedObject]
    ) {
        self.context = context
        self.store = store
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
    }

    /// Saves; what it returns is empty when nothing had to be written.
    func run() throws -> ChangeSet {
        for objects in [inserted, updated, deleted] {
            try OrderAssignment(context: context).assign(objects) { self.touch($0) }
        }
        try context.checkReads()
        for objects in [updated, deleted] { try context.readRows(of: objects.filter { !$0.hasRow }) }
        let hasMetadata = store.hasUnsavedMetadata
        guard !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty || hasMetadata else { return ChangeSet() }
        if store.isReadOnly { throw CoreDataErrors.readOnly(store) }
        var counts: [Int: Int] = [:]
        for object in inserted where object.primaryKey < 0 { counts[object.runtime.root, default: 0] += 1 }
        temporaryKeys = inserted.map(\.primaryKey)
        var changes = ChangeSet()
        do {
            let outcome = try store.engine.save(keys: counts) { keys in
                takeKeys(keys)
                changes = try changeSet()
                return changes
            }
            commit(outcome)
            return changes
        } catch {
            let new = Dictionary(
                inserted.map { (Identity(root: $0.runtime.root, primaryKey: $0.primaryKey), $0) },
                uniquingKeysWith: { first, _ in first })
            for (object, key) in zip(inserted, temporaryKeys) { object.primaryKey = key }
            throw CoreDataErrors.converted(error, store: store, context: context) { key in
                new[Identity(root: self.store.engine.model.entities[key.entity].root, primaryKey: key.primaryKey)]
            }
        }
    }

    /// An object that changes because an order value in its row does.
    private func touch(_ object: NSManagedObject) {
        guard !object.isInserted, !object.isDeleted else { return }
        if !object.isUpdated {
            context.noteChange(of: object)
            updated.append(object)
        }
    }

    private func takeKeys(_ ranges: [Int: ClosedRange<Int64>]) {
        var next = ranges.mapValues(\.lowerBound)
        for object in inserted where object.primaryKey < 0 {
            let root = object.runtime.root
            guard let key = next[root] else { continue }
            object.primaryKey = key
            next[root] = key + 1
        }
    }

    // MARK: The change set

    private func changeSet() throws -> ChangeSet {
        var changes = ChangeSet()
        changes.insertions.reserveCapacity(inserted.count)
        insertedRows = []
        insertedRows.reserveCapacity(inserted.count)
        written = []
        for object in inserted {
            let row = try row(of: object, version: 1)
            insertedRows.append(row)
            changes.insertions.append(ChangeSet.Insertion(row: row))
        }
        for object in updated {
            guard let old = object.row else {
                throw SaveFailure.conflicts([
                    SaveFailure.Conflict(
                        key: RowKey(entity: object.runtime.ordinal, primaryKey: object.primaryKey),
                        expectedVersion: 0, persisted: nil)
                ])
            }
            let (row, columns) = try changedRow(of: object, from: old)
            guard !columns.isEmpty || object.hasChangedMembers else { continue }
            written.append((object, row))
            changes.updates.append(ChangeSet.Update(old: old, new: row, columns: columns))
        }
        for object in deleted {
            // A row that somebody else deleted already is gone, as was asked.
            guard let row = object.row else { continue }
            changes.deletions.append(ChangeSet.Deletion(key: row.key, version: row.version))
        }
        changes.links = links()
        try context.checkReads()
        changes.metadata = try store.unsavedMetadata()
        return changes
    }

    /// The row with what the object changed, and the columns that differ.
    private func changedRow(
        of object: NSManagedObject, from old: RowSnapshot
    ) throws -> (row: RowSnapshot, columns: ColumnMask) {
        let runtime = object.runtime
        let kinds = runtime.layout.kinds
        let touched = touchedColumns(of: object)
        let builder = builder(for: runtime)
        // Where no text or blob is replaced the old row is copied as it lies; else its bytes would stay behind.
        if touched.allSatisfy({ kinds[$0] == .integer || kinds[$0] == .real }) {
            builder.copy(old, kinds: kinds)
        } else {
            for column in kinds.indices where !touched.contains(column) {
                builder.copy(column, kind: kinds[column], from: old)
            }
        }
        for column in touched { try set(column, of: object, builder) }
        let row = builder.finish(
            primaryKey: object.primaryKey, version: old.version &+ 1, entity: runtime.ordinal)
        var columns = ColumnMask()
        for column in touched where !row.isEqual(to: old, at: column, kind: kinds[column]) { columns.insert(column) }
        return (row, columns)
    }

    /// The columns that may have changed: of properties that were set, also as primitive values, and of orders and owners
    /// that were assigned.
    private func touchedColumns(of object: NSManagedObject) -> [Int] {
        let runtime = object.runtime
        var columns: [Int] = []
        func add(_ column: Int) {
            if column >= 0, !columns.contains(column) { columns.append(column) }
        }
        if let values = object.values {
            for slot in values.live.indices where object.hasLiveValue(slot) { add(Int(object.home.columns[slot])) }
            for slot in values.orders.keys { add(runtime.layout.orderColumnOfSlot[slot]) }
            for column in values.owners.keys { add(column) }
        }
        for (relation, value) in object.relations.enumerated() {
            let info = runtime.slots[runtime.relationSlots[relation]]
            guard case .toOne(let target) = value, object.isChangedToOne(target, info) else { continue }
            add(info.column)
            add(info.entityColumn)
            add(runtime.layout.orderColumnOfSlot[info.property.slot])
        }
        return columns
    }

    private func row(of object: NSManagedObject, version: Int32) throws -> RowSnapshot {
        let builder = builder(for: object.runtime)
        for column in object.runtime.layout.columns.indices { try set(column, of: object, builder) }
        return builder.finish(primaryKey: object.primaryKey, version: version, entity: object.runtime.ordinal)
    }

    /// Gives a column the value that the object has for it now.
    private func set(_ index: Int, of object: NSManagedObject, _ builder: RowBuilder) throws {
        let runtime = object.runtime
        let column = runtime.layout.columns[index]
        switch column.role {
        case .attribute(let slot):
            if let row = object.row, !object.hasLiveValue(slot) {
                builder.copy(index, kind: column.kind, from: row)
            } else {
                try ManagedObjectValues.encode(
                    object.attributeValue(slot), slot: runtime.slots[slot], at: index, into: builder)
            }
        case .destinationKey(let slot):
            guard let target = target(object, slot) else {
                return copyOrClear(object, index, column.kind, unlessRead: slot, builder)
            }
            try checkStore(target, of: object, slot)
            builder.setInteger(target.primaryKey, at: index)
        case .destinationEntity(let slot):
            guard let target = target(object, slot) else {
                return copyOrClear(object, index, column.kind, unlessRead: slot, builder)
            }
            builder.setInteger(store.entityNumber(of: target.runtime.ordinal), at: index)
        case .order(let slot):
            if let order = object.values?.orders[slot] {
                builder.setInteger(order, at: index)
            } else if object.toOne(slot) != nil, let row = object.row {
                builder.copy(index, kind: column.kind, from: row)
            } else {
                builder.setNull(at: index)
            }
        case .ownerKey, .ownerOrder:
            if let change = object.values?.owners[index] {
                switch change {
                case .none: builder.setNull(at: index)
                case .owner(let owner): builder.setInteger(owner.primaryKey, at: index)
                case .order(let order): builder.setInteger(order, at: index)
                }
            } else if let row = object.row {
                builder.copy(index, kind: column.kind, from: row)
            }
        }
    }

    /// The destination of a to-one that has been looked at.
    private func target(_ object: NSManagedObject, _ slot: Int) -> NSManagedObject? {
        guard !object.relations.isEmpty,
            case .toOne(let target) = object.relations[object.runtime.slots[slot].relation]
        else { return nil }
        return target
    }

    /// A to-one that nobody has looked at is as it was; one that is nil now has no key.
    private func copyOrClear(
        _ object: NSManagedObject, _ column: Int, _ kind: ColumnKind, unlessRead slot: Int, _ builder: RowBuilder
    ) {
        guard let row = object.row else { return }
        let isRead: Bool
        if object.relations.isEmpty {
            isRead = false
        } else if case .toOne = object.relations[object.runtime.slots[slot].relation] {
            isRead = true
        } else {
            isRead = false
        }
        if isRead { builder.setNull(at: column) } else { builder.copy(column, kind: kind, from: row) }
    }

    private func checkStore(_ target: NSManagedObject, of object: NSManagedObject, _ slot: Int) throws {
        if target.storeIndex != object.storeIndex {
            throw CoreDataErrors.crossStore(object, relationship: object.runtime.slots[slot].name, target)
        }
        if target.primaryKey < 0 {
            throw CoreDataErrors.danglingTarget(object, relationship: object.runtime.slots[slot].name, target)
        }
    }

    private func builder(for runtime: EntityRuntime) -> RowBuilder {
        if let known = builders[runtime.ordinal] { return known }
        let made = RowBuilder(columnCount: runtime.layout.columns.count)
        builders[runtime.ordinal] = made
        return made
    }

    // MARK: Many-to-many

    private struct Pair: Hashable {
        var entity: Int
        var slot: Int
        var owner: Int64
        var destination: Int64
    }

    /// The pairs that come and go, each once though both sides tell of it.
    private func links() -> [ChangeSet.Link] {
        var pairs: [Pair: ChangeSet.Link] = [:]
        var order: [Pair] = []
        func note(_ link: ChangeSet.Link, inverse: (entity: Int, slot: Int)?) {
            var link = link
            // One of the two sides stands for both: the one that is declared first.
            if let inverse, (inverse.entity, inverse.slot) < (link.entity, link.slot) {
                link = ChangeSet.Link(
                    link.kind, entity: inverse.entity, slot: inverse.slot, owner: link.destination,
                    destination: link.owner, order: link.inverseOrder, inverseOrder: link.order)
            }
            let pair = Pair(entity: link.entity, slot: link.slot, owner: link.owner, destination: link.destination)
            if var known = pairs[pair] {
                known.order = known.order ?? link.order
                known.inverseOrder = known.inverseOrder ?? link.inverseOrder
                if link.kind == .remove { known.kind = .remove }
                pairs[pair] = known
            } else {
                pairs[pair] = link
                order.append(pair)
            }
        }
        for object in inserted + updated {
            forEachManyToMany(of: object) { slot, members, inverse in
                guard members.hasChanges else { return }
                let declaring = object.runtime.slots[slot].property.declaringEntity
                for member in members.removed {
                    note(
                        ChangeSet.Link(
                            .remove, entity: declaring, slot: slot, owner: object.primaryKey,
                            destination: member.object.primaryKey), inverse: inverse)
                }
                if members.isOrdered {
                    for (position, member) in members.members.enumerated() where !member.isDeleted {
                        note(
                            ChangeSet.Link(
                                .insert, entity: declaring, slot: slot, owner: object.primaryKey,
                                destination: member.primaryKey, order: OrderAssignment.value(at: position)),
                            inverse: inverse)
                    }
                } else {
                    for member in members.added where !member.object.isDeleted {
                        note(
                            ChangeSet.Link(
                                .insert, entity: declaring, slot: slot, owner: object.primaryKey,
                                destination: member.object.primaryKey), inverse: inverse)
                    }
                }
            }
        }
        for object in deleted where object.row != nil {
            forEachManyToMany(of: object) { slot, members, inverse in
                let declaring = object.runtime.slots[slot].property.declaringEntity
                for member in object.knownMembers(slot).committedMembers {
                    note(
                        ChangeSet.Link(
                            .remove, entity: declaring, slot: slot, owner: object.primaryKey,
                            destination: member.primaryKey), inverse: inverse)
                }
            }
        }
        return order.compactMap { pairs[$0] }
    }

    private func forEachManyToMany(
        of object: NSManagedObject, _ body: (Int, ToManyMembers, (entity: Int, slot: Int)?) -> Void
    ) {
        for slot in object.runtime.relationSlots {
            let info = object.runtime.slots[slot]
            guard info.isToMany, !info.property.isTransient, let relationship = info.relationship,
                let inverseSlot = relationship.inverseSlot, let model = context.coordinator?.runtime
            else { continue }
            let inverse = model.entities[relationship.destination].slots[inverseSlot]
            guard inverse.isToMany else { continue }
            let isSymmetric =
                inverse.property.declaringEntity == info.property.declaringEntity && inverseSlot == slot
            if case .toMany = object.relations.isEmpty ? .unread : object.relations[info.relation] {
            } else if !object.isDeleted {
                continue
            }
            body(
                slot, object.members(slot),
                isSymmetric ? nil : (inverse.property.declaringEntity, inverseSlot))
        }
    }

    // MARK: After the save

    private func commit(_ outcome: SaveOutcome) {
        context.becomePermanent(inserted, in: store, temporaryKeys: temporaryKeys)
        for (index, object) in inserted.enumerated() {
            object.row = insertedRows[index]
            object.becomeClean()
        }
        for (object, row) in written { object.row = row }
        for object in updated { object.becomeClean() }
        store.didSave(
            inserted: insertedRows, updated: written.map(\.row),
            deleted: deleted.compactMap(\.row), outcome: outcome, in: context)
        for object in deleted { object.becomeClean() }
    }
}

extension NSManagedObject {
    /// Whether the attribute was set; a transformable's object is also kept after it was only read.
    final func hasLiveValue(_ slot: Int) -> Bool {
        guard let values, values.live[slot] != nil else { return false }
        return runtime.slots[slot].type != .transformable || values.changed.contains(slot)
    }

    /// Whether members of a stored to-many came, went or moved.
    final var hasChangedMembers: Bool {
        for relation in relations {
            if case .toMany(let members) = relation, members.hasChanges { return true }
        }
        return false
    }

    /// The row holds everything now: forgets what differed from it, keeps transient values and relationships.
    final func becomeClean() {
        if let values, runtime.keepsValues {
            var keepsSome = false
            for (index, slot) in runtime.slots.enumerated() where values.live[index] != nil {
                if slot.property.isTransient || slot.type == .transformable {
                    keepsSome = true
                } else {
                    values.live[index] = nil
                }
            }
            values.changed.removeAll()
            values.orders = [:]
            values.owners = [:]
            values.event.removeAll()
            values.eventOld = []
            if !keepsSome { self.values = nil }
        } else {
            values = nil
        }
        for (index, relation) in relations.enumerated() {
            guard case .toMany(let members) = relation else { continue }
            members.commit()
            if !members.isKnown { relations[index] = .unread }
        }
    }
}
