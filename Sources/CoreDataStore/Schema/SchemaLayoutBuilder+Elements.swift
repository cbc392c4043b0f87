import CoreDataModel
import CoreDataSQL

/// The naming of the columns of a composite attribute's elements.
package enum ElementNaming: Sendable {
    /// `ZCITY` for `address.city`, as in Apple's stores.
    case apples
    /// `ZADDRESS_CITY`, as in stores of earlier versions of this framework.
    case former
}

extension SchemaLayoutBuilder {
    /// Returns the slots of the stored properties that an entity declares, by name. In Apple's stores, the elements of
    /// a composite attribute are at its position, in the order in which the model declares them.
    func storedSlots(declaredBy ordinal: Int) -> [Int] {
        let properties = model.entities[ordinal].properties
        // The slots of an entity's own properties are in the order of their names, and elements follow their composite.
        let own = properties.indices.filter { properties[$0].declaringEntity == ordinal }
        guard naming == .apples, elementNaming == .apples, own.contains(where: { properties[$0].isComposite }) else {
            return own.filter { !properties[$0].isTransient }
        }
        var result: [Int] = []
        func add(_ slot: Int) {
            if let attribute = properties[slot].attribute, properties[slot].isComposite {
                for element in attribute.declaredElements { add(element) }
            } else if !properties[slot].isTransient {
                result.append(slot)
            }
        }
        for slot in own where properties[slot].composite == nil { add(slot) }
        return result
    }

    /// Returns the default name of an attribute's column.
    func attributeColumn(_ property: CompiledProperty) -> String {
        if naming == .models { return property.name }
        return "Z" + (elementNaming == .apples ? property.columnStem : property.formerColumnStem)
    }
}
