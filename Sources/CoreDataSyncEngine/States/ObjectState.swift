/// What is known of one object, whole or in part: a segment holds the parts that changed, a snapshot whole states.
///
/// All parts merge by themselves, so a state is a product of small lattices: `merged(with:)` is commutative,
/// associative and idempotent. Whether the object exists, and with which values, is read off the merged state by
/// ``Reading``.
package struct ObjectState: Hashable, Sendable {
    package let id: GlobalID
    /// The name of its entity, as the last device that created the object had it.
    package var entity: EntityClaim
    /// When it was first created; `nil` where this part does not tell.
    package var born: Stamp?
    /// When it was last created: a deleted object that is created again has a later one.
    package var created: Stamp?
    /// When it was last deleted.
    package var deleted: Stamp?
    /// Attributes by name (elements of composites as `composite.element`), to-one relationships by name, and the
    /// positions of ordered relationships as `relationship#` (see `docs/decisions/sync.md`).
    package var properties: PropertyTable
    /// Pairs of many-to-many relationships of which this object is the source.
    package var edges: [Edge: EdgeState]
    /// Objects that are this one under other IDs: objects with equal unique values that two devices created.
    package var aliases: Set<GlobalID>

    package struct EntityClaim: Hashable, Sendable {
        package var stamp: Stamp
        package var name: String

        package init(_ name: String, _ stamp: Stamp) { (self.name, self.stamp) = (name, stamp) }
    }

    /// A pair of a many-to-many relationship.
    package struct Edge: Hashable, Sendable {
        /// The relationship of the source, by name.
        package var relationship: String
        package var destination: GlobalID

        package init(_ relationship: String, _ destination: GlobalID) {
            (self.relationship, self.destination) = (relationship, destination)
        }
    }

    package init(id: GlobalID, entity: EntityClaim) {
        (self.id, self.entity) = (id, entity)
        (born, created, deleted) = (nil, nil, nil)
        (properties, edges, aliases) = ([:], [:], [])
    }
}

/// When a pair of a many-to-many relationship was last added and last removed, and where it stands in ordered ones.
package struct EdgeState: Hashable, Sendable {
    package var added: Stamp?
    package var removed: Stamp?
    /// The position of the destination among the source's, and of the source among the destination's.
    package var position: PropertyState?
    package var inversePosition: PropertyState?

    package init(added: Stamp? = nil, removed: Stamp? = nil) { (self.added, self.removed) = (added, removed) }

    /// Whether the pair exists. Adding and removing with one stamp, by one device, leaves it removed.
    package var isPresent: Bool {
        guard let added else { return false }
        return removed.map { added > $0 } ?? true
    }
}
