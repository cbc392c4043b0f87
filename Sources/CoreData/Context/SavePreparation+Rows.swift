import CoreDataModel
import CoreDataPrimitives
import CoreDataStore

// Converts objects to rows: complete rows for new objects, else the old row with the changes.
extension SavePreparation {
    /// Returns the row with the object's changes, and the columns that differ.
    func changedRow(
        of object: NSManagedObject, from old: RowView
    ) throws -> (row: RowSnapshot, columns: IndexMask) {
        let form = form(for: object)
        let builder = form.builder
        let touched = touchedColumns(of: object)
        // If no text or blob is replaced, the old row is copied in its present layout; otherwise the old bytes would
        // remain in it.
        if form.areFixed(touched) {
            builder.copy(old, kinds: form.kinds)
        } else {
            for column in form.kinds.indices where !touched.contains(column) {
                builder.copy(column, kind: form.kinds[column], from: old)
            }
        }
        for column in touched { try set(column, of: object, form) }
        let row = builder.finish(
            primaryKey: object.primaryKey, version: old.version &+ 1, entity: form.runtime.ordinal)
        var columns = IndexMask()
        row.withView { new in
            for column in touched where !new.isEqual(to: old, at: column, kind: form.kinds[column]) {
                columns.insert(column)
            }
        }
        return (row, columns)
    }

    /// The columns that may have changed: of properties that were set, also as primitive values, and of orders and
    /// owners that were assigned.
    func touchedColumns(of object: NSManagedObject) -> IndexMask {
        var columns = IndexMask()
        object.uncountedValues?._withUnsafeGuaranteedRef { values in
            let facts = object.home.facts
            for slot in values.live where facts[slot].column >= 0 {
                if !facts[slot].isTransformable || values.changed.contains(slot) {
                    columns.insert(Int(facts[slot].column))
                }
            }
            if values.hasRare {
                for slot in values.orders.keys { columns.insertStored(object.runtime.layout.orderColumnOfSlot[slot]) }
                for column in values.owners.keys { columns.insert(column) }
            }
        }
        if keepsDerived { object.runtime.derivedColumns.forEach { columns.remove($0) } }
        guard !object.relations.isEmpty else { return columns }
        for relation in object.relations.indices {
            guard object.relations.isRead(relation), object.relations.uncountedMembers(relation) == nil else {
                continue
            }
            let slot = object.runtime.relationSlots[relation]
            let facts = object.home.facts[slot]
            let key = object.relations.uncountedToOne(relation)?._withUnsafeGuaranteedRef { $0.primaryKey }
            guard object.isChangedToOne(key: key, column: Int(facts.column)) else { continue }
            columns.insertStored(Int(facts.column))
            columns.insertStored(Int(facts.entityColumn))
            columns.insertStored(object.runtime.layout.orderColumnOfSlot[slot])
        }
        return columns
    }

    func row(of object: NSManagedObject, version: Int32) throws -> RowSnapshot {
        let form = form(for: object)
        for column in form.roles.indices { try set(column, of: object, form) }
        if keepsDerived { form.runtime.derivedColumns.forEach { form.builder.setNull(at: $0) } }
        return form.builder.finish(
            primaryKey: object.primaryKey, version: version, entity: form.runtime.ordinal)
    }

