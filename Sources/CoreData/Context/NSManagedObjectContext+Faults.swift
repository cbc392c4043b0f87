import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// From keys and rows to objects, and from faults to values.
extension NSManagedObjectContext {
    final func runtime(forClass type: NSManagedObject.Type) -> EntityRuntime {
        guard let coordinator else {
            preconditionFailure("\(type)(context:) needs a context with a persistentStoreCoordinator.")
        }
        ManagedObjectClasses.shared.learn(type)
        let claiming = coordinator.runtime.entities(ofClass: type)
        if claiming.count == 1 { return claiming[0] }
        if claiming.isEmpty {
            preconditionFailure(
                "No NSEntityDescriptions in any model claim the NSManagedObject subclass '\(type)'; the model has: "
                    + coordinator.runtime.entities.map {
                        "\($0.name) (\($0.compiled.className ?? "NSManagedObject"))"
                    }.joined(separator: ", "))
        }
        preconditionFailure(
            "Multiple NSEntityDescriptions claim the NSManagedObject subclass '\(type)': "
                + claiming.map(\.name).joined(separator: ", ") + "; use init(entity:insertInto:).")
    }

    /// The entity that claims the class; objects of one class are made one after another.
    final func entity(forClass type: NSManagedObject.Type) -> NSEntityDescription {
        if homeCache.lastNewClass == ObjectIdentifier(type), let home = homeCache.lastNew { return home.entity }
        if ClassOverrides.overridesEntity(type) { return type.entity() }
        let runtime = runtime(forClass: type)
        homeCache.rememberNew(registry.home(of: runtime, in: nil), of: ObjectIdentifier(type))
        return runtime.entity
    }

    /// Where new objects of an entity live.
    final func homeOfNew(_ entity: NSEntityDescription) -> ObjectHome {
        let address = Unmanaged.passUnretained(entity).toOpaque()
        if let home = homeCache.lastNew, home.entityAddress == address { return home }
        if let home = homeCache.lastInserted, home.entityAddress == address { return home }
        let home = registry.home(of: EntityRuntime.of(entity, in: self), in: nil)
        homeCache.lastInserted = home
        return home
    }

    // MARK: Objects of rows and keys

    /// The object of a row: the registered one, or a new fault that has the row in hand.
    final func object(for row: RowSnapshot, in store: AttachedStore) -> NSManagedObject {
        objects(for: [row], in: store)[0]
    }

    final func objects(for rows: [RowSnapshot], in store: AttachedStore) -> [NSManagedObject] {
        let list = RowList()
        for row in rows { list.append(row) }
        var objects: [NSManagedObject] = []
        var classes = FoundClasses()
        append(objectsFor: list, in: store, to: &objects, noting: &classes)
        return objects
    }

    /// Appends the objects of many rows of one root entity. Facts that are equal for all rows are computed once, and
    /// the registry is locked twice.
    ///
    /// The objects take the rows out of the list.
    final func append(
        objectsFor rows: RowList, in store: AttachedStore, to objects: inout [NSManagedObject],
        noting classes: inout FoundClasses
    ) {
        guard !rows.isEmpty else { return }
        let start = objects.count
        var entity = rows.view(0).entity
        var home = home(ofEntity: entity, in: store)
        var type = home.runtime.objectClass
        let known = registry.objects(of: rows, in: home)
        for index in rows.indices {
            if !known.isEmpty, let object = known[index] {
                if object.flags.contains(.inaccessible) { revive(object) }
                if object.flags.contains(.fault) { object.takeRow(rows.take(index)) }
                classes.note(object)
                objects.append(object)
                continue
            }
            let row = rows.view(index)
            if row.entity != entity {
                entity = row.entity
                home = self.home(ofEntity: entity, in: store)
                type = home.runtime.objectClass
            }
            let object = NSManagedObject.makeFault(home, row.primaryKey, type: type)
            object.takeRow(rows.take(index))
            classes.note(object)
            objects.append(consume object)
        }
        if registry.register(&objects, from: start) { objects[start...].forEach { classes.note($0) } }
        if retention.isEnabled { retention.objects += objects[start...] }
    }

