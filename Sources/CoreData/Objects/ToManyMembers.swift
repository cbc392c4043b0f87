/// An object by identity, as a key.
struct ObjectReference: Hashable {
    let object: NSManagedObject

    init(_ object: NSManagedObject) { self.object = object }

    static func == (a: ObjectReference, b: ObjectReference) -> Bool { a.object === b.object }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}

/// The members of one object's to-many relationship, whether they have been read or not.
///
/// Until they are read, additions and removals are only noted, so that setting `item.unit` does not read all items of
/// the unit. Reading applies what was noted. `added` and `removed` are always relative to what the store has.
///
/// ```
/// noted ──read──▶ known          add, remove: allowed in both
/// ```
final class ToManyMembers {
    let isOrdered: Bool
    /// Whether `members` is complete.
    private(set) var isKnown: Bool
    /// In order where that matters; without order they come as they were read and added.
    private(set) var members: [NSManagedObject] = []
    private var positions: [ObjectIdentifier: Int] = [:]
    private(set) var added: Set<ObjectReference> = []
    private(set) var removed: Set<ObjectReference> = []
    /// Additions in the order in which they came, while the members are not known.
    private var noted: [NSManagedObject] = []
    /// Positions changed without a member coming or going.
    private(set) var isReordered = false
    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

    init(isOrdered: Bool, isKnown: Bool) {
        self.isOrdered = isOrdered
        self.isKnown = isKnown
    }

    func contains(_ object: NSManagedObject) -> Bool { positions[ObjectIdentifier(object)] != nil }

    func position(of object: NSManagedObject) -> Int? { positions[ObjectIdentifier(object)] }

    /// Takes what the store has, and applies what was noted.
    func know(_ stored: [NSManagedObject]) {
        guard !isKnown else { return }
        isKnown = true
        members = []
        members.reserveCapacity(stored.count + noted.count)
        var present: Set<ObjectReference> = []
        for object in stored {
            let reference = ObjectReference(object)
            if removed.contains(reference) {
                present.insert(reference)
            } else {
                // Noted as an addition, but it is a member already: no change.
                added.remove(reference)
                append(object)
            }
        }
        // Noted removals of objects that are not members in the store are no change.
        removed.formIntersection(present)
        for object in noted where added.contains(ObjectReference(object)) && !contains(object) {
            append(object)
        }
        noted = []
    }

    /// Adds the object at the end; whether it was not a member (as far as is known).
    @discardableResult
    func add(_ object: NSManagedObject) -> Bool {
        let reference = ObjectReference(object)
        if isKnown {
            guard !contains(object) else { return false }
            append(object)
        }
        // One look-up for what is by far the most common: an addition to members that nobody has read.
        if !removed.isEmpty, removed.remove(reference) != nil {
            if isKnown, isOrdered { isReordered = true }
            return true
        }
        guard added.insert(reference).inserted else { return false }
        if !isKnown { noted.append(object) }
        return true
    }

    /// Removes the object; whether it was a member (as far as is known).
    @discardableResult
    func remove(_ object: NSManagedObject) -> Bool {
        let reference = ObjectReference(object)
        if isKnown {
            guard let position = positions.removeValue(forKey: ObjectIdentifier(object)) else { return false }
            if isOrdered || position == members.count - 1 {
                members.remove(at: position)
                reindex(from: position)
            } else {
                // Without order the last member takes the free place: no move of all that follow.
                let last = members.removeLast()
                members[position] = last
                positions[ObjectIdentifier(last)] = position
            }
        } else {
            guard !removed.contains(reference) else { return false }
        }
        if added.remove(reference) == nil { removed.insert(reference) }
        return true
    }

    /// Puts the object at a position of an ordered relationship whose members are known.
    func insert(_ object: NSManagedObject, at index: Int) {
        guard !contains(object) else { return }
        let reference = ObjectReference(object)
        members.insert(object, at: index)
        reindex(from: index)
        if removed.remove(reference) == nil { added.insert(reference) }
        if index < members.count - 1 { isReordered = true }
    }

    /// Replaces all members; those that go and come are noted as changes.
    func replaceAll(with objects: [NSManagedObject]) {
        let wanted = Set(objects.map(ObjectReference.init))
        for member in members where !wanted.contains(ObjectReference(member)) { remove(member) }
        for object in objects where !contains(object) { add(object) }
        guard isOrdered else { return }
        var unique: [NSManagedObject] = []
        var seen: Set<ObjectReference> = []
        for object in objects where seen.insert(ObjectReference(object)).inserted { unique.append(object) }
        if !zip(members, unique).allSatisfy({ $0 === $1 }) {
            members = unique
            reindex(from: 0)
            isReordered = true
        }
    }

    /// What is, is what the store has.
    func commit() {
        added = []
        removed = []
        noted = []
        isReordered = false
    }

    /// The members that the store has, for a known relationship; order is kept where nothing was moved.
    var committedMembers: [NSManagedObject] {
        members.filter { !added.contains(ObjectReference($0)) } + removed.map(\.object)
    }

    private func append(_ object: NSManagedObject) {
        positions[ObjectIdentifier(object)] = members.count
        members.append(object)
    }

    private func reindex(from start: Int) {
        for index in start..<members.count { positions[ObjectIdentifier(members[index])] = index }
    }
}

/// A relationship of an object, as far as it has been looked at.
enum RelationValue {
    /// The row, or nothing for a new object, says what it is.
    case unread
    case toOne(NSManagedObject?)
    case toMany(ToManyMembers)
}
