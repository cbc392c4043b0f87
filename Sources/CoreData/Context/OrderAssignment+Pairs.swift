import CoreDataModel
import CoreDataStore

// Order values of ordered many-to-manys: they are in the pairs, not in rows of members.
extension OrderAssignment {
    /// One side of a many-to-many of one object.
    struct PairSide: Hashable {
        let owner: ObjectReference
        let slot: Int
    }

    /// A member whose pair is written, with its order value.
    struct Place {
        let member: NSManagedObject
        let order: Int64
    }

    /// A relationship whose pairs are read together, by the entity that declares it.
    private struct Relationship: Hashable, Comparable {
        let entity: Int
        let slot: Int

        static func < (a: Self, b: Self) -> Bool { (a.entity, a.slot) < (b.entity, b.slot) }
    }

    private struct List {
        let side: PairSide
        let members: ToManyMembers
        let relationship: Relationship
        var owner: Int64 { side.owner.object.primaryKey }

        func pair(with member: NSManagedObject) -> MemberPair {
            MemberPair(owner: owner, destination: member.primaryKey)
        }
    }

    /// Returns the positions that pairs of changed ordered many-to-manys get: those of members that were added, that
    /// were moved and that must make room. The other pairs stay unchanged.
    ///
    /// Reads the order values of the new members' neighbours: a statement for each relationship, and one more if
    /// members were moved or the neighbours leave no room. The values are those in the store at that moment. If another
    /// writer changes them before this save has its transaction, the owner's version changes, and the save meets a
    /// conflict.
    func places(ofPairs sides: [PairSide], in store: AttachedStore) throws -> [PairSide: [Place]] {
        if sides.isEmpty { return [:] }
        var places: [PairSide: [Place]] = [:]
        let lists = Dictionary(grouping: sides.compactMap(list), by: \.relationship)
        for (relationship, lists) in lists.sorted(by: { $0.key < $1.key }) {
            // A relationship that is its own inverse keeps a pair once or twice: all its pairs are written.
            let isSymmetric = isItsOwnInverse(relationship)
            let (moved, still) = isSymmetric ? ([], []) : lists.partitioned { $0.members.isReordered }
            var pairs: [MemberPair] = []
            for list in still where list.side.owner.object.isStored {
                pairs += Self.neighboursOfAdded(among: list.members).map(list.pair)
            }
            guard !isSymmetric, let known = try orders(relationship, pairs, of: moved, in: store) else {
                for list in lists { places[list.side] = Self.allAnew(list.members) }
                continue
            }
            var crowded: [List] = []
            for list in still {
                var made: [Place] = []
                let stored = { known[list.pair(with: $0)] }
                let hasRoom = Self.placeAdded(list.members, stored) { made.append(Place(member: $0, order: $1)) }
                if hasRoom { places[list.side] = made } else { crowded.append(list) }
            }
            let all = try orders(relationship, [], of: crowded, in: store) ?? [:]
            for (lists, known) in [(moved, known), (crowded, all)] {
                for list in lists {
                    var made: [Place] = []
                    let stored = { known[list.pair(with: $0)] }
                    Self.placeAll(list.members, stored) { made.append(Place(member: $0, order: $1)) }
                    places[list.side] = made
                }
            }
        }
        return places
    }

    private func list(_ side: PairSide) -> List? {
        let owner = side.owner.object
        let info = owner.runtime.slots[side.slot]
        guard case .toMany(let members) = owner.relations[info.relation], members.isKnown else { return nil }
        return List(
            side: side, members: members,
            relationship: Relationship(entity: info.property.declaringEntity, slot: side.slot))
    }

    private func isItsOwnInverse(_ relationship: Relationship) -> Bool {
        guard let model = context.coordinator?.runtime,
            let inverse = model.entities[relationship.entity].slots[relationship.slot].relationship,
            inverse.inverseSlot == relationship.slot
        else { return false }
        let other = model.entities[inverse.destination].slots[relationship.slot]
        return other.property.declaringEntity == relationship.entity
    }

    private func orders(
        _ relationship: Relationship, _ pairs: [MemberPair], of lists: [List], in store: AttachedStore
    ) throws -> [MemberPair: Int64]? {
        let owners = lists.filter { $0.side.owner.object.isStored }.map(\.owner)
        if pairs.isEmpty, owners.isEmpty { return [:] }
        return try CoreDataErrors.converting {
            try store.target.pairOrders(
                entity: relationship.entity, slot: relationship.slot, pairs: pairs, owners: owners)?
                .compactMapValues(MemberPlace.usable)
        }
    }

    /// Returns positions for all members, if their present ones are not known.
    static func allAnew(_ members: ToManyMembers) -> [Place] {
        members.members.enumerated().map { Place(member: $1, order: MemberPlace.value(at: $0)) }
    }
}

extension Array {
    /// The elements of which the closure says so, and the others, in their order.
    fileprivate func partitioned(_ belongs: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(belongs), filter { !belongs($0) })
    }
}