    /// The object of a key: the registered one, or a new fault without values.
    final func object(for key: RowKey, in store: AttachedStore) -> NSManagedObject {
        let home = home(ofEntity: key.entity, in: store)
        if let known = registry.object(in: home, primaryKey: key.primaryKey) { return known }
        // Between the reading of a row and this an ancestor may have saved.
        if parentLink.isChild, key.primaryKey >= 0 {
            adoptPermanentKeys()
            if let known = registry.object(in: home, primaryKey: key.primaryKey) { return known }
        }
        // A row may contain the temporary key that an object had before an ancestor saved it.
        if key.primaryKey < 0, let id = permanentID(forTemporaryKey: key.primaryKey) { return object(with: id) }
        return makeFault(home, key.primaryKey)
    }

    /// Returns a new fault for a key without a registered object.
    private func makeFault(_ home: ObjectHome, _ primaryKey: Int64) -> NSManagedObject {
        let object = NSManagedObject.makeFault(home, primaryKey, type: home.runtime.objectClass)
        registry.register(object)
        if retention.isEnabled { retention.objects.append(object) }
        return object
    }

    private func home(ofEntity ordinal: Int, in store: AttachedStore) -> ObjectHome {
        // Rows of one entity come one after another.
        if let last = homeCache.last, last.ordinal == ordinal, last.store === store { return last }
        guard let coordinator else { preconditionFailure("the context has lost its coordinator") }
        let home = registry.home(of: coordinator.runtime.entities[ordinal], in: store)
        homeCache.remember(home)
        return home
    }

    /// The destination of a to-one, which is not registered yet, as an object that may be a fault.
    final func destination(
        in store: AttachedStore, entity: Int, entityNumber: Int64?, primaryKey: Int64
    ) -> NSManagedObject? {
        guard let coordinator, store.isAttached else { return nil }
        let base = coordinator.runtime.entities[entity]
        var ordinal = entity
        if let entityNumber {
            ordinal = store.source.entity(numbered: entityNumber) ?? entity
        } else if base.compiled.subtree.count > 1 {
            // An old store without the companion column: only the row itself knows its entity.
            if let row = try? store.source.row(primaryKey, root: base.root, staleness: -1) {
                return object(for: row, in: store)
            }
        }
        return object(for: RowKey(entity: ordinal, primaryKey: primaryKey), in: store)
    }

    /// Returns the members of a to-many in the store, with one statement that also reads their rows; `nil` if they
    /// cannot be read.
    ///
    /// With `refreshes`, unchanged members that have older rows get the new ones.
    final func storedMembers(
        of object: NSManagedObject, slot: Int, refreshes: Bool = false
    ) -> [NSManagedObject]? {
        adoptPermanentKeys()
        guard let store = store(at: object.storeIndex), object.isStored else { return [] }
        rowReading.faultWatch?.willReadMembers(of: object, slot: slot)
        do {
            if !refreshes, let keys = try memberKeys(of: object, slot: slot, in: store) {
                return faults(for: keys, in: store)
            }
            if !refreshes, rowReading.readsMembersByKey,
                let members = try memberFaults(of: object, slot: slot, in: store)
            {
                return members
            }
            let owners = refreshes ? [object] : siblings(of: object, readingMembersOf: slot, in: store)
            let found = try store.source.destinationRows(
                entity: object.runtime.ordinal, slot: slot, owners: owners.map(\.primaryKey))
            let rows = found.first { $0.owner == object.primaryKey }?.rows ?? []
            adoptPermanentKeys()
            let objects = objects(for: rows, in: store)
            noteSiblings(objects, in: store)
            if owners.count > 1 { know(found, slot, of: Array(owners.dropFirst()), in: store) }
            if refreshes {
                for (object, row) in zip(objects, rows) where !object.isFault && !object.hasChanges {
                    if !object.hasSameRow(as: row) { merge(row, into: object) }
                }
            }
            return objects
        } catch {
            noteReadFailure(error, "The members of '\(object.runtime.slots[slot].name)' of \(object.objectID)")
            return nil
        }
    }

    /// Returns the keys of a to-many's members if the store has them without the rows; else `nil`.
    private func memberKeys(of object: NSManagedObject, slot: Int, in store: AttachedStore) throws -> [RowKey]? {
        guard store.readsRowsLater, let source = store.objectSource else { return nil }
        return try source.memberKeys(
            entity: object.runtime.ordinal, slot: slot, owners: [object.primaryKey])?.first?.keys
    }

