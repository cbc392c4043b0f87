import CoreDataModel

/// The other ends of an object's changed relationships, which are restored when the object's changes are discarded.
///
/// ```
///  object ──changed──▶ target        object ──▶ before
///     └──row──▶ before                 target has no reference any more
/// ```
/// If the other end is a to-one and this end a to-many, the other end decides, and stays unchanged.
struct InverseRestoration {
    private let context: NSManagedObjectContext
    private let object: NSManagedObject
    private var left: [(target: NSManagedObject, inverse: Int)] = []
    private var toOnes: [(slot: Int, inverse: Int, before: NSManagedObject?)] = []
    /// Members that came and went, of many-to-manys.
    private var removed: [(member: NSManagedObject, inverse: Int)] = []
    /// Members whose own side decides.
    private var deciding: [(member: NSManagedObject, slot: Int, inverse: Int)] = []

    /// Takes them down, as long as the object has its changes.
    init(of object: NSManagedObject, in context: NSManagedObjectContext) {
        self.context = context
        self.object = object
        for (relation, slot) in object.runtime.relationSlots.enumerated() where object.relations.isRead(relation) {
            let facts = object.home.facts[slot]
            guard facts.inverse >= 0, object.isChanged(slot) else { continue }
            let inverse = Int(facts.inverse)
            switch object.relations[relation] {
            case .unread: break
            case .toOne(let target):
                if let target { left.append((target, inverse)) }
                toOnes.append((slot, inverse, object.committedToOne(slot)))
            case .toMany(let members) where facts.isInverseToMany:
                left += members.added.map { ($0.object, inverse) }
                removed += members.removed.map { ($0.object, inverse) }
            case .toMany(let members):
                deciding += (Array(members.added) + Array(members.removed)).map { ($0.object, slot, inverse) }
            }
        }
    }

    /// Brings them in step with the object, which has the store's row again.
    func follow() {
        for (target, inverse) in left where isHere(target) { target.inverseDidLose(object, inverse) }
        for (slot, inverse, before) in toOnes {
            let committed = object.hasRow ? object.committedToOne(slot) : before
            if let committed { giveBack(committed, inverse) }
        }
        for (member, inverse) in removed { giveBack(member, inverse) }
        for (member, slot, inverse) in deciding where isHere(member) && member.isChanged(inverse) {
            if member.toOne(inverse) === object {
                object.inverseDidGain(member, slot)
            } else {
                object.inverseDidLose(member, slot)
            }
        }
    }

    /// The deleted objects to which the object refers again.
    var deleted: [NSManagedObject] {
        (toOnes.compactMap(\.before) + removed.map(\.member) + deciding.map(\.member)).filter(\.isDeleted)
    }

    private func isHere(_ other: NSManagedObject) -> Bool {
        other !== object && other.registry === context.registry && !other.isDeleted
            && !other.flags.contains(.inaccessible)
    }

    /// Restores the reference of the other end, unless a change of its own or a newer row refers elsewhere.
    private func giveBack(_ other: NSManagedObject, _ inverse: Int) {
        guard isHere(other) else { return }
        if other.home.facts[inverse].isToMany {
            guard other.members(inverse).removed.contains(ObjectReference(object)) else { return }
        } else {
            guard other.isChanged(inverse), other.toOne(inverse) == nil else { return }
        }
        other.inverseDidGain(object, inverse)
    }
}
