import Foundation

/// The members of one to-many. Collections of Foundation's classes that represent the relationship read and change it
/// through this type.
struct RelationshipMembers {
    /// `nil` if a key path ended at nil: there are no members, and none can be added.
    private let owner: NSManagedObject?
    private let slot: Int
    /// Whether changes affect neither the inverse nor the context's records of changes.
    private let isPrimitive: Bool

    init(of owner: NSManagedObject, slot: Int, isPrimitive: Bool) {
        self.owner = owner
        self.slot = slot
        self.isPrimitive = isPrimitive
    }

    private init() {
        owner = nil
        slot = -1
        isPrimitive = true
    }

    /// The members of an object that does not exist.
    static var none: RelationshipMembers { RelationshipMembers() }

    private var known: ToManyMembers? {
        guard let owner else { return nil }
        owner.noteRead(slot)
        owner.fireIfNeeded(slot: slot)
        return owner.knownMembers(slot)
    }

    // MARK: Asking

    /// A copy of the list. Later changes of the relationship do not affect it.
    var all: [NSManagedObject] { known?.members ?? [] }

    var count: Int { known?.count ?? 0 }

    /// - Precondition: there is a member at the position.
    subscript(index: Int) -> NSManagedObject {
        guard let known, index >= 0, index < known.count else {
            preconditionFailure("\(name): there is no member \(index) among \(count).")
        }
        return known[index]
    }

    func contains(_ object: Any) -> Bool {
        (object as? NSManagedObject).flatMap { known?.contains($0) } ?? false
    }

    func position(of object: Any) -> Int? {
        (object as? NSManagedObject).flatMap { known?.position(of: $0) }
    }

    // MARK: Changing

    func add(_ object: Any) {
        guard let owner else { return }
        let member = member(object)
        if isPrimitive { known?.add(member) } else { owner.addMember(member, slot) }
    }

    func remove(_ object: Any) {
        guard let owner, let member = object as? NSManagedObject else { return }
        if isPrimitive { known?.remove(member) } else { owner.removeMember(member, slot) }
    }

    /// Inserts the object at a position of an ordered relationship. An object that is already a member keeps its
    /// position.
    func insert(_ object: Any, at index: Int) {
        guard let owner else { return }
        let member = member(object)
        let count = count
        precondition(index >= 0 && index <= count, "\(name): there is no place \(index) among \(count) members.")
        if isPrimitive { known?.insert(member, at: index) } else { owner.addMember(member, slot, at: index) }
    }

    /// Replaces a member by another object. Does nothing if that object is already a member.
    func replace(at index: Int, with object: Any) {
        guard owner != nil else { return }
        let old = self[index]
        let member = member(object)
        if contains(member) { return }
        remove(old)
        insert(member, at: index)
    }

    /// Puts members of an ordered relationship elsewhere; `index` counts without them.
    func move(_ objects: [NSManagedObject], to index: Int) {
        guard let owner else { return }
        if isPrimitive { known?.move(objects, to: index) } else { owner.moveMembers(objects, to: index, slot) }
    }

    func exchange(_ first: Int, _ second: Int) {
        guard first != second else { return }
        let (low, high) = first < second ? (first, second) : (second, first)
        let (one, other) = (self[low], self[high])
        move([other], to: low)
        move([one], to: high)
    }

    func replaceAll(with objects: [Any]) {
        guard let owner else { return }
        let members = objects.map(member)
        if isPrimitive { known?.replaceAll(with: members) } else { owner.setToMany(members, slot) }
    }

    /// Keeps the members that pass.
    func keep(where passes: (NSManagedObject) -> Bool) {
        for member in all where !passes(member) { remove(member) }
    }

    private func member(_ object: Any) -> NSManagedObject {
        guard let member = object as? NSManagedObject else {
            preconditionFailure("\(name): a member is a managed object, not \(type(of: object)).")
        }
        return member
    }

    private var name: String {
        owner.map { "Relationship '\($0.runtime.slots[slot].name)' of \($0.objectID)" } ?? "A relationship of nil"
    }
}

/// Enumerates the members of the moment when it was created: later changes of the relationship do not affect it.
final class MemberEnumerator: NSEnumerator {
    private var members: IndexingIterator<[NSManagedObject]>

    init(_ members: [NSManagedObject]) { self.members = members.makeIterator() }

    override func nextObject() -> Any? { members.next() }
}