    /// Returns the objects of keys that exist according to the store. They get no rows.
    func faults(for keys: [RowKey], in store: AttachedStore) -> [NSManagedObject] {
        let objects = keys.map { key in
            let object = object(for: key, in: store)
            if object.flags.contains(.inaccessible) { revive(object) }
            return object
        }
        noteSiblings(objects, in: store)
        return objects
    }

    /// Records that a read failed in a place that cannot throw. The value is nil for now, and nothing that depends on
    /// it may be saved.
    final func noteReadFailure(_ error: any Error, _ what: String) {
        let converted = CoreDataErrors.converted(error, store: nil, context: self)
        CoreDataLog.general.error("\(what) could not be read: \(converted.localizedDescription)")
        if rowReading.failure == nil { rowReading.failure = converted }
    }

    /// Throws if a value that the save depends on could not be read. After this error, the next save reads again.
    final func checkReads() throws {
        guard let failure = rowReading.failure else { return }
        rowReading.failure = nil
        throw failure
    }

    // MARK: Lookup

    /// Implements the open method of the class.
    final func knownObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkOwned("registeredObject(for:)")
        adoptPermanentKeys()
        var id = objectID
        if id.isTemporaryID, let permanent = permanentID(forTemporaryKey: id.primaryKey) { id = permanent }
        if id.isTemporaryID {
            return registry.object(store: 0, root: id.runtime.root, primaryKey: id.primaryKey)
        }
        return home(of: id).flatMap { registry.object(in: $0, primaryKey: id.primaryKey) }
    }

    /// Returns the home of a permanent ID's object; `nil` for an ID of another store or entity.
    final func home(of id: NSManagedObjectID) -> ObjectHome? {
        if let last = homeCache.last, last.holdsObject(of: id) { return last }
        guard !id.isTemporaryID, let store = store(withIdentifier: id.storeIdentifier),
            let runtime = coordinator?.runtime.entity(named: id.runtime.name)
        else { return nil }
        let home = registry.home(of: runtime, in: store)
        homeCache.remember(home)
        return home
    }

    /// Implements the open method of the class.
    final func objectOrFault(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkOwned("object(with:)")
        adoptPermanentKeys()
        // IDs of one entity and store come one after another: their home is counted only to make an object.
        if let last = homeCache.uncountedLast, last._withUnsafeGuaranteedRef({ $0.holdsObject(of: objectID) }) {
            let key = objectID.primaryKey
            let known = last._withUnsafeGuaranteedRef { registry.object(in: $0, primaryKey: key) }
            return known ?? makeFault(last.takeUnretainedValue(), key)
        }
        if !objectID.isTemporaryID, let home = home(of: objectID) {
            return registry.object(in: home, primaryKey: objectID.primaryKey) ?? makeFault(home, objectID.primaryKey)
        }
        if let known = registeredObject(for: objectID) { return known }
        var id = objectID
        if id.isTemporaryID, let permanent = permanentID(forTemporaryKey: id.primaryKey) { id = permanent }
        if let home = home(of: id) { return makeFault(home, id.primaryKey) }
        let runtime = coordinator?.runtime.entity(named: id.runtime.name) ?? id.runtime
        if parentLink.isChild, id.isTemporaryID, let store = storeForNew(runtime) {
            // Perhaps one that an ancestor has not saved yet.
            return makeFault(registry.home(of: runtime, in: store), id.primaryKey)
        }
        // An ID of no store of ours: an object that has nothing.
        let object = NSManagedObject.makeFault(
            registry.home(of: runtime, in: nil), id.primaryKey, type: runtime.objectClass)
        object.takeID(id)
        return object
    }

    /// Implements the open method of the class.
    final func realisedObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        let object = object(with: objectID)
        if object.flags.contains(.inaccessible) { _ = try CoreDataErrors.converting { try reviveIfThere(object) } }
        if object.isDeleted || object.flags.contains(.inaccessible) {
            throw CoreDataErrors.missingObject(objectID)
        }
        guard object.isFault else { return object }
        if !object.hasCurrentRow { try CoreDataErrors.converting { try readRows(of: [object]) } }
        guard object.hasRow else { throw CoreDataErrors.missingObject(objectID) }
        object.becomeRealised()
        return object
    }
}
