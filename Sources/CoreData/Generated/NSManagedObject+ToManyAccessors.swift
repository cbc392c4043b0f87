import Foundation

// What the generated accessors of to-many relationships do with several members at once.

extension NSManagedObject {
    // MARK: Sets

    /// Adds members: what a generated `addToItems(_: NSSet)` does.
    public final func add<Value>(_ members: NSSet, to key: PropertyKey<Value>) {
        for member in members { add(Self.member(member), to: key) }
    }

    /// Removes members: what a generated `removeFromItems(_: NSSet)` does.
    public final func remove<Value>(_ members: NSSet, from key: PropertyKey<Value>) {
        for member in members { remove(Self.member(member), from: key) }
    }

    /// Adds members at the end, in their order: what a generated `addToItems(_: NSOrderedSet)` does.
    public final func add<Value>(_ members: NSOrderedSet, to key: PropertyKey<Value>) {
        for member in members { add(Self.member(member), to: key) }
    }

    /// Removes members: what a generated `removeFromItems(_: NSOrderedSet)` does.
    public final func remove<Value>(_ members: NSOrderedSet, from key: PropertyKey<Value>) {
        for member in members { remove(Self.member(member), from: key) }
    }

    // MARK: Positions of an ordered relationship

    /// Puts each member at its position, the positions ascending and those after the change: what a generated
    /// `insertIntoItems(_:at:)` does. A member that is there already stays where it is.
    ///
    /// - Precondition: as many positions as members, none behind the end.
    public final func insert<Value>(
        _ members: [NSManagedObject], into key: PropertyKey<Value>, at indexes: NSIndexSet
    ) {
        precondition(
            members.count == indexes.count,
            "\(members.count) objects cannot be inserted at \(indexes.count) positions of '\(key.name)'.")
        for (member, index) in zip(members, indexes) { insert(member, into: key, at: index) }
    }

    /// Removes the member at a position: what a generated `removeFromItems(at:)` does.
    ///
    /// - Precondition: there is one.
    public final func remove<Value>(at index: Int, from key: PropertyKey<Value>) {
        remove(member(at: index, of: key), from: key)
    }

    /// Removes the members at positions, all counted before the change.
    public final func remove<Value>(at indexes: NSIndexSet, from key: PropertyKey<Value>) {
        for member in indexes.map({ member(at: $0, of: key) }) { remove(member, from: key) }
    }

    /// Puts another member in the place of one: what a generated `replaceItems(at:with:)` does. Nothing happens
    /// where the other is a member already.
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
    /// `nil` where the value is of another type.
    public final subscript<Value>(object key: PropertyKey<Value>) -> Value? {
        get { anyValue(key.slot(in: self)) as? Value }
        set { setAnyValue(newValue, key.slot(in: self)) }
    }

    /// A fetched property's objects, read anew each time.
    public final subscript<Element: NSManagedObject>(fetched key: PropertyKey<[Element]>) -> [Element] {
        (anyValue(key.slot(in: self)) as? [NSManagedObject] ?? []).compactMap { $0 as? Element }
    }
}
