import CoreDataModel
import Foundation

// Relationships without an inverse that refer to a deleted object.
extension ConstraintConflictResolution {
    /// Redirects these relationships to the survivor. Only new and changed objects can refer to a new object. Any row
    /// can refer to an object with a row, also a row that is not in memory.
    func redirectOneWayReferences() throws {
        guard !survivors.isEmpty else { return }
        let referrers = try referrers(to: merged)
        for object in [context.pendingChanges.inserted, context.pendingChanges.updated, referrers].joined() {
            guard !object.relations.isEmpty, object.hasChanges || !referrers.isEmpty, isPresent(object) else {
                continue
            }
            for (index, slot) in object.runtime.relationSlots.enumerated() where object.relations.isRead(index) {
                guard object.runtime.slots[slot].relationship?.inverseSlot == nil else { continue }
                redirect(object.relations[index], slot, of: object)
            }
        }
    }

    private func redirect(_ relation: RelationValue, _ slot: Int, of object: NSManagedObject) {
        switch relation {
        case .toOne(let target?):
            guard survivors[ObjectIdentifier(target)] != nil else { break }
            object.setToOne(survivor(of: target), slot)
        case .toMany(let members):
            for member in members.members {
                guard survivors[ObjectIdentifier(member)] != nil, let next = survivor(of: member) else { continue }
                replace(member, by: next, among: object, slot)
            }
        case .toOne(nil), .unread: break
        }
    }

    /// Returns an object that refers to this one by a relationship whose destination entity excludes the survivor.
    func referrer(
        to object: NSManagedObject, thatCannotLeadTo survivor: NSManagedObject
    ) throws -> (object: NSManagedObject, relationship: String)? {
        guard let model = context.coordinator?.runtime, !object.isStored || prefersMine else { return nil }
        let rows = object.isStored ? try referrers(to: [object]) : []
        for referrer in [context.pendingChanges.inserted, context.pendingChanges.updated, rows].joined()
        where isPresent(referrer) {
            for (index, slot) in referrer.runtime.relationSlots.enumerated() where referrer.relations.isRead(index) {
                let info = referrer.runtime.slots[slot]
                guard let relationship = info.relationship, relationship.inverseSlot == nil, !info.property.isTransient,
                    !isKind(survivor.runtime.ordinal, of: relationship.destination, in: model)
                else { continue }
                let leads =
                    info.isToMany ? referrer.members(slot).contains(object) : referrer.toOne(slot) === object
                if leads { return (referrer, info.name) }
            }
        }
        return nil
    }

    /// Returns the objects whose rows refer to one of the rows to be deleted, with these relationships read.
    ///
    ///     SELECT … FROM ZPERSON t0 WHERE t0.ZFAVOURITE IN (?)
    private func referrers(to goers: [NSManagedObject]) throws -> [NSManagedObject] {
        guard !goers.isEmpty, let model = context.coordinator?.runtime else { return [] }
        var found: [NSManagedObject] = []
        for runtime in model.entities {
            for slot in runtime.relationSlots {
                let info = runtime.slots[slot]
                // The relationship is queried once, for the entity that declares it.
                guard info.property.declaringEntity == runtime.ordinal, !info.property.isTransient,
                    let relationship = info.relationship, relationship.inverseSlot == nil
                else { continue }
                let targets = goers.filter { isKind($0.runtime.ordinal, of: relationship.destination, in: model) }
                guard !targets.isEmpty else { continue }
                let request = NSFetchRequest<NSManagedObject>(entityName: runtime.name)
                request.predicate = NSPredicate(
                    format: info.isToMany ? "ANY %K IN %@" : "%K IN %@", argumentArray: [info.name, targets])
                for object in try context.fetch(request) {
                    guard let place = object.runtime.slot(forKey: info.name) else { continue }
                    if info.isToMany { _ = object.knownMembers(place) } else { _ = object.toOne(place) }
                    found.append(object)
                }
            }
        }
        return found
    }

    private func isKind(_ entity: Int, of ancestor: Int, in model: ModelRuntime) -> Bool {
        var next: Int? = entity
        while let ordinal = next {
            if ordinal == ancestor { return true }
            next = model.entities[ordinal].compiled.parent
        }
        return false
    }
}
