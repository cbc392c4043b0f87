import CoreDataPrimitives

/// What a context knows of its objects at one moment, to be put back.
///
/// Costs a step for each registered object, and a copy of what was set; made only where a save meets a conflict.
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
    private let unpropagated: [NSManagedObject]
    private let event: ChangeEvent
    private let mayHaveDangling: Bool

    init(_ context: NSManagedObjectContext) {
        inserted = context.insertedList
        updated = context.updatedList
        deleted = context.deletedList
        checked = context.checkedList
        unpropagated = context.unpropagated
        event = context.event
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

    /// Puts everything back; objects of those stores stay as they are.
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
        context.insertedList = inserted
        context.updatedList = updated
        context.deletedList = deleted
        context.checkedList = checked
        context.unpropagated = unpropagated
        context.event = event
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
