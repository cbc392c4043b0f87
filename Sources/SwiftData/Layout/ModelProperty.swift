import CoreData
import Foundation

/// One persistent property of a model class.
package struct ModelProperty: @unchecked Sendable {
    // Safe because key paths, types and default values are made once and never change.

    /// How the property is kept: as an attribute, or as a relationship.
    package enum Form: Sendable {
        case attribute(AttributeForm)
        case toOne(any PersistentModel.Type, isOptional: Bool)
        case toMany(any PersistentModel.Type, isOptional: Bool)
    }

    /// The property's position in its class, from 0 in the order of the source.
    package let index: Int
    package let name: String
    /// The key path as the class that declares the property has it.
    package let keyPath: AnyKeyPath
    /// The property's Swift type.
    package let valueType: Any.Type
    /// The value of the initial value expression, evaluated when the layout was made; `nil` for none, and for nil.
    package let defaultValue: Any?
    package let form: Form
    /// The name of the relationship's other side, in the destination; given by either side, or inferred.
    package let inverse: String?
    /// What `@Attribute` says.
    package let attribute: Schema.Attribute?
    /// What `@Relationship` says.
    package let relationship: Schema.Relationship?

    /// The form of an attribute; `nil` for a relationship.
    package var attributeForm: AttributeForm? {
        if case .attribute(let form) = form { form } else { nil }
    }

    /// The class that a relationship refers to; `nil` for an attribute.
    package var destination: (any PersistentModel.Type)? {
        switch form {
        case .attribute: nil
        case .toOne(let type, _), .toMany(let type, _): type
        }
    }
}
