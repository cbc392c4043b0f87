import CoreDataModel
import CoreDataPrimitives

// Objects that this context gave its parent as new ones, and in whose place a row's object is since an ancestor saved: uniqueness
// constraints said that they are the same.
extension NSManagedObjectContext {
    /// The object is the row's from now on; where that is known here already, it leaves, and hands over what was changed.
    ///
    /// - Returns: the object that is there in its place, where it leaves.
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
        event.deleted.append(object)
        detach([object])
        object.leaveRelations()
        // It has what was given to it, and whom others refer to by it.
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

    /// Relationships that still lead to objects in whose places others are, which had not been read from that side.
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

    /// The row that the object has is what it would have been.
    private func readAnew(_ object: NSManagedObject, in store: AttachedStore) {
        guard object.isUpdated || object.isDeleted else {
            object.becomeFault()
            object.giveUpRow()
            event.refreshed.append(object)
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
