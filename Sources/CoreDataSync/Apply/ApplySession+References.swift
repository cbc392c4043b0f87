import CoreData
import CoreDataSyncEngine
import Foundation

// References and members: those to objects that have not arrived wait, those to deleted ones are emptied for all
// devices.
extension ApplySession {
    // MARK: To-one relationships

    func writeToOne(
        _ state: PropertyState?, _ number: Int, _ values: StoredValues, _ isRequired: Bool, _ inverse: String?,
        of object: NSManagedObject, _ planned: inout PlannedObject
    ) throws {
        let property = values.entity.values[number]
        if planned.key != 0 {
            intended.insertUpdate(ObjectKey(root: planned.entity.root, key: planned.key), property.modelName)
        }
        guard case .last(let stamp, .reference(let target))? = state else {
            if object.value(forKey: property.name) != nil { object.setValue(nil, forKey: property.name) }
            return
        }
        let id = representative(of: target)
        guard let destination = member(id, by: inverse) else {
            if !isGone(id) {
                wait(&planned, property.name, for: target, "waits for the object it refers to")
            } else if isRequired || decidesDeletion(property.name, of: object) {
                wait(&planned, property.name, for: target, "waits for what becomes of a deleted object")
                if isRequired { return }
            } else {
                giveUp(property.name, stamp, target: id, of: &planned)
            }
            if object.value(forKey: property.name) != nil { object.setValue(nil, forKey: property.name) }
            return
        }
        let side = values.inverse(of: number)
        // Of a to-many the members are not read: there may be thousands.
        if let inverse, side == .toOne, let holder = destination.value(forKey: inverse) as? NSManagedObject,
            holder !== object
        {
            let other = try reference(from: holder, property.name)
            if let other, other.claims, other.stamp > stamp {
                if object.value(forKey: property.name) != nil { object.setValue(nil, forKey: property.name) }
                let state = planned.state
                giveUp(property.name, of: planned.id, state, destination: id, to: other.stamp)
                planned.state.properties[property.name] = .last(next(stamp), .null)
                return
            }
            if let other, other.claims { giveUp(property.name, of: other.id, other.state, destination: id, to: stamp) }
            if let root = rules[holder.entity.name ?? ""]?.root, !holder.objectID.isTemporaryID {
                intended.insertUpdate(ObjectKey(root: root, key: holder.objectID.key), property.modelName)
            }
        }
        try values.set(destination, number, of: object)
        if let inverse, side == .ordered {
            unordered.insert(OrderedList(owner: destination, relationship: inverse))
        }
    }

    /// The one-to-one reference that another object has, and whether its state says so, too: another part may have
    /// emptied it already.
    private func reference(
        from holder: NSManagedObject, _ name: String
    ) throws -> (id: GlobalID, state: ObjectState, stamp: Stamp, claims: Bool)? {
        guard let id = try identifier(of: holder) else { return nil }
        guard let state = presentState(of: id), case .last(let stamp, let value)? = state.properties[name]
        else { return nil }
        return (id, state, stamp, value != .null && plan[id]?.action != .delete)
    }

    // MARK: Which objects can be referred to

    /// The object of an ID to which others may refer; `nil` if there is none, or if the plan deletes it.
    ///
    /// An object whose deletion such a reference forbids counts: it is announced again.
    func member(_ id: GlobalID, by inverse: String?) -> NSManagedObject? {
        guard let object = objects[id], !object.isDeleted else { return nil }
        guard deletedByPlan.contains(id) else { return object }
        guard let inverse, let relationship = object.entity.relationshipsByName[inverse], forbidsDeletion(relationship)
        else { return nil }
        return object
    }

    /// Whether an object cannot be deleted while the relationship has members.
    func forbidsDeletion(_ relationship: NSRelationshipDescription) -> Bool {
        switch relationship.deleteRule {
        case .denyDeleteRule: return true
        case .cascadeDeleteRule: return false
        default:
            guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { return false }
            return !inverse.isOptional
        }
    }

    /// Whether a reference to a deleted object decides what becomes of both: the device that wrote it announces the
    /// deleted object again, or deletes this one, too.
    private func decidesDeletion(_ name: String, of object: NSManagedObject) -> Bool {
        guard let inverse = object.entity.relationshipsByName[name]?.inverseRelationship else { return false }
        return inverse.deleteRule == .cascadeDeleteRule || forbidsDeletion(inverse)
    }

    /// Whether an object was deleted; `false` for one that has not arrived yet.
    func isGone(_ id: GlobalID) -> Bool { deletedByPlan.contains(id) || presentState(of: id)?.isGone == true }

    // MARK: Pairs

    func writeEdges(_ planned: inout PlannedObject) throws {
        guard let object = objects[planned.id], !object.isDeleted else { return }
        if planned.state.edges.isEmpty { return }
        let edges = planned.key == 0 ? Array(planned.state.edges.keys) : Array(planned.changedEdges)
        for edge in edges.sorted() {
            guard
                case .pairs(_, let isOrdered, let inverse, let inverseIsOrdered)? = planned.entity[edge.relationship]?
                    .kind
            else { continue }
            let id = representative(of: edge.destination)
            let isPresent = isPresent(edge, id, planned.state)
            guard let destination = member(id, by: inverse) else {
                guard let state = planned.state.edges[edge], state.isPresent else { continue }
                if isGone(id), !decidesDeletion(edge.relationship, of: object) {
                    giveUp(edge, state, of: &planned)
                } else {
                    wait(&planned, edge, state)
                }
                continue
            }
            setMember(destination, of: object, edge.relationship, isOrdered: isOrdered, isMember: isPresent)
            if isOrdered { unordered.insert(OrderedList(owner: object, relationship: edge.relationship)) }
            if inverseIsOrdered, let inverse {
                unordered.insert(OrderedList(owner: destination, relationship: inverse))
            }
        }
    }

    /// Makes an object a member of a to-many relationship, or not; changes nothing where that is so.
    func setMember(
        _ member: NSManagedObject, of owner: NSManagedObject, _ name: String, isOrdered: Bool, isMember: Bool
    ) {
        if isOrdered {
            let members = owner.mutableOrderedSetValue(forKey: name)
            if isMember, !members.contains(member) { members.add(member) }
            if !isMember, members.contains(member) { members.remove(member) }
        } else {
            let members = owner.mutableSetValue(forKey: name)
            if isMember, !members.contains(member) { members.add(member) }
            if !isMember, members.contains(member) { members.remove(member) }
        }
    }

    /// Whether an object is a member by any of its IDs.
    private func isPresent(_ edge: ObjectState.Edge, _ id: GlobalID, _ state: ObjectState) -> Bool {
        if state.edges[edge]?.isPresent == true { return true }
        guard groups.hasAliases(id) else { return false }
        return groups.members(of: id).contains {
            state.edges[ObjectState.Edge(edge.relationship, $0)]?.isPresent == true
        }
    }

    private func wait(_ planned: inout PlannedObject, _ edge: ObjectState.Edge, _ state: EdgeState) {
        var part = ObjectState(id: planned.id, entity: planned.state.entity)
        part.edges[edge] = state
        waiting.append(ParkedState(state: part, waitsFor: edge.destination, reason: "waits for its member"))
        planned.state.edges[edge] = stored(planned.id)?.edges[edge]
    }
}
