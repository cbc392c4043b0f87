import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// The value that a save writes into a column of a one-way to-many's owner.
enum OwnerChange {
    case none
    case owner(NSManagedObject)
    case order(Int64)
}

/// Assigns order values and owners to the rows of members of changed one-to-many relationships. Also collects ordered
/// many-to-manys that changed; their pairs get order values from ``places(ofPairs:in:)``.
///
/// A member that keeps its position keeps its order value; a new or moved one gets a value between those of its
/// neighbours. See ``MemberPlace`` for the values.
struct OrderAssignment {
    let context: NSManagedObjectContext

    /// The work that remains when all objects were passed to ``assign(_:remaining:touch:)``.
    struct Remaining {
        /// The ordered many-to-manys that changed.
        var pairs: [PairSide] = []
        /// The to-manys without an inverse that changed. Their members get their owners last: one that another owner
        /// has lost may be among them.
        var gaining: [PairSide] = []
    }

    /// Assigns order values to members of changed one-to-manys, and releases members that to-manys without an inverse
    /// have lost.
    ///
    /// Calls `touch` with each object whose row changes by that.
    func assign(
        _ objects: [NSManagedObject], remaining: inout Remaining, touch: (NSManagedObject) -> Void
    ) {
        objects.forEachHeld { object in
            guard object.home.hasToMany, !object.relations.isEmpty else { return }
            for slot in object.runtime.relationSlots {
                let info = object.runtime.slots[slot]
                guard info.isToMany, !info.property.isTransient, let relationship = info.relationship,
                    case .toMany(let members) = object.relations[info.relation], members.hasChanges
                else { continue }
                if relationship.inverseSlot == nil {
                    release(members, of: object, slot, touch: touch)
                    if !object.isDeleted {
                        remaining.gaining.append(PairSide(owner: ObjectReference(object), slot: slot))
                    }
                } else if relationship.isOrdered, !object.isDeleted {
                    if info.isInverseToMany {
                        _ = object.knownMembers(slot)
                        remaining.pairs.append(PairSide(owner: ObjectReference(object), slot: slot))
                    } else {
                        assignOrder(object, slot, relationship, touch: touch)
                    }
                }
            }
        }
    }

    /// Gives members of to-manys without an inverse their owners, and their order values.
    func assignOwners(_ sides: [PairSide], touch: (NSManagedObject) -> Void) {
        for side in sides {
            let (owner, slot) = (side.owner.object, side.slot)
            if case .toMany(let members) = owner.relations[owner.runtime.slots[slot].relation] {
                assignOwner(owner, slot, members, touch: touch)
            }
        }
    }

    /// Members that were removed from a to-many without an inverse have no owner any more.
    private func release(
        _ members: ToManyMembers, of owner: NSManagedObject, _ slot: Int, touch: (NSManagedObject) -> Void
    ) {
        guard !members.removed.isEmpty else { return }
        let declaring = owner.runtime.slots[slot].property.declaringEntity
        // An object that was not a member belongs to another owner, which keeps it.
        let members = owner.knownMembers(slot)
        for member in members.removed where !members.contains(member.object) {
            guard let column = member.object.runtime.layout.column(of: .ownerKey(entity: declaring, slot: slot))
            else { continue }
            member.object.liveValues().owners[column] = OwnerChange.none
            touch(member.object)
        }
    }

    private func assignOwner(
        _ owner: NSManagedObject, _ slot: Int, _ members: ToManyMembers, touch: (NSManagedObject) -> Void
    ) {
        let declaring = owner.runtime.slots[slot].property.declaringEntity
        let members = members.isOrdered ? owner.knownMembers(slot) : members
        for member in members.added {
            guard let column = member.object.runtime.layout.column(of: .ownerKey(entity: declaring, slot: slot))
            else { continue }
            member.object.liveValues().owners[column] = .owner(owner)
            touch(member.object)
        }
        guard members.isOrdered else { return }
        let role = RowLayout.Role.ownerOrder(entity: declaring, slot: slot)
        assignPlaces(owner, slot) {
            $0.runtime.layout.column(of: role)
        } take: { member, value in
            guard let column = member.runtime.layout.column(of: role) else { return }
            member.liveValues().owners[column] = .order(value)
            touch(member)
        }
    }

