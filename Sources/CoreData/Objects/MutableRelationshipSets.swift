import Foundation

/// The members of an unordered to-many as `NSMutableSet`: reading reads them, changing changes the relationship.
final class MutableRelationshipSet: NSMutableSet {
    private let object: NSManagedObject
    private let slot: Int
    private let isPrimitive: Bool

    init(object: NSManagedObject, slot: Int, isPrimitive: Bool) {
        self.object = object
        self.slot = slot
        self.isPrimitive = isPrimitive
        super.init(capacity: 0)
    }

    required convenience init?(coder: NSCoder) { nil }

    required init(capacity numItems: Int) {
        preconditionFailure("a relationship's set is made by mutableSetValue(forKey:)")
    }

    private var members: ToManyMembers {
        object.fireIfNeeded(slot: slot)
        return object.knownMembers(slot)
    }

    override var count: Int { members.count }

    override func member(_ object: Any) -> Any? {
        (object as? NSManagedObject).flatMap { members.contains($0) ? $0 : nil }
    }

    override func objectEnumerator() -> NSEnumerator { (members.members as NSArray).objectEnumerator() }

    override var allObjects: [Any] { members.members }

    override func add(_ object: Any) {
        guard let member = object as? NSManagedObject else {
            preconditionFailure("a relationship's member is a managed object, not \(type(of: object))")
        }
        if isPrimitive { members.add(member) } else { self.object.addMember(member, slot) }
    }

    override func remove(_ object: Any) {
        guard let member = object as? NSManagedObject else { return }
        if isPrimitive { members.remove(member) } else { self.object.removeMember(member, slot) }
    }

    override func removeAllObjects() {
        if isPrimitive { members.replaceAll(with: []) } else { object.setToMany([], slot) }
    }

    override func addObjects(from array: [Any]) { array.forEach { add($0) } }

    override func union(_ other: Set<AnyHashable>) { other.forEach { add($0.base) } }

    override func minus(_ other: Set<AnyHashable>) { other.forEach { remove($0.base) } }

    override func intersect(_ other: Set<AnyHashable>) {
        let kept = Set(other.compactMap { ($0.base as? NSManagedObject).map(ObjectReference.init) })
        for member in members.members where !kept.contains(ObjectReference(member)) { remove(member) }
    }

    override func setSet(_ other: Set<AnyHashable>) {
        intersect(other)
        union(other)
    }

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: members.members) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: members.members) }
}

/// The members of an ordered to-many as `NSMutableOrderedSet`.
final class MutableRelationshipOrderedSet: NSMutableOrderedSet {
    private let object: NSManagedObject
    private let slot: Int
    private let isPrimitive: Bool

    init(object: NSManagedObject, slot: Int, isPrimitive: Bool) {
        self.object = object
        self.slot = slot
        self.isPrimitive = isPrimitive
        super.init(capacity: 0)
    }

    required convenience init?(coder: NSCoder) { nil }

    required convenience init(arrayLiteral elements: Any...) {
        preconditionFailure("a relationship's ordered set is made by mutableOrderedSetValue(forKey:)")
    }

    private var members: ToManyMembers {
        object.fireIfNeeded(slot: slot)
        return object.knownMembers(slot)
    }

    private func managed(_ object: Any) -> NSManagedObject {
        guard let member = object as? NSManagedObject else {
            preconditionFailure("a relationship's member is a managed object, not \(type(of: object))")
        }
        return member
    }

    override var count: Int { members.count }

    override func object(at idx: Int) -> Any { members[idx] }

    override func index(of object: Any) -> Int {
        (object as? NSManagedObject).flatMap { members.position(of: $0) } ?? NSNotFound
    }

    override func contains(_ object: Any) -> Bool { index(of: object) != NSNotFound }

    override func insert(_ object: Any, at idx: Int) {
        let member = managed(object)
        if isPrimitive { members.insert(member, at: idx) } else { self.object.addMember(member, slot, at: idx) }
    }

    override func removeObject(at idx: Int) { remove(members[idx]) }

    override func remove(_ val: Any) {
        guard let member = val as? NSManagedObject else { return }
        if isPrimitive { members.remove(member) } else { object.removeMember(member, slot) }
    }

    override func replaceObject(at idx: Int, with obj: Any) {
        let member = managed(obj)
        if members[idx] === member { return }
        if members.contains(member) { return }
        removeObject(at: idx)
        insert(member, at: idx)
    }

    override func add(_ object: Any) {
        if !contains(object) { insert(object, at: count) }
    }

    override func addObjects(from array: [Any]) { array.forEach { add($0) } }

    override func removeAllObjects() {
        if isPrimitive { members.replaceAll(with: []) } else { object.setToMany([], slot) }
    }

    override func moveObjects(at indexes: IndexSet, to idx: Int) {
        let members = members
        move(indexes.map { members[$0] }, to: idx)
    }

    override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
        guard idx1 != idx2 else { return }
        let (low, high) = idx1 < idx2 ? (idx1, idx2) : (idx2, idx1)
        let (first, second) = (members[low], members[high])
        move([second], to: low)
        move([first], to: high)
    }

    private func move(_ objects: [NSManagedObject], to index: Int) {
        if isPrimitive { members.move(objects, to: index) } else { object.moveMembers(objects, to: index, slot) }
    }

    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: members.members) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any {
        NSMutableOrderedSet(array: members.members)
    }
}
