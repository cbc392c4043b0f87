import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Short ways to write models in tests: authors, books, loans.
package func model(_ entities: EntityElement...) -> ModelDocument {
    var document = ModelDocument()
    document.entities = entities
    return document
}

package func entity(
    _ name: String, parent: String? = nil, abstract: Bool = false, _ properties: PropertyElement...
) -> EntityElement {
    var entity = EntityElement(name: name)
    entity.parentName = parent
    entity.isAbstract = abstract
    entity.properties = properties
    return entity
}

package func attribute(
    _ name: String, _ type: AttributeType = .string, default text: String? = nil, optional: Bool = true
) -> PropertyElement {
    var attribute = AttributeElement(type: type)
    attribute.defaultValueText = text
    var property = PropertyElement(name: name, kind: .attribute(attribute))
    property.isOptional = optional
    return property
}

/// A composite attribute with elements of its own, optional as all.
package func composite(_ name: String, _ elements: PropertyElement...) -> PropertyElement {
    var attribute = AttributeElement(type: .composite)
    attribute.elements = elements
    var property = PropertyElement(name: name, kind: .attribute(attribute))
    property.isOptional = true
    return property
}

package func derived(_ name: String, _ type: AttributeType, _ expression: String) -> PropertyElement {
    var attribute = AttributeElement(type: type)
    attribute.derivationExpression = expression
    var property = PropertyElement(name: name, kind: .attribute(attribute))
    property.isOptional = true
    return property
}

package func toOne(_ name: String, _ destination: String?, inverse: String? = nil) -> PropertyElement {
    relationship(name, destination, inverse: inverse, max: 1, ordered: false)
}

package func toMany(
    _ name: String, _ destination: String?, inverse: String? = nil, ordered: Bool = false
) -> PropertyElement {
    relationship(name, destination, inverse: inverse, max: 0, ordered: ordered)
}

private func relationship(
    _ name: String, _ destination: String?, inverse: String?, max: Int, ordered: Bool
) -> PropertyElement {
    var relationship = RelationshipElement()
    relationship.destinationName = destination
    relationship.inverseName = inverse
    relationship.inverseEntityName = inverse == nil ? nil : destination
    relationship.maxCount = max
    relationship.isOrdered = ordered
    var property = PropertyElement(name: name, kind: .relationship(relationship))
    property.isOptional = true
    return property
}

extension PropertyElement {
    package func with(_ change: (inout PropertyElement) -> Void) -> PropertyElement {
        var copy = self
        change(&copy)
        return copy
    }
}

extension EntityElement {
    package func with(_ change: (inout EntityElement) -> Void) -> EntityElement {
        var copy = self
        change(&copy)
        return copy
    }
}

extension ModelDocument {
    package func with(_ change: (inout ModelDocument) -> Void) -> ModelDocument {
        var copy = self
        change(&copy)
        return copy
    }
}

extension Data {
    package var hex: String { map { String(format: "%02x", $0) }.joined() }
}
