import CoreData
import Foundation
import Synchronization

/// The declaration of a model class: its persistent properties, and how each is stored. One per class, made once.
///
///     let layout = ModelLayout.of(Trip.self)
///     layout.entityName                         // "Trip"
///     layout.properties[0].name                 // "name"
///     layout.name(of: \Trip.address.city)       // "address.city"
package final class ModelLayout: @unchecked Sendable {
    // Safe because everything is set in the initialiser, but the names found later, which are behind a lock.
    package let type: any PersistentModel.Type
    package let entityName: String
    /// The layout of the model class that this one inherits from.
    package let superclass: ModelLayout?
    /// The class's own properties, in the order of the source.
    package let properties: [ModelProperty]
    private let constraints: [any ModelConstraint]
    /// The property that cannot be stored, so that no schema can have the class; `nil` if all can.
    package let problem: String?

    private let propertiesByName: [String: ModelProperty]
    let ownNames: [AnyKeyPath: String]
    let foundNames = Mutex<[FoundKeyPath: String?]>([:])
    let foundIdentifiers = Mutex<[FoundKeyPath: String?]>([:])

    private static let layouts = Mutex<[ObjectIdentifier: ModelLayout]>([:])

    /// The layout of a class. Never stops the program: see ``problem``.
    package static func of(_ type: any PersistentModel.Type) -> ModelLayout {
        if let known = layouts.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        // Outside of the lock: this evaluates the class's default values, which is code of the program.
        let made = ModelLayout(ModelDeclaration.of(type))
        return layouts.withLock { layouts in
            if let known = layouts[ObjectIdentifier(type)] { return known }
            layouts[ObjectIdentifier(type)] = made
            return made
        }
    }

    private init(_ declaration: ModelDeclaration) {
        type = declaration.type
        entityName = declaration.entityName
        superclass = declaration.superclass.map { ModelLayout.of($0.type) }
        properties = declaration.properties.enumerated().map { index, property in
            ModelProperty(
                index: index, name: property.name, keyPath: property.keyPath, valueType: property.valueType,
                defaultValue: property.defaultValue, form: property.form,
                inverse: InverseInference.inverse(of: property, in: declaration),
                attribute: property.metadata as? Schema.Attribute,
                relationship: property.metadata as? Schema.Relationship)
        }
        constraints = declaration.constraints
        problem = declaration.problem ?? superclass?.problem
        ownNames = Dictionary(properties.map { ($0.keyPath, $0.name) }, uniquingKeysWith: { first, _ in first })
        propertiesByName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the property of that name, including inherited ones.
    package func property(named name: String) -> ModelProperty? {
        propertiesByName[name] ?? superclass?.property(named: name)
    }

    /// All properties, those of the superclasses first.
    package var allProperties: [ModelProperty] { (superclass?.allProperties ?? []) + properties }

    /// The names of properties of each constraint of `#Unique`.
    ///
    /// - Throws: ``SwiftDataError`` for a key path that is no stored property.
    package func uniquenessConstraints() throws -> [[String]] {
        try constraints.flatMap { try $0.uniquePropertyNames() }
    }

    /// The indexes that `#Index` asks for.
    ///
    /// - Throws: ``SwiftDataError`` for a key path that is no stored property.
    package func indexes() throws -> [ModelIndexDeclaration] { try constraints.flatMap { try $0.indexDeclarations() } }
}
