import CoreDataModel
import CoreDataPrimitives

// New objects that this context saved to its parent, and that an ancestor's save replaced by the object of an existing
// row, because of a uniqueness constraint.
extension NSManagedObjectContext {
    /// Gives the object the existing row. If the context already has an object of that row, this object leaves the
    /// context and hands over its changes.
    ///
    /// - Returns: the object that replaces it, if it leaves.
    final func adopt(
        _ object: NSManagedObject, absorbedBy id: NSManagedObjectID, in store: AttachedStore
    ) -> NSManagedObject? {
        let temporaryKey = object.primaryKey
        guard let runtime = coordinator?.runtime.entity(named: id.runtime.name) else { return nil }
        let home = registry.home(of: runtime, in: store)
        let known = registry.object(in: home, primaryKey: id.primaryKey)
        registry.alias(absorbed: temporaryKey, to: id)
        guard known != nil || runtime !== object.runtime else {
            object.take(key: id.primaryKey)
            becomePermanent([object], 0..<1, in: store, temporaryKeys: [temporaryKey])
            readAnew(object, in: store)
            return nil
        }
        let survivor = known ?? self.object(with: id)
        let partners = object.relatives
        if object.isUpdated { handOver(object, to: survivor) }
        pendingChanges.event.deleted.append(object)
        detach([object])
        object.leaveRelations()
        // The survivor has values that were set on it, and other objects refer to it.
        if known != nil { readAnew(survivor, in: store) }
        for (partner, slot) in partners where partner !== object {
            if partner.values?.changed.contains(slot) ?? false {
                partner.inverseDidLose(object, slot)
                partner.inverseDidGain(survivor, slot)
            } else {
                partner.relations.forget(Int(partner.home.facts[slot].relation))
            }
        }
        return survivor
    }

    /// Redirects relationships that still refer to replaced objects and that had not been read from the other side.
    final func redirectReferences(to survivors: [ObjectIdentifier: NSManagedObject]) {
        registry.objects.forEachHeld { object in
            for index in object.relations.indices {
                switch object.relations[index] {
                case .unread, .toOne(nil): break
                case .toOne(let target?):
                    guard let survivor = survivors[ObjectIdentifier(target)] else { break }
                    object.relations.setToOne(index, survivor, of: object.home.relationCount)
                case .toMany(let members):
                    let former = members.members + members.added.map(\.object)
                    guard former.contains(where: { survivors[ObjectIdentifier($0)] != nil }) else { break }
                    if !members.hasChanges {
                        object.relations.forget(index)
                        break
                    }
                    let added = members.added.compactMap { survivors[ObjectIdentifier($0.object)] }
                    members.forget { survivors[ObjectIdentifier($0)] != nil }
                    for survivor in added { members.add(survivor) }
                }
            }
        }
    }

    /// Reads the object's row again; it is the row that a fetch would find.
    private func readAnew(_ object: NSManagedObject, in store: AttachedStore) {
        guard object.isUpdated || object.isDeleted else {
            object.becomeFault()
            object.giveUpRow()
            pendingChanges.event.refreshed.append(object)
            return followTurn()
        }
        do {
            let row = try store.source.row(object.primaryKey, root: object.home.root, staleness: stalenessInterval)
            if let row { merge(row, into: object) }
        } catch { noteReadFailure(error, "\(object.objectID)") }
    }

    private func handOver(_ object: NSManagedObject, to survivor: NSManagedObject) {
        guard let changed = object.values?.changed, !survivor.isDeleted else { return }
        for slot in changed where !object.runtime.slots[slot].property.isTransient {
            guard let place = survivor.runtime.slot(forKey: object.runtime.slots[slot].name), object.isChanged(slot)
            else { continue }
            if object.home.facts[slot].relation < 0 {
                survivor.setAttribute(object.attributeValue(slot), place)
            } else if object.home.facts[slot].isToMany {
                for member in object.members(slot).added { survivor.addMember(member.object, place) }
                for member in object.members(slot).removed { survivor.removeMember(member.object, place) }
            } else {
                let target = object.toOne(slot)
                object.setToOne(nil, slot)
                survivor.setToOne(target, place)
            }
        }
    }
}
