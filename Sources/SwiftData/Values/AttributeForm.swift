import CoreData
import Foundation

/// How the values of a Swift type are kept as an attribute.
///
///     AttributeForm(of: Int.self)              // scalar(.integer64AttributeType)
///     AttributeForm(of: Address?.self)         // composite: an attribute for each stored property, all optional
///     AttributeForm(of: [Part].self)           // json: the text that JSONEncoder makes, as binary data
///     AttributeForm(of: [String].self)         // transformable: an archived array
package struct AttributeForm: @unchecked Sendable {
    // Safe because the closures capture types and forms only, and the sample is never changed.

    package indirect enum Kind: Sendable {
        /// A column of that type.
        case scalar(NSAttributeType)
        /// Attributes of their own, by name.
        case composite([Element])
        /// JSON text in a binary attribute.
        case json
        /// An object that a value transformer makes data of; without a name, an archived one.
        case transformable(String?)
    }

    /// An element of a composite.
    package struct Element: Sendable {
        package let name: String
        package let form: AttributeForm

        package init(name: String, form: AttributeForm) {
            self.name = name
            self.form = form
        }
    }

    /// What an enumeration without associated values is.
    package struct Enumeration: Sendable {
        /// The names of the cases, in their order.
        package let cases: [String]
        /// The raw values' type; `nil` for an enumeration without.
        package let rawType: NSAttributeType?
        /// The raw values of the cases as the text of a JSON array, where they are texts or whole numbers and the cases
        /// are known.
        package var rawValues: String?
    }

    package let kind: Kind
    /// The attribute's type in the model.
    package var attributeType: NSAttributeType {
        switch kind {
        case .scalar(let type): type
        case .composite: .compositeAttributeType
        case .json: .binaryDataAttributeType
        case .transformable: .transformableAttributeType
        }
    }
    /// Whether there can be no value.
    package let isOptional: Bool
    /// The Swift type, without optionality.
    package let valueType: Any.Type
    /// For a type that is an enumeration without associated values.
    package let enumeration: Enumeration?
    /// A value that `NSManagedObject.setValue(_:forKey:)` takes, of a Swift value: composites are dictionaries with the
    /// elements that are not nil. `nil` for nil.
    package let encode: (_ value: Any) throws -> Any?
    /// The Swift value, of what `NSManagedObject.value(forKey:)` gives. Of an optional type where ``isOptional``.
    ///
    /// - Throws: for a stored value that is none of the type's, such as a raw value without a case.
    package let decode: (_ stored: Any?) throws -> Any
    /// Two different values of the Swift type without optionality, or one, or none if none could be made: what the
    /// layout was learned from.
    let samples: [Any]
}
