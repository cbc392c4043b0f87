import CoreDataModel
import CoreDataStore

// Many-to-many relationships become pairs.
extension SavePreparation {
    typealias PairSide = OrderAssignment.PairSide

    struct Pair: Hashable {
        var entity: Int
        var slot: Int
        var owner: Int64
        var destination: Int64
    }

    /// Returns the inserted and deleted pairs, each once although both sides record it.
    func links() -> [ChangeSet.Link] {
        var pairs: [Pair: ChangeSet.Link] = [:]
        var order: [Pair] = []
        func note(_ link: ChangeSet.Link, _ inverse: (entity: Int, slot: Int)?) {
            var link = link
            // One of the two sides represents both: the one that is declared first.
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

    func noteLinks(
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
                for place in places(of: members, PairSide(owner: ObjectReference(object), slot: slot))
                where !place.member.isDeleted {
                    link(.insert, place.member, order: place.order)
                }
            } else {
                for member in members.added where !member.object.isDeleted { link(.insert, member.object) }
            }
        }
    }

    /// Returns the positions computed for the relationship's pairs; new ones for all if members were added later.
    private func places(of members: ToManyMembers, _ side: PairSide) -> [OrderAssignment.Place] {
        if let places = pairPlaces[side] {
            let placed = Set(places.map { ObjectReference($0.member) })
            if members.added.isSubset(of: placed) { return places }
        }
        return OrderAssignment.allAnew(members)
    }

    func forEachManyToMany(
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
}
