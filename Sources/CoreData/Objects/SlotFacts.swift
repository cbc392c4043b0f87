/// The facts about a property that the hot paths read, without a reference to count; see ``EntityRuntime/Slot``.
struct SlotFacts {
    /// The column in the entity's row, -1 if nothing is stored.
    let column: Int32
    /// The position among the entity's relationships, -1 for attributes.
    let relation: Int32
    /// The slot of the inverse in the destination, -1 without one.
    let inverse: Int32
    /// The ordinal of the destination entity, -1 for attributes; and of its root.
    let destination: Int32
    let destinationRoot: Int32
    /// The column with the entity number of a to-one's destination, -1 if there is none.
    let entityColumn: Int32
    let isToMany: Bool
    /// Whether the inverse exists and is to-many.
    let isInverseToMany: Bool
    let isTransformable: Bool

    init(_ slot: EntityRuntime.Slot) {
        column = Int32(truncatingIfNeeded: slot.column)
        relation = Int32(truncatingIfNeeded: slot.relation)
        inverse = Int32(truncatingIfNeeded: slot.relationship?.inverseSlot ?? -1)
        destination = Int32(truncatingIfNeeded: slot.relationship?.destination ?? -1)
        destinationRoot = Int32(truncatingIfNeeded: slot.destinationRoot)
        entityColumn = Int32(truncatingIfNeeded: slot.entityColumn)
        isToMany = slot.isToMany
        isInverseToMany = slot.isInverseToMany
        isTransformable = slot.attribute?.type == .transformable
    }
}
