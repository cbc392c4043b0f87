import CoreData
import CoreDataSyncEngine
import Foundation

// Pairs of many-to-many and one-way relationships: what the store has is compared with the state.
extension CaptureRun {
    func comparePairs(_ pair: SyncProperty, of object: NSManagedObject, _ new: WorkingObject) throws {
        guard case .pairs(let destination, let isOrdered, let inverse, let inverseIsOrdered) = pair.kind else { return }
        var members: [GlobalID] = []
        var keys: [GlobalID: NSManagedObjectID] = [:]
        for id in object.objectIDs(forRelationshipNamed: pair.name) {
            guard let member = globalID(id) else { continue }
            members.append(member)
            if inverseIsOrdered { keys[member] = id }
        }
        let present = Set(members)
        var former: Set<GlobalID> = []
        var absent: [(edge: ObjectState.Edge, state: EdgeState)] = []
        var aliases: [GlobalID: ObjectState.Edge] = [:]
        let floor = new.floor
        for (edge, state) in new.state.edges where edge.relationship == pair.name && state.isPresent {
            guard let added = state.added, floor.map({ added > $0 }) ?? true else { continue }
            former.insert(edge.destination)
            if !present.contains(edge.destination) { absent.append((edge, state)) }
        }
        // A member may have come under another of its IDs.
        let names = absent.isEmpty || present.isSubset(of: former) ? [:] : try memberIDs(absent.map(\.edge.destination))
        for (edge, state) in absent {
            if let id = names[edge.destination], present.contains(id) {
                aliases[id] = edge
                continue
            }
            var state = state
            state.removed = new.stamp
            new.set(edge, state)
        }
        var known: [String?] = []
        known.reserveCapacity(isOrdered ? members.count : 0)
        for member in members {
            let edge = aliases[member] ?? ObjectState.Edge(pair.name, member)
            if former.contains(edge.destination) {
                if isOrdered { known.append(new.state.edges[edge]?.position?.text) }
                continue
            }
            var state = new.state.edges[edge] ?? EdgeState()
            state.added = new.stamp
            new.set(edge, state)
            if isOrdered { known.append(nil) }
            if let inverse, let id = keys[member] {
                inverseOwners.insert(
                    OrderedSide(entity: id.entity.name ?? destination, key: id.key, relationship: inverse))
            }
        }
        guard isOrdered else { return }
        for (index, position) in Position.assign(known, device: device) {
            let edge = aliases[members[index]] ?? ObjectState.Edge(pair.name, members[index])
            guard var state = new.state.edges[edge] else { continue }
            state.position = .last(new.stamp, .string(position))
            new.set(edge, state)
        }
    }

    /// The IDs under which this device keeps objects that others name by these.
    private func memberIDs(_ ids: [GlobalID]) throws -> [GlobalID: GlobalID] {
        var result: [GlobalID: GlobalID] = [:]
        let known = try capture.sidecar.entries(ids: ids).filter { $0.key == 0 && !$0.state.aliases.isEmpty }
        guard !known.isEmpty else { return [:] }
        let rows = Set(
            try capture.sidecar.entries(ids: Array(Set(known.flatMap(\.state.aliases)))).filter { $0.key != 0 }.map(
                \.id))
        for entry in known { result[entry.id] = entry.state.aliases.first(where: rows.contains) }
        return result
    }
}

extension PropertyState {
    /// The text of a position.
    var text: String? {
        if case .string(let text)? = value { text } else { nil }
    }
}
