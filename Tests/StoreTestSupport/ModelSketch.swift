import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Models in a few lines, for tests.
///
///     try model(
///         Entity("Book").string("title").toOne("author", "Author", inverse: "books"),
///         Entity("Author").toMany("books", "Book", inverse: "author"))
package struct Entity {
    package var element: EntityElement

    package init(_ name: String, parent: String? = nil, isAbstract: Bool = false) {
        element = EntityElement(name: name)
        element.parentName = parent
        element.isAbstract = isAbstract
    }

    package func attribute(
        _ name: String, _ type: AttributeType, optional: Bool = true, transient: Bool = false, indexed: Bool = false,
        derived: String? = nil, external: Bool = false
    ) -> Entity {
        var attribute = AttributeElement(type: type)
        attribute.derivationExpression = derived
        attribute.allowsExternalBinaryDataStorage = external
        var property = PropertyElement(name: name, kind: .attribute(attribute))
        property.isOptional = optional
        property.isTransient = transient
        property.isIndexed = indexed
        return adding(property)
    }

    package func string(_ names: String...) -> Entity { names.reduce(self) { $0.attribute($1, .string) } }
    package func integer(_ names: String...) -> Entity { names.reduce(self) { $0.attribute($1, .integer64) } }
    package func boolean(_ names: String...) -> Entity { names.reduce(self) { $0.attribute($1, .boolean) } }

    package func toOne(_ name: String, _ destination: String, inverse: String? = nil, transient: Bool = false) -> Entity
    {
        relationship(name, destination, inverse: inverse, maxCount: 1, ordered: false, transient: transient)
    }

    package func required(toOne name: String, _ destination: String, inverse: String? = nil) -> Entity {
        var copy = toOne(name, destination, inverse: inverse)
        copy.element.properties[copy.element.properties.count - 1].isOptional = false
        return copy
    }

    package func toMany(
        _ name: String, _ destination: String, inverse: String? = nil, ordered: Bool = false, maxCount: Int = 0,
        transient: Bool = false
    ) -> Entity {
        relationship(name, destination, inverse: inverse, maxCount: maxCount, ordered: ordered, transient: transient)
    }

    package func index(
        _ name: String, _ properties: String..., where predicate: String? = nil, descending: Bool = false
    )
        -> Entity
    {
        var copy = self
        var index = FetchIndexElement(name: name)
        index.elements = properties.map {
            var element = FetchIndexElement.Element(propertyName: $0)
            element.isAscending = !descending
            return element
        }
        index.predicate = predicate
        copy.element.fetchIndexes.append(index)
        return copy
    }

    package func unique(_ properties: String...) -> Entity {
        var copy = self
        copy.element.uniquenessConstraints.append(properties)
        return copy
    }

    private func relationship(
        _ name: String, _ destination: String, inverse: String?, maxCount: Int, ordered: Bool, transient: Bool
    ) -> Entity {
        var relationship = RelationshipElement()
        relationship.destinationName = destination
        relationship.inverseName = inverse
        relationship.inverseEntityName = inverse == nil ? nil : destination
        relationship.maxCount = maxCount
        relationship.isOrdered = ordered
        var property = PropertyElement(name: name, kind: .relationship(relationship))
        property.isOptional = true
        property.isTransient = transient
        return adding(property)
    }

    private func adding(_ property: PropertyElement) -> Entity {
        var copy = self
        copy.element.properties.append(property)
        return copy
    }
}

package func document(
    _ entities: [Entity], configurations: [String: [String]] = [:], compiled: Bool = false
)
    -> ModelDocument
{
    var document = ModelDocument()
    document.entities = entities.map(\.element)
    document.appliesIndexDecodingQuirk = compiled
    document.configurations = configurations.sorted { $0.key < $1.key }.map {
        var configuration = ConfigurationElement(name: $0.key)
        configuration.entityNames = $0.value
        return configuration
    }
    return document
}

package func model(
    _ entities: Entity..., configurations: [String: [String]] = [:], compiled: Bool = false
) throws -> CompiledModel {
    try ModelCompiler.compile(document(entities, configurations: configurations, compiled: compiled))
}
