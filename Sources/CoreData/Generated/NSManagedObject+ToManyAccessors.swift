import Foundation

// Implements the generated accessors of to-many relationships that take several members.

extension NSManagedObject {
    // MARK: Sets

    /// Adds members. Implements a generated `addToItems(_: NSSet)`.
    public final func add<Value>(_ members: NSSet, to key: PropertyKey<Value>) {
        for member in members { add(Self.member(member), to: key) }
    }

    /// Removes members. Implements a generated `removeFromItems(_: NSSet)`.
    public final func remove<Value>(_ members: NSSet, from key: PropertyKey<Value>) {
        for member in members { remove(Self.member(member), from: key) }
    }

    /// Appends members in their order. Implements a generated `addToItems(_: NSOrderedSet)`.
    public final func add<Value>(_ members: NSOrderedSet, to key: PropertyKey<Value>) {
        for member in members { add(Self.member(member), to: key) }
    }

    /// Removes members. Implements a generated `removeFromItems(_: NSOrderedSet)`.
    public final func remove<Value>(_ members: NSOrderedSet, from key: PropertyKey<Value>) {
        for member in members { remove(Self.member(member), from: key) }
    }

    // MARK: Positions of an ordered relationship

    /// Inserts each member at its position. The positions ascend and are those after the change. Implements a generated
    /// `insertIntoItems(_:at:)`. A member that is already in the relationship keeps its position.
    ///
    /// - Precondition: as many positions as members, none after the end.
    public final func insert<Value>(
        _ members: [NSManagedObject], into key: PropertyKey<Value>, at indexes: NSIndexSet
    ) {
        precondition(
            members.count == indexes.count,
            "\(members.count) objects cannot be inserted at \(indexes.count) positions of '\(key.name)'.")
        for (member, index) in zip(members, indexes) { insert(member, into: key, at: index) }
    }

    /// Removes the member at a position. Implements a generated `removeFromItems(at:)`.
    ///
    /// - Precondition: there is a member at the position.
    public final func remove<Value>(at index: Int, from key: PropertyKey<Value>) {
        remove(member(at: index, of: key), from: key)
    }

    /// Removes the members at positions, all counted before the change.
    public final func remove<Value>(at indexes: NSIndexSet, from key: PropertyKey<Value>) {
        for member in indexes.map({ member(at: $0, of: key) }) { remove(member, from: key) }
    }

    /// Replaces a member by another one. Implements a generated `replaceItems(at:with:)`. Does nothing if the other one
    /// is already a member.
    ///
    /// - Precondition: there is a member at the position.
    public final func replace<Value>(at index: Int, with member: NSManagedObject, in key: PropertyKey<Value>) {
        let old = self.member(at: index, of: key)
        if knownMembers(key.slot(in: self)).contains(member) { return }
        remove(old, from: key)
        insert(member, into: key, at: index)
    }

    /// Puts members in the places of others, in order.
    public final func replace<Value>(
        at indexes: NSIndexSet, with members: [NSManagedObject], in key: PropertyKey<Value>
    ) {
        precondition(
            members.count == indexes.count,
            "\(members.count) objects cannot replace those at \(indexes.count) positions of '\(key.name)'.")
        for (member, index) in zip(members, indexes) { replace(at: index, with: member, in: key) }
    }

    private final func member<Value>(at index: Int, of key: PropertyKey<Value>) -> NSManagedObject {
        let slot = key.slot(in: self)
        checkQueue(nil, slot: slot)
        fireIfNeeded(slot: slot)
        let members = knownMembers(slot)
        precondition(
            index >= 0 && index < members.count,
            "Index \(index) is beyond the \(members.count) members of '\(key.name)' of \(objectID).")
        return members[index]
    }

    private static func member(_ any: Any) -> NSManagedObject {
        guard let member = any as? NSManagedObject else {
            preconditionFailure("A relationship's member is a managed object, not \(type(of: any)).")
        }
        return member
    }
}

extension NSManagedObject {
    // MARK: What no type of its own tells how to store

    /// The object of a transformable attribute, a composite's dictionary, or any attribute as its Foundation class;
    /// `nil` if the value is of another type.
    public final subscript<Value>(object key: PropertyKey<Value>) -> Value? {
        get { anyValue(key.slot(in: self)) as? Value }
        set { setAnyValue(newValue, key.slot(in: self)) }
    }

    /// A fetched property's objects, read anew each time.
    public final subscript<Element: NSManagedObject>(fetched key: PropertyKey<[Element]>) -> [Element] {
        (anyValue(key.slot(in: self)) as? [NSManagedObject] ?? []).compactMap { $0 as? Element }
    }
}
