import Foundation

// To-many relationships, and attributes with arrays, as collections that change the property.
extension NSManagedObject {
    /// Returns the members of an unordered to-many as a set; changes of the set change the relationship.
    ///
    ///     unit.mutableSetValue(forKey: "items").add(item)      // item.unit is unit now
    ///
    /// - Precondition: the relationship is to-many and not ordered.
    public final func mutableSetValue(forKey key: String) -> NSMutableSet & LiveRelationship {
        let slot = toManySlot(key, function: "mutableSetValue(forKey:)")
        precondition(
            !members(slot).isOrdered,
            "Ordered relationship '\(key)' of entity '\(runtime.name)' does not support "
                + "mutableSetValue(forKey:); use mutableOrderedSetValue(forKey:).")
        return MutableRelationshipSet(RelationshipMembers(of: self, slot: slot, isPrimitive: false))
    }

    /// Returns the members of the unordered to-many at the end of a path. If an object on the path is nil, returns an
    /// empty set that ignores changes.
    ///
    ///     item.mutableSetValue(forKeyPath: "unit.items").add(other)
    ///
    /// - Precondition: the path ends with a to-many that is not ordered.
    public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet & LiveRelationship {
        let (owner, key) = owner(of: keyPath, function: "mutableSetValue(forKeyPath:)")
        return owner?.mutableSetValue(forKey: key) ?? MutableRelationshipSet(.none)
    }

    /// Returns the members of an ordered to-many as an ordered set; changes of the set change the relationship.
    ///
    ///     recipe.mutableOrderedSetValue(forKey: "steps").moveObjects(at: [2], to: 0)
    ///
    /// - Precondition: the relationship is to-many and ordered.
    public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        let slot = toManySlot(key, function: "mutableOrderedSetValue(forKey:)")
        precondition(
            members(slot).isOrdered,
            "Relationship '\(key)' of entity '\(runtime.name)' is not ordered; use mutableSetValue(forKey:).")
        return MutableRelationshipOrderedSet(RelationshipMembers(of: self, slot: slot, isPrimitive: false))
    }

    /// Returns the members of the ordered to-many at the end of a path. If an object on the path is nil, returns an
    /// empty ordered set that ignores changes.
    ///
    /// - Precondition: the path ends with a to-many that is ordered.
    public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        let (owner, key) = owner(of: keyPath, function: "mutableOrderedSetValue(forKeyPath:)")
        return owner?.mutableOrderedSetValue(forKey: key) ?? MutableRelationshipOrderedSet(.none)
    }

    /// Returns an ordered to-many, or an attribute with an array, as an array; changes of the array change the
    /// property.
    ///
    ///     note.mutableArrayValue(forKey: "keywords").add("Linux")     // sets the attribute to a new array
    ///
    /// - Precondition: the property is an ordered to-many or an attribute.
    public final func mutableArrayValue(forKey key: String) -> NSMutableArray {
        guard let slot = slot(forKey: key) else { return MutableMemberArray(attribute: key, of: self) }
        let info = runtime.slots[slot]
        if info.attribute != nil { return MutableMemberArray(attribute: key, of: self) }
        precondition(
            info.isToMany && members(slot).isOrdered,
            "mutableArrayValue(forKey:) needs an ordered to-many or an attribute that holds an array; '\(key)' of entity "
                + "'\(runtime.name)' is neither.")
        return MutableMemberArray(RelationshipMembers(of: self, slot: slot, isPrimitive: false))
    }

    /// Returns the ordered to-many, or the attribute with an array, at the end of a path. If an object on the path is
    /// nil, returns an empty array that ignores changes.
    ///
    /// - Precondition: the path ends with an ordered to-many or an attribute.
    public final func mutableArrayValue(forKeyPath keyPath: String) -> NSMutableArray {
        let (owner, key) = owner(of: keyPath, function: "mutableArrayValue(forKeyPath:)")
        return owner?.mutableArrayValue(forKey: key) ?? MutableMemberArray(.none)
    }

    /// A to-many as the mutable collection that is the relationship; `nil` for other properties.
    final func liveMembers(_ slot: Int) -> NSObject? {
        guard home.facts[slot].isToMany else { return nil }
        let members = RelationshipMembers(of: self, slot: slot, isPrimitive: false)
        return self.members(slot).isOrdered ? MutableRelationshipOrderedSet(members) : MutableRelationshipSet(members)
    }

    /// Returns the object that the path refers to without its last key, and that key.
    private final func owner(of path: String, function: String) -> (NSManagedObject?, key: String) {
        guard let dot = path.lastIndex(of: ".") else { return (self, path) }
        let key = String(path[path.index(after: dot)...])
        let owner = value(forKeyPath: String(path[..<dot]))
        guard let owner else { return (nil, key) }
        guard let object = owner as? NSManagedObject else {
            preconditionFailure("\(function): '\(path[..<dot])' leads to \(type(of: owner)), not to a managed object.")
        }
        return (object, key)
    }

    private final func toManySlot(_ key: String, function: String) -> Int {
        guard let slot = runtime.slot(forKey: key), runtime.slots[slot].isToMany else {
            preconditionFailure(
                "\(function) needs a to-many relationship; '\(key)' of entity '\(runtime.name)' is none.")
        }
        return slot
    }
}
