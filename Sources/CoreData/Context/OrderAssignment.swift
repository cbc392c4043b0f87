import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// What a save puts into a column that belongs to a one-way to-many's owner.
enum OwnerChange {
    case none
    case owner(NSManagedObject)
    case order(Int64)
}

/// Gives the members of changed one-to-many relationships what their rows say of them: order values, owners; reads ordered
/// many-to-manys that changed.
///
/// Order values are 2048, 3072, 4096 … A member that stays in order keeps its value; a new or moved
/// one gets a value between its neighbours', and only where there is none left are all values made anew.
struct OrderAssignment {
    let context: NSManagedObjectContext

    static func value(at position: Int) -> Int64 {
        MemberPlace.beforeFirst + MemberPlace.distance * Int64(position + 1)
    }

    func assign(_ objects: [NSManagedObject], touch: (NSManagedObject) -> Void) {
        objects.forEachHeld { object in
            guard object.home.hasToMany, !object.relations.isEmpty else { return }
            for slot in object.runtime.relationSlots {
                let info = object.runtime.slots[slot]
                guard info.isToMany, !info.property.isTransient, let relationship = info.relationship,
                    case .toMany(let members) = object.relations[info.relation], members.hasChanges
                else { continue }
                if relationship.inverseSlot == nil {
                    assignOwner(object, slot, members, touch: touch)
                } else if relationship.isOrdered, !object.isDeleted {
                    assignOrder(object, slot, relationship, touch: touch)
                }
            }
        }
    }

    private func assignOwner(
        _ owner: NSManagedObject, _ slot: Int, _ members: ToManyMembers, touch: (NSManagedObject) -> Void
    ) {
        let declaring = owner.runtime.slots[slot].property.declaringEntity
        // Who was no member belongs to somebody else, who keeps it.
        let members = members.removed.isEmpty ? members : owner.knownMembers(slot)
        for member in members.removed where !members.contains(member.object) {
            guard let column = member.object.runtime.layout.column(of: .ownerKey(entity: declaring, slot: slot))
            else { continue }
            member.object.liveValues().owners[column] = OwnerChange.none
            touch(member.object)
        }
        guard !owner.isDeleted else { return }
        let order = members.isOrdered ? owner.knownMembers(slot).members : members.added.map(\.object)
        for (position, member) in order.enumerated() {
            let layout = member.runtime.layout
            if let column = layout.column(of: .ownerKey(entity: declaring, slot: slot)) {
                member.liveValues().owners[column] = .owner(owner)
            }
            if let column = layout.column(of: .ownerOrder(entity: declaring, slot: slot)) {
                member.liveValues().owners[column] = .order(Self.value(at: position))
            }
            touch(member)
        }
    }

    private func assignOrder(
        _ owner: NSManagedObject, _ slot: Int, _ relationship: CompiledRelationship,
        touch: (NSManagedObject) -> Void
    ) {
        guard let inverse = relationship.inverseSlot, let model = context.coordinator?.runtime else { return }
        // Pairs have places among all members; see SavePreparation+Links.
        if model.entities[relationship.destination].slots[inverse].isToMany { return _ = owner.knownMembers(slot) }
        if !owner.knownMembers(slot).isReordered {
            realise { neighboursOfAdded(among: owner.knownMembers(slot)) }
            if assignAdded(owner.knownMembers(slot), inverse, touch: touch) { return }
        }
        realise { owner.knownMembers(slot).members }
        let known = owner.knownMembers(slot)
        let added = known.added
        let present = known.members.map { member in
            added.contains(ObjectReference(member)) ? nil : storedOrder(of: member, inverse)
        }
        for (member, (old, new)) in zip(known.members, zip(present, Self.values(for: present)))
        where old != new {
            member.liveValues().orders[inverse] = new
            touch(member)
        }
    }

    /// Reads the rows of members until none of them is a fault: a row may show that its object is none, and the others are to be asked for
    /// again.
    private func realise(_ members: () -> [NSManagedObject]) {
        while true {
            let faults = members().filter { $0.isFault }
            if faults.isEmpty { return }
            context.realiseAll(faults)
            // What cannot be read is told when the save looks.
            if faults.contains(where: { $0.isFault }) { return }
        }
    }

    /// Those that stay, before and behind each run of members that came.
    private func neighboursOfAdded(among members: ToManyMembers) -> [NSManagedObject] {
        let places = Set(members.added.compactMap { members.position(of: $0.object) })
        return places.flatMap { [$0 - 1, $0 + 1] }
            .filter { $0 >= 0 && $0 < members.count && !places.contains($0) }.map { members[$0] }
    }

    /// Gives the members that came values between those of their neighbours, and looks at no others: one that comes to a
    /// hundred thousand costs what it costs among ten. Whether there was room for all; else none has got a value.
    private func assignAdded(
        _ members: ToManyMembers, _ inverse: Int, touch: (NSManagedObject) -> Void
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
            guard let low = start == 0 ? MemberPlace.beforeFirst : storedOrder(of: members[start - 1], inverse) else {
                return false
            }
            var step = MemberPlace.distance
            if end < members.count {
                guard let high = storedOrder(of: members[end], inverse) else { return false }
                step = (high - low) / Int64(end - start + 1)
            }
            guard step >= 1 else { return false }
            for offset in 1...(end - start) { values.append(low + step * Int64(offset)) }
        }
        for (place, value) in zip(places, values) {
            let member = members[place]
            member.liveValues().orders[inverse] = value
            touch(member)
        }
        return true
    }

    /// The order value in the member's row.
    private func storedOrder(of member: NSManagedObject, _ inverse: Int) -> Int64? {
        let column = member.runtime.layout.orderColumnOfSlot[inverse]
        guard column >= 0, let row = member.rowView, !row.isNull(column) else { return nil }
        return row.integer(column)
    }

    /// The values, ascending; `nil` asks for one.
    static func values(for present: [Int64?]) -> [Int64] {
        var values = keepingAscending(present)
        var index = 0
        while index < values.count {
            guard values[index] == nil else {
                index += 1
                continue
            }
            var end = index
            while end < values.count, values[end] == nil { end += 1 }
            let low = index == 0 ? MemberPlace.beforeFirst : values[index - 1] ?? MemberPlace.beforeFirst
            let missing = Int64(end - index)
            let step: Int64
            if end == values.count {
                step = MemberPlace.distance
            } else {
                let high = values[end] ?? low
                step = (high - low) / (missing + 1)
                if step < 1 { return present.indices.map { value(at: $0) } }
            }
            for offset in 0..<(end - index) { values[index + offset] = low + step * Int64(offset + 1) }
            index = end
        }
        return values.map { $0 ?? 0 }
    }

    /// The longest ascending run of what is there is kept; the others ask for a new value.
    private static func keepingAscending(_ present: [Int64?]) -> [Int64?] {
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: present.count)
        for (index, value) in present.enumerated() {
            guard let value else { continue }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if (present[tails[middle]] ?? 0) < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var kept = [Int64?](repeating: nil, count: present.count)
        var next = tails.last ?? -1
        while next >= 0 {
            kept[next] = present[next]
            next = previous[next]
        }
        return kept
    }
}