    private func assignOrder(
        _ owner: NSManagedObject, _ slot: Int, _ relationship: CompiledRelationship,
        touch: (NSManagedObject) -> Void
    ) {
        guard let inverse = relationship.inverseSlot else { return }
        assignPlaces(owner, slot) {
            $0.runtime.layout.orderColumnOfSlot[inverse]
        } take: { member, value in
            member.liveValues().orders[inverse] = value
            touch(member)
        }
    }

    /// Calls `take` with each member whose row gets another order value; `column` is the column of the value.
    private func assignPlaces(
        _ owner: NSManagedObject, _ slot: Int, column: (NSManagedObject) -> Int?,
        take: (NSManagedObject, Int64) -> Void
    ) {
        let stored = { (member: NSManagedObject) -> Int64? in
            guard let column = column(member), column >= 0, let row = member.rowView, !row.isNull(column) else {
                return nil
            }
            return MemberPlace.usable(row.integer(column))
        }
        if !owner.knownMembers(slot).isReordered {
            realise { Self.neighboursOfAdded(among: owner.knownMembers(slot)) }
            if Self.placeAdded(owner.knownMembers(slot), stored, take) { return }
        }
        realise { owner.knownMembers(slot).members }
        Self.placeAll(owner.knownMembers(slot), stored, take)
    }

    /// Reads the rows of members until none of them is a fault: a row may show that its object is not a member, and
    /// then the members are computed again.
    private func realise(_ members: () -> [NSManagedObject]) {
        while true {
            let faults = members().filter { $0.isFault }
            if faults.isEmpty { return }
            context.realiseAll(faults)
            // The save reports values that cannot be read.
            if faults.contains(where: { $0.isFault }) { return }
        }
    }

    // MARK: Places

    /// Returns the unchanged members before and after each run of added members.
    static func neighboursOfAdded(among members: ToManyMembers) -> [NSManagedObject] {
        let places = Set(members.added.compactMap { members.position(of: $0.object) })
        return places.flatMap { [$0 - 1, $0 + 1] }
            .filter { $0 >= 0 && $0 < members.count && !places.contains($0) }.map { members[$0] }
    }

    /// Assigns values between those of their neighbours to the added members, and reads no other members: adding one to
    /// 100,000 costs as much as adding one to ten. Returns whether there was room for all; if not, no value was
    /// assigned.
    static func placeAdded(
        _ members: ToManyMembers, _ stored: (NSManagedObject) -> Int64?, _ take: (NSManagedObject, Int64) -> Void
    ) -> Bool {
        let places = members.added.compactMap { members.position(of: $0.object) }.sorted()
        var values: [Int64] = []
        var next = 0
        while next < places.count {
            let start = places[next]
            var end = start
            while next < places.count, places[next] == end {
                end += 1
                next += 1
            }
            let low = start == 0 ? nil : stored(members[start - 1])
            let high = end == members.count ? nil : stored(members[end])
            // The neighbours have values, or all members need new ones.
            guard start == 0 || low != nil, end == members.count || high != nil,
                let made = MemberPlace.values(end - start, after: low, before: high)
            else { return false }
            values += made
        }
        for (place, value) in zip(places, values) { take(members[place], value) }
        return true
    }

    /// Assigns values to the members that were added, that were moved and that must make room, if they differ from the
    /// stored ones.
    static func placeAll(
        _ members: ToManyMembers, _ stored: (NSManagedObject) -> Int64?, _ take: (NSManagedObject, Int64) -> Void
    ) {
        let added = members.added
        let list = members.members
        let present = list.map { added.contains(ObjectReference($0)) ? nil : stored($0) }
        for (member, (old, new)) in zip(list, zip(present, MemberPlace.values(for: present))) where old != new {
            take(member, new)
        }
    }
}
