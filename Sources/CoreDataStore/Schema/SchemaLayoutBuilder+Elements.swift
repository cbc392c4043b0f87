import CoreDataModel
import CoreDataSQL

/// What the columns of a composite attribute's elements are called in files.
package enum ElementNaming: Sendable {
    /// `ZCITY` for `address.city`, as in Apple's stores.
    case apples
    /// `ZADDRESS_CITY`, as in stores of earlier versions of this framework.
    case former
}

extension SchemaLayoutBuilder {
    /// The slots of the properties that an entity declares and stores have, by name. In Apple's stores the elements of a
    /// composite attribute stand at its place, in the order in which the model declares them.
    func storedSlots(declaredBy ordinal: Int) -> [Int] {
        let properties = model.entities[ordinal].properties
        // The slots of an entity's own properties are in the order of their names, those of elements behind their composite.
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

    /// The name that the column of an attribute takes where no other column has it.
    func attributeColumn(_ property: CompiledProperty) -> String {
        if naming == .models { return property.name }
        return "Z" + (elementNaming == .apples ? property.columnStem : property.formerColumnStem)
    }
}