    /// Sets a column to the object's current value.
    func set(_ index: Int, of object: NSManagedObject, _ form: RowForm) throws {
        let kind = form.kinds[index]
        let builder = form.builder
        switch form.roles[index] {
        case .attribute(let slot):
            if let row = object.rowView, !object.hasLiveValue(slot) {
                builder.copy(index, kind: kind, from: row)
            } else {
                do {
                    try ManagedObjectValues.encode(
                        object.attributeValue(slot), slot: slot, of: form.runtime, kind, at: index, into: builder)
                } catch is ManagedObjectValues.NotANumber {
                    if isForContexts { return builder.setReal(.nan, at: index) }
                    throw ValidationErrors.notANumber(form.runtime.slots[slot].name, of: object)
                }
            }
        case .destinationKey(let slot):
            guard let target = target(object, slot) else {
                return copyOrClear(object, index, kind, unlessRead: slot, builder)
            }
            try target._withUnsafeGuaranteedRef { target in
                if isForContexts { return builder.setInteger(target.primaryKey, at: index) }
                try Self.checkDestination(target, of: object, slot)
                if target.hasTemporaryKey {
                    throw CoreDataErrors.danglingTarget(object, relationship: object.runtime.slots[slot].name, target)
                }
                builder.setInteger(target.primaryKey, at: index)
            }
        case .destinationEntity(let slot):
            guard let target = target(object, slot) else {
                return copyOrClear(object, index, kind, unlessRead: slot, builder)
            }
            let ordinal = Int(target._withUnsafeGuaranteedRef { $0.home.ordinal })
            builder.setInteger(store.source.number(ofEntity: ordinal), at: index)
        case .order(let slot):
            if let values = object.values, values.hasRare, let order = values.orders[slot] {
                builder.setInteger(order, at: index)
            } else if object.toOne(slot) != nil, let row = object.rowView {
                builder.copy(index, kind: kind, from: row)
            } else {
                builder.setNull(at: index)
            }
        case .ownerKey, .ownerOrder:
            if let values = object.values, values.hasRare, let change = values.owners[index] {
                switch change {
                case .none: builder.setNull(at: index)
                case .owner(let owner): builder.setInteger(owner.primaryKey, at: index)
                case .order(let order): builder.setInteger(order, at: index)
                }
            } else if let row = object.rowView {
                builder.copy(index, kind: kind, from: row)
            }
        }
    }

    /// The destination of a to-one that has been looked at; the object holds it.
    func target(_ object: NSManagedObject, _ slot: Int) -> Unmanaged<NSManagedObject>? {
        object.relations.uncountedToOne(Int(object.home.facts[slot].relation))
    }

    /// Copies a to-one that was not read; clears the key of one that is nil now.
    func copyOrClear(
        _ object: NSManagedObject, _ column: Int, _ kind: ColumnKind, unlessRead slot: Int, _ builder: RowBuilder
    ) {
        guard let row = object.rowView else { return }
        let isRead = object.relations.isRead(Int(object.home.facts[slot].relation))
        if isRead { builder.setNull(at: column) } else { builder.copy(column, kind: kind, from: row) }
    }

    /// Throws for a destination without a row, whatever the class's own validation said, or in another store.
    static func checkDestination(_ target: NSManagedObject, of object: NSManagedObject, _ slot: Int) throws {
        if !target.isReferable(from: object.home) {
            throw ValidationErrors.dangling(object.runtime.slots[slot].name, of: object, to: [target])
        }
        if target.storeIndex != object.storeIndex {
            throw CoreDataErrors.crossStore(object, relationship: object.runtime.slots[slot].name, target)
        }
    }

    /// Returns the to-manys whose members were added, removed or moved, by the rows that are written.
    func changedMembers() -> [RowKey: IndexMask] {
        var changed: [RowKey: IndexMask] = [:]
        written.forEachHeld { object in
            guard object.hasChangedMembers else { return }
            var slots = IndexMask()
            for index in object.relations.indices
            where object.relations.uncountedMembers(index)?._withUnsafeGuaranteedRef({ $0.hasChanges }) ?? false {
                slots.insert(object.runtime.relationSlots[index])
            }
            changed[RowKey(entity: object.runtime.ordinal, primaryKey: object.primaryKey)] = slots
        }
        return changed
    }

    func form(for object: NSManagedObject) -> RowForm {
        if let lastForm, lastForm.runtime === object.home.runtime { return lastForm }
        let runtime = object.home.runtime
        let form = context.rowForm(of: runtime)
        lastForm = form
        return form
    }
}

extension NSManagedObject {
    /// Whether the attribute was set; a transformable's object is also kept after it was only read.
    final func hasLiveValue(_ slot: Int) -> Bool {
        uncountedValues?._withUnsafeGuaranteedRef { values in
            values.live.contains(slot) && (!home.facts[slot].isTransformable || values.changed.contains(slot))
        } ?? false
    }

    /// Whether members of a stored to-many came, went or moved.
    final var hasChangedMembers: Bool {
        relations.indices.contains { index in
            relations.uncountedMembers(index)?._withUnsafeGuaranteedRef { $0.hasChanges } ?? false
        }
    }
}
