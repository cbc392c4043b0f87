import CoreDataModel
import CoreDataPrimitives

extension EntityRuntime {
    /// A property, with the facts that its accessors need. It is a class, so reading one copies nothing.
    final class Slot: Sendable {
        let name: String
        let property: CompiledProperty
        /// The column in the entity's row; -1 if nothing is stored.
        let column: Int
        /// The position among the entity's relationships; -1 for attributes.
        let relation: Int
        let type: AttributeType
        /// The engine's kind of the attribute's values.
        let kind: ValueKind
        let attribute: CompiledAttribute?
        /// The slots of a composite attribute's elements; and the slots of all elements with columns, including those
        /// of nested composites.
        let elements: [Int]
        let leaves: [Int]
        /// The slot of the property that the model gives the entity: of an element, the composite attribute that it is
        /// in.
        let modelSlot: Int
        let relationship: CompiledRelationship?
        let isToMany: Bool
        /// Whether the inverse exists and is to-many.
        let isInverseToMany: Bool
        /// The ordinals of the destination entity and all below it.
        let destinationSubtree: [Int]
        let destinationName: String
        let destinationRoot: Int
        /// The column with the entity number of a to-one's destination; -1 if there is none.
        let entityColumn: Int

        init(
            _ property: CompiledProperty, of entity: CompiledEntity, relation: Int, layout: RowLayout,
            in model: CompiledModel
        ) {
            self.property = property
            self.relation = relation
            name = property.name
            column = layout.columnOfSlot[property.slot]
            let attribute = property.attribute
            let relationship = property.relationship
            self.attribute = attribute
            type = attribute?.type ?? .undefined
            kind = type.kind
            self.relationship = relationship
            isToMany = relationship?.isToMany ?? false
            let destination = relationship.map { model.entities[$0.destination] }
            isInverseToMany = relationship.flatMap { model.inverse(of: $0) }?.relationship?.isToMany ?? false
            destinationSubtree = destination?.subtree ?? []
            destinationName = destination?.name ?? ""
            destinationRoot = destination?.root ?? -1
            entityColumn = layout.entityColumnOfSlot[property.slot]
            elements = attribute?.elements ?? []
            leaves = elements.isEmpty ? [] : Self.leaves(of: property, in: entity)
            var top = property
            while let composite = top.composite { top = entity.properties[composite] }
            modelSlot = top.slot
        }

        private static func leaves(of property: CompiledProperty, in entity: CompiledEntity) -> [Int] {
            (property.attribute?.elements ?? []).flatMap { slot in
                entity.properties[slot].isComposite ? leaves(of: entity.properties[slot], in: entity) : [slot]
            }
        }
    }
}
