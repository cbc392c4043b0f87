import CoreDataPrimitives

/// The state of a context's objects before a merge policy changes them, so that a failed save can restore it.
///
/// It is made only if a save meets a conflict. Cost: one step for each registered object, and a copy of the changed
/// values.
struct ContextState {
    private struct Kept {
        let object: NSManagedObject
        let home: ObjectHome
        let flags: ObjectFlags
        let row: RowSnapshot?
        let values: ObjectValues?
        let relations: [RelationValue]
    }

    private var objects: [Kept] = []
    private let inserted: [NSManagedObject]
    private let updated: [NSManagedObject]
    private let deleted: [NSManagedObject]
    private let checked: [NSManagedObject]
    private let awaitingDeleteRules: [NSManagedObject]
    private let event: ChangeEvent
    private let mayHaveDangling: Bool

    init(_ context: NSManagedObjectContext) {
        inserted = context.pendingChanges.inserted
        updated = context.pendingChanges.updated
        deleted = context.pendingChanges.deleted
        checked = context.pendingChanges.versionChecked
        awaitingDeleteRules = context.pendingChanges.awaitingDeleteRules
        event = context.pendingChanges.event
        mayHaveDangling = context.registry.mayHaveDangling
        let registered = context.registry.objects
        objects.reserveCapacity(registered.count)
        registered.forEachHeld { object in
            objects.append(
                Kept(
                    object: object, home: object.home, flags: object.flags, row: object.row,
                    values: object.values?.copy(),
                    relations: object.relations.isEmpty ? [] : object.relations.map(Self.copy)))
        }
    }

    private static func copy(_ relation: RelationValue) -> RelationValue {
        if case .toMany(let members) = relation { return .toMany(members.copy()) }
        return relation
    }

    /// Restores the state, except of objects of the given stores.
    func restore(_ context: NSManagedObjectContext, except stores: Set<Int32>) {
        let registry: ObjectRegistry = context.registry
        var known: Set<ObjectIdentifier> = []
        known.reserveCapacity(objects.count)
        for kept in objects {
            known.insert(ObjectIdentifier(kept.object))
            if !stores.contains(kept.home.storeIndex) || stores.isEmpty { restore(kept, in: registry) }
        }
        for object in registry.objects where !known.contains(ObjectIdentifier(object)) {
            if object.isInserted { context.forget(object) }
            object.values = nil
            object.relations.removeAll()
            object.flags.subtract([
                .updated, .deleted, .listedInserted, .listedUpdated, .listedDeleted, .eventInserted, .eventUpdated,
                .eventDeleted,
            ])
        }
        context.pendingChanges.inserted = inserted
        context.pendingChanges.updated = updated
        context.pendingChanges.deleted = deleted
        context.pendingChanges.versionChecked = checked
        context.pendingChanges.awaitingDeleteRules = awaitingDeleteRules
        context.pendingChanges.event = event
        registry.mayHaveDangling = mayHaveDangling
    }

    private func restore(_ kept: Kept, in registry: ObjectRegistry) {
        let object = kept.object
        let wasRegistered = object.flags.contains(.registered)
        object.move(to: kept.home)
        object.row = kept.row
        object.values = kept.values
        object.relations.removeAll()
        for (index, relation) in kept.relations.enumerated() {
            switch relation {
            case .unread: break
            case .toOne(let target): object.relations.setToOne(index, target, of: object.home.relationCount)
            case .toMany(let members): object.relations.setMembers(index, members, of: object.home.relationCount)
            }
        }
        object.forgetFetchedProperties()
        object.flags = kept.flags
        if !wasRegistered { registry.register(object) }
    }
}
