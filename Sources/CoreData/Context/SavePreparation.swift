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
    let store: AttachedStore
    let inserted: [NSManagedObject]
    private(set) var updated: [NSManagedObject]
    let deleted: [NSManagedObject]
    /// Whose rows must be as the context knows them, whether or not they change.
    private let checked: [NSManagedObject]
    // One thread prepares a save, and nothing calls back while these change.
    @exclusivity(unchecked) private var lastForm: RowForm?
    /// The objects of the updates, in their order.
    @exclusivity(unchecked) private var written: [NSManagedObject] = []
    @exclusivity(unchecked) private var temporaryKeys: [Int64] = []
    /// How often the store's metadata had been set when they were taken.
    private var metadataEdits = 0

    private struct Identity: Hashable {
        var root: Int
        var primaryKey: Int64
    }

    init(
        context: NSManagedObjectContext, store: AttachedStore, inserted: [NSManagedObject],
        updated: [NSManagedObject], deleted: [NSManagedObject], checked: [NSManagedObject]
    ) {
        self.context = context
        self.store = store
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.checked = checked
    }

    /// Saves; what it returns is empty when nothing had to be written.
    func run() throws -> ChangeSet {
        for objects in [inserted, updated, deleted] {
            OrderAssignment(context: context).assign(objects) { self.touch($0) }
        }
        try context.checkReads()
        for objects in [updated, deleted] where !objects.allHeldSatisfy({ $0.hasRow }) {
            try context.readRows(of: objects.filter { !$0.hasRow })
        }
        let writes = !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty || store.hasUnsavedMetadata
        guard writes || !checked.isEmpty else { return ChangeSet() }
        if store.isReadOnly {
            guard writes else { return ChangeSet() }
            throw CoreDataErrors.readOnly(store.store)
        }
        temporaryKeys.reserveCapacity(inserted.count)
        inserted.forEachHeld { temporaryKeys.append($0.primaryKey) }
        var changes = ChangeSet()
        do {
            let outcome = try store.source.save(keys: neededKeys()) { keys in
                takeKeys(keys)
                changes = try changeSet()
                return changes
            }
            commit(changes, outcome)
            return changes
        } catch {
            // One of them may have half a row in it.
            context.rowForms = []
            let new = Dictionary(
                inserted.map { (Identity(root: $0.runtime.root, primaryKey: $0.primaryKey), $0) },
                uniquingKeysWith: { first, _ in first })
            for (object, key) in zip(inserted, temporaryKeys) {
                object.primaryKey = key
                // Whoever asked for its ID meanwhile got one that is no longer its own.
                if object.hasExtras, let id = object.cachedID, id.primaryKey != key { object.renewID() }
            }
            throw CoreDataErrors.converted(error, store: store, context: context) { key in
                new[Identity(root: self.store.source.root(ofEntity: key.entity), primaryKey: key.primaryKey)]
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

    /// How many keys each root entity's new objects need.
    private func neededKeys() -> [Int: Int] {
        var counts: [Int: Int] = [:]
        // Objects of one entity come in runs: a run looks the root up once.
        var run = (root: -1, count: 0)
        inserted.forEachHeld { object in
            guard object.hasTemporaryKey else { return }
            if object.home.root != run.root {
                if run.count > 0 { counts[run.root, default: 0] += run.count }
                run = (object.home.root, 0)
            }
            run.count += 1
        }
        if run.count > 0 { counts[run.root, default: 0] += run.count }
        return counts
    }

    private func takeKeys(_ ranges: [Int: ClosedRange<Int64>]) {
        var next = ranges.mapValues(\.lowerBound)
        var run: (root: Int, key: Int64) = (-1, 0)
        inserted.forEachHeld { object in
            guard object.hasTemporaryKey else { return }
            if object.home.root != run.root {
                next[run.root] = run.key
                run = (object.home.root, next[object.home.root] ?? 0)
            }
            object.primaryKey = run.key
            run.key += 1
        }
    }

    // MARK: The change set

    private func changeSet() throws -> ChangeSet {
        var changes = ChangeSet()
        changes.insertions.reserveCapacity(inserted.count)
        written = []
        try inserted.forEachHeld {
            changes.insertions.append(ChangeSet.Insertion(row: try row(of: $0, version: 1)))
        }
        changes.updates.reserveCapacity(updated.count)
        try updated.forEachHeld { object in
            guard let old = object.rowView else {
                throw SaveFailure.conflicts([
                    SaveFailure.Conflict(
                        key: RowKey(entity: object.runtime.ordinal, primaryKey: object.primaryKey),
                        expectedVersion: 0, persisted: nil)
                ])
            }
            let (row, columns) = try changedRow(of: object, from: old)
            guard !columns.isEmpty || object.hasChangedMembers else { return }
            written.append(object)
            guard let known = object.row else { preconditionFailure("the row is there") }
            changes.updates.append(ChangeSet.Update(old: known, new: row, columns: columns))
        }
        changes.deletions.reserveCapacity(deleted.count)
        deleted.forEachHeld { object in
            // A row that somebody else deleted already is gone, as was asked.
            guard let row = object.rowView else { return }
            changes.deletions.append(
                ChangeSet.Deletion(
                    key: RowKey(entity: row.entity, primaryKey: row.primaryKey), version: row.version))
        }
        changes.links = links()
        changes.checks = checks()
        try context.checkReads()
        metadataEdits = store.metadataEdits
        changes.metadata = try store.unsavedMetadata()
        return changes
    }

    private func checks() -> [ChangeSet.Check] {
        guard !checked.isEmpty else { return [] }
        // Those that are written are checked by that.
        let written = Set(written.map(ObjectIdentifier.init))
        return checked.compactMap { object in
            guard !written.contains(ObjectIdentifier(object)), let row = object.rowView else { return nil }
            return ChangeSet.Check(
                key: RowKey(entity: row.entity, primaryKey: row.primaryKey), version: row.version)
        }
    }

    /// The row with what the object changed, and the columns that differ.
    private func changedRow(
        of object: NSManagedObject, from old: RowView
    ) throws -> (row: RowSnapshot, columns: IndexMask) {
        let form = form(for: object)
        let touched = touchedColumns(of: object)
        // Where no text or blob is replaced the old row is copied as it lies; else its bytes would stay behind.
        if form.areFixed(touched) {
            form.builder.copy(old, kinds: form.kinds)
        } else {
            for column in form.kinds.indices where !touched.contains(column) {
                form.builder.copy(column, kind: form.kinds[column], from: old)
            }
        }
        for column in touched { try set(column, of: object, form) }
        let row = form.builder.finish(
            primaryKey: object.primaryKey, version: old.version &+ 1, entity: form.runtime.ordinal)
        var columns = IndexMask()
        row.withView { new in
            for column in touched where !new.isEqual(to: old, at: column, kind: form.kinds[column]) {
                columns.insert(column)
            }
        }
        return (row, columns)
    }

    /// The columns that may have changed: of properties that were set, also as primitive values, and of orders and owners
    /// that were assigned.
    private func touchedColumns(of object: NSManagedObject) -> IndexMask {
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

    private func row(of object: NSManagedObject, version: Int32) throws -> RowSnapshot {
        let form = form(for: object)
        for column in form.roles.indices { try set(column, of: object, form) }
        return form.builder.finish(
            primaryKey: object.primaryKey, version: version, entity: form.runtime.ordinal)
    }

    /// Gives a column the value that the object has for it now.
    private func set(_ index: Int, of object: NSManagedObject, _ form: RowForm) throws {
        let kind = form.kinds[index]
        let builder = form.builder
        switch form.roles[index] {
        case .attribute(let slot):
            if let row = object.rowView, !object.hasLiveValue(slot) {
                builder.copy(index, kind: kind, from: row)
            } else {
                try ManagedObjectValues.encode(
                    object.attributeValue(slot), slot: slot, of: form.runtime, kind, at: index, into: builder)
            }
        case .destinationKey(let slot):
            guard let target = target(object, slot) else {
                return copyOrClear(object, index, kind, unlessRead: slot, builder)
            }
            try target._withUnsafeGuaranteedRef { target in
                try Self.checkStore(target, of: object, slot)
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
    private func target(_ object: NSManagedObject, _ slot: Int) -> Unmanaged<NSManagedObject>? {
        object.relations.uncountedToOne(Int(object.home.facts[slot].relation))
    }

    /// A to-one that nobody has looked at is as it was; one that is nil now has no key.
    private func copyOrClear(
        _ object: NSManagedObject, _ column: Int, _ kind: ColumnKind, unlessRead slot: Int, _ builder: RowBuilder
    ) {
        guard let row = object.rowView else { return }
        let isRead = object.relations.isRead(Int(object.home.facts[slot].relation))
        if isRead { builder.setNull(at: column) } else { builder.copy(column, kind: kind, from: row) }
    }

    static func checkStore(_ target: NSManagedObject, of object: NSManagedObject, _ slot: Int) throws {
        if target.storeIndex != object.storeIndex {
            throw CoreDataErrors.crossStore(object, relationship: object.runtime.slots[slot].name, target)
        }
    }

    private func form(for object: NSManagedObject) -> RowForm {
        if let lastForm, lastForm.runtime === object.home.runtime { return lastForm }
        let runtime = object.home.runtime
        let form = context.rowForm(of: runtime)
        lastForm = form
        return form
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
        func note(_ link: ChangeSet.Link, _ inverse: (entity: Int, slot: Int)?) {
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
        for object in [inserted, updated].joined() where object.home.hasManyToMany {
            noteLinks(of: object, note)
        }
        for object in deleted where object.hasRow && object.home.hasManyToMany {
            forEachManyToMany(of: object) { slot, members, inverse in
                let declaring = object.runtime.slots[slot].property.declaringEntity
                for member in object.knownMembers(slot).committedMembers {
                    note(
                        ChangeSet.Link(
                            .remove, entity: declaring, slot: slot, owner: object.primaryKey,
                            destination: member.primaryKey), inverse)
                }
            }
        }
        return order.compactMap { pairs[$0] }
    }

    private func noteLinks(
        of object: NSManagedObject, _ note: (ChangeSet.Link, (entity: Int, slot: Int)?) -> Void
    ) {
        forEachManyToMany(of: object) { slot, members, inverse in
            guard members.hasChanges else { return }
            let declaring = object.runtime.slots[slot].property.declaringEntity
            func link(_ kind: ChangeSet.Link.Kind, _ member: NSManagedObject, order: Int64? = nil) {
                note(
                    ChangeSet.Link(
                        kind, entity: declaring, slot: slot, owner: object.primaryKey,
                        destination: member.primaryKey, order: order), inverse)
            }
            for member in members.removed { link(.remove, member.object) }
            if members.isOrdered {
                for (position, member) in members.members.enumerated() where !member.isDeleted {
                    link(.insert, member, order: OrderAssignment.value(at: position))
                }
            } else {
                for member in members.added where !member.object.isDeleted { link(.insert, member.object) }
            }
        }
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
            if case .toMany = object.relations[info.relation] {
            } else if !object.isDeleted {
                continue
            }
            body(
                slot, object.members(slot),
                isSymmetric ? nil : (inverse.property.declaringEntity, inverseSlot))
        }
    }

    // MARK: After the save

    private func commit(_ changes: ChangeSet, _ outcome: SaveOutcome) {
        inserted.forEachPortion { portion in
            context.becomePermanent(inserted, portion, in: store, temporaryKeys: temporaryKeys)
            var index = portion.lowerBound
            inserted.forEachHeld(in: portion) { object in
                object.takeRow(changes.insertions[index].row.retainedWord())
                object.becomeClean()
                index += 1
            }
        }
        var index = 0
        written.forEachHeld { object in
            object.takeRow(changes.updates[index].new.retainedWord())
            index += 1
        }
        updated.forEachHeld { $0.becomeClean() }
        store.didSave(outcome, in: context, metadataEdits: changes.metadata == nil ? nil : metadataEdits)
        deleted.forEachHeld { $0.becomeClean() }
    }
}

/// What making rows of one entity needs, in one place; a context keeps it from save to save.
final class RowForm {
    let runtime: EntityRuntime
    // Plain memory: to look at an array's element counts references to the array.
    let roles: UnsafeBufferPointer<RowLayout.Role>
    let kinds: UnsafeBufferPointer<ColumnKind>
    let builder: RowBuilder

    init(_ runtime: EntityRuntime) {
        self.runtime = runtime
        let columns = runtime.layout.columns
        roles = Self.copy(columns.map(\.role))
        kinds = Self.copy(runtime.layout.kinds)
        builder = RowBuilder(columnCount: columns.count)
    }

    deinit {
        roles.deallocate()
        kinds.deallocate()
    }

    private static func copy<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
        let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        _ = copy.initialize(from: elements)
        return UnsafeBufferPointer(copy)
    }

    /// Whether every column of the mask is as wide as its word.
    func areFixed(_ mask: IndexMask) -> Bool {
        for column in mask where kinds[column] == .text || kinds[column] == .blob { return false }
        return true
    }
}

extension NSManagedObjectContext {
    fileprivate func rowForm(of runtime: EntityRuntime) -> RowForm {
        if runtime.ordinal < rowForms.count, let known = rowForms[runtime.ordinal], known.runtime === runtime {
            return known
        }
        while rowForms.count <= runtime.ordinal { rowForms.append(nil) }
        let made = RowForm(runtime)
        rowForms[runtime.ordinal] = made
        return made
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

    /// The row holds everything now: forgets what differed from it, keeps transient values and relationships.
    final func becomeClean() {
        if runtime.keepsValues, let values {
            var keepsSome = false
            for (index, slot) in runtime.slots.enumerated() where values[index] != nil {
                if slot.property.isTransient || slot.type == .transformable {
                    keepsSome = true
                } else {
                    values[index] = nil
                }
            }
            values.changed.removeAll()
            values.forgetRare()
            values.event.removeAll()
            if !keepsSome { self.values = nil }
        } else {
            values = nil
        }
        guard home.hasToMany else { return }
        for index in relations.indices {
            guard let members = relations.uncountedMembers(index) else { continue }
            let isKnown = members._withUnsafeGuaranteedRef { members in
                members.commit()
                return members.isKnown
            }
            if !isKnown { relations.forget(index) }
        }
    }
}
