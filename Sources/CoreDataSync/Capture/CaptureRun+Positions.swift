import CoreData
import CoreDataSyncEngine
import Foundation

// Positions in ordered relationships: those of one-to-manys belong to the members, those of many-to-manys to the pairs.
extension CaptureRun {
    // MARK: Which owners

    /// The object's place among its owner's members may have changed.
    func noteOwner(_ ordering: EntityReader.Ordering, of object: NSManagedObject, _ reader: EntityReader) {
        guard ordering.toOneNumber >= 0,
            let id = reader.values.destination(ordering.toOneNumber, of: object) ?? one(ordering.toOne, of: object)
        else { return }
        owners.insert(
            OrderedSide(entity: id.entity.name ?? ordering.owner, key: id.key, relationship: ordering.relationship))
    }

    private func one(_ relationship: String, of object: NSManagedObject) -> NSManagedObjectID? {
        object.objectIDs(forRelationshipNamed: relationship).first
    }

    /// The order of an object's own members may have changed.
    func noteOwn(_ reader: EntityReader, _ key: Int64, _ names: Set<String>?) {
        for relationship in reader.ordered where names?.contains(relationship) ?? true {
            owners.insert(OrderedSide(entity: reader.entity.name, key: key, relationship: relationship))
        }
        for relationship in reader.orderedInverses where names?.contains(relationship) ?? true {
            inverseOwners.insert(OrderedSide(entity: reader.entity.name, key: key, relationship: relationship))
        }
    }

    // MARK: Working objects

    /// Keeps an object until its positions are known, or has it written at once.
    func keep(_ object: WorkingObject, _ reader: EntityReader) {
        if reader.isSimple {
            writing.add(object, &result)
        } else {
            working[ObjectKey(root: object.root, key: object.key)] = object
        }
    }

    /// Brings objects that have entries into memory, so that they can get positions.
    private func load(_ keys: [(root: String, key: Int64)]) throws {
        var wanted: [String: [Int64]] = [:]
        for (root, key) in keys where working[ObjectKey(root: root, key: key)] == nil {
            wanted[root, default: []].append(key)
        }
        for (root, keys) in wanted {
            for entry in try capture.sidecar.entries(root: root, keys: keys) {
                guard let entity = capture.rules[entry.entityName] else { continue }
                working[ObjectKey(root: root, key: entry.key)] = WorkingObject(
                    entry.id, root: root, key: entry.key, entity: entity, state: entry.state, digests: entry.digests,
                    stamp,
                    device)
            }
        }
    }

    // MARK: Assigning

    func order() throws {
        // Members that were not captured yet are queued by this, and may have owners and pairs of their own.
        while !owners.isEmpty || !inverseOwners.isEmpty {
            let (own, inverse) = (owners, inverseOwners)
            (owners, inverseOwners) = ([], [])
            for (side, members) in try members(of: own) { try assign(side, members) }
            for (side, members) in try members(of: inverse) { try assignInverse(side, members) }
            try readQueue()
        }
        for object in working.values.sorted(by: { $0.id < $1.id }) { writing.add(object, &result) }
        working = [:]
    }

    /// The members of each owner that exists, in order.
    private func members(of sides: Set<OrderedSide>) throws -> [(OrderedSide, [NSManagedObjectID])] {
        var result: [(OrderedSide, [NSManagedObjectID])] = []
        let groups = Dictionary(grouping: sides) { [$0.entity, $0.relationship] }
        for (group, sides) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard let entity = capture.rules[group[0]] else { continue }
            let keys = sides.map(\.key).sorted()
            for start in stride(from: 0, to: keys.count, by: 500) {
                let some = keys[start..<min(keys.count, start + 500)]
                let objects = try fetch(some, of: entity, prefetching: [group[1]])
                for object in objects.sorted(by: { $0.objectID.key < $1.objectID.key }) {
                    let side = OrderedSide(entity: group[0], key: object.objectID.key, relationship: group[1])
                    result.append((side, object.objectIDs(forRelationshipNamed: group[1])))
                }
                context.reset()
            }
        }
        return result
    }

    /// The members that have entries or get them, with their working objects; the others wait for their own
    /// transaction.
    private func working(_ members: [NSManagedObjectID]) throws -> [WorkingObject] {
        let keys = members.compactMap { id in table(of: id.entity).map { (root: $0.root, key: id.key) } }
        try load(keys)
        let unknown = zip(members, keys).filter { working[ObjectKey(root: $1.root, key: $1.key)] == nil }
        if !unknown.isEmpty {
            for (name, ids) in Dictionary(grouping: unknown.map(\.0), by: { $0.entity.name ?? "" }) {
                if let entity = capture.rules[name] { try resolve(ids.map(\.key), of: entity) }
            }
            try readQueue()
        }
        return keys.compactMap { working[ObjectKey(root: $0.root, key: $0.key)] }
    }

    private func assign(_ side: OrderedSide, _ ids: [NSManagedObjectID]) throws {
        guard let lineage = capture.rules[side.entity]?.lineage else { return }
        let members = try working(ids).compactMap { member in
            try reader(member.entity).orderings.first {
                $0.relationship == side.relationship && lineage.contains($0.owner)
            }.map { (object: member, name: $0.name) }
        }
        let known = members.map { $0.object.state.properties[$0.name]?.text }
        for (index, position) in Position.assign(known, device: device) {
            let state = PropertyState.last(members[index].object.stamp, .string(position))
            members[index].object.set(members[index].name, state, sent: state)
        }
    }

    private func assignInverse(_ side: OrderedSide, _ ids: [NSManagedObjectID]) throws {
        guard let entity = capture.rules[side.entity] else { return }
        try resolve([side.key], of: entity)
        guard let id = table(entity.root).ids[side.key] else { return }
        let members = try working(ids).compactMap { member in
            member.entity.pairs.first {
                if case .pairs(_, _, side.relationship, true) = $0.kind { true } else { false }
            }.map { (object: member, edge: ObjectState.Edge($0.name, id)) }
        }.filter { $0.object.state.edges[$0.edge]?.isPresent == true }
        let known = members.map { $0.object.state.edges[$0.edge]?.inversePosition?.text }
        for (index, position) in Position.assign(known, device: device) {
            let (object, edge) = members[index]
            guard var state = object.state.edges[edge] else { continue }
            state.inversePosition = .last(object.stamp, .string(position))
            object.set(edge, state)
        }
    }
}
