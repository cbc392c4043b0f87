import CoreDataModel
import Foundation

// Entities as elements of a model document, in both directions.

extension NSEntityDescription {
    func makeElement() -> EntityElement {
        var element = EntityElement(name: name ?? "")
        element.className = managedObjectClassName == "NSManagedObject" ? nil : managedObjectClassName
        element.parentName = superentity?.name ?? pendingSuperentityName
        element.isAbstract = isAbstract
        element.properties = ownProperties.map { $0.makeElement() }
        element.fetchIndexes = indexes.map { $0.makeElement() }
        element.uniquenessConstraints = storedUniquenessConstraints
        element.compoundIndexes = storedCompoundIndexes
        element.userInfo = UserInfo.text(userInfo)
        element.versionHashModifier = versionHashModifier
        element.renamingIdentifier = storedRenamingIdentifier
        element.coreSpotlightDisplayNameExpression = storedSpotlightExpression?.text
        element.knownVersionHash = knownVersionHash
        return element
    }

    /// Takes over everything in the element but the parent.
    func adopt(_ element: EntityElement, composites: inout [String: CompositeElement]) throws {
        name = element.name
        managedObjectClassName = element.className
        isAbstract = element.isAbstract
        var properties: [NSPropertyDescription] = []
        for property in element.properties {
            properties.append(try NSPropertyDescription.make(property, composites: &composites))
        }
        setOwnProperties(properties)
        indexes = try element.fetchIndexes.map(NSFetchIndexDescription.make)
        storedUniquenessConstraints = element.uniquenessConstraints
        storedCompoundIndexes = element.compoundIndexes
        userInfo = element.userInfo
        versionHashModifier = element.versionHashModifier
        storedRenamingIdentifier = element.renamingIdentifier == element.name ? nil : element.renamingIdentifier
        storedSpotlightExpression = try element.coreSpotlightDisplayNameExpression.map(
            WrittenExpression.init(text:))
        knownVersionHash = element.knownVersionHash
    }
}
