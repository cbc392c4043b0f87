import CoreData
import Foundation

/// One property of an entity as devices exchange it.
package struct SyncProperty: Hashable, Sendable {
    /// The key of the property in states: `name`, `address.city` for an element of a composite, `items#` for a
    /// position.
    package let name: String
    package let kind: Kind
    /// The property of the model that history names when the value changes: of `address.city` it is `address`.
    package let modelName: String

    package init(name: String, kind: Kind, modelName: String? = nil) {
        (self.name, self.kind, self.modelName) = (name, kind, modelName ?? name)
    }

    package enum Kind: Hashable, Sendable {
        case attribute(AttributeKind, MergeRule)
        /// A to-one relationship that is exchanged as a reference. `inverse` is the name of the relationship that leads
        /// back.
        case toOne(destination: String, isRequired: Bool, inverse: String?)
        /// A to-many relationship that is exchanged as pairs which this entity has.
        case pairs(destination: String, isOrdered: Bool, inverse: String?, inverseIsOrdered: Bool)
        /// The position of this object in the ordered to-many `relationship` of `owner`; `toOne` leads from this object
        /// to its owner.
        case ordering(owner: String, relationship: String, toOne: String)
        case notExchanged(Reason)
    }

    /// Why devices do not exchange a property.
    package enum Reason: String, Hashable, Sendable {
        case ignored
        case transient
        case derived
        case fetched
        /// The type of the attribute has no form that other devices understand.
        case type
        /// The other side of the relationship is exchanged.
        case otherSide
        /// The destination's entity is ignored, or belongs to another configuration.
        case destination
    }

    /// Whether states have a value under this name.
    package var isExchanged: Bool {
        if case .notExchanged = kind { false } else { true }
    }
}

/// The type of an attribute's values.
package enum AttributeKind: Hashable, Sendable {
    /// A whole number of 16, 32 or 64 bits.
    case integer(bits: Int)
    case boolean
    case double
    case float
    case decimal
    case string
    case date
    case data
    case uuid
    case uri
    /// Exchanged as the bytes that the store has for the value.
    case transformable

    package init?(_ type: NSAttributeType) {
        switch type {
        case .integer16AttributeType: self = .integer(bits: 16)
        case .integer32AttributeType: self = .integer(bits: 32)
        case .integer64AttributeType: self = .integer(bits: 64)
        case .booleanAttributeType: self = .boolean
        case .doubleAttributeType: self = .double
        case .floatAttributeType: self = .float
        case .decimalAttributeType: self = .decimal
        case .stringAttributeType: self = .string
        case .dateAttributeType: self = .date
        case .binaryDataAttributeType: self = .data
        case .UUIDAttributeType: self = .uuid
        case .URIAttributeType: self = .uri
        case .transformableAttributeType: self = .transformable
        default: return nil
        }
    }

    /// Whether values can be added to each other.
    package var isNumber: Bool {
        switch self {
        case .integer, .double, .float, .decimal: true
        default: false
        }
    }

    /// Whether the smaller of two values has a meaning for people.
    package var isOrdered: Bool {
        switch self {
        case .string, .date, .boolean: true
        default: isNumber
        }
    }

    /// Whether values are binary floating-point numbers.
    package var isReal: Bool { self == .double || self == .float }

    /// Whether values are identifiers themselves.
    package var isIdentifier: Bool { self == .uuid }

    /// Whether two devices can make the same identity of a value.
    package var identifies: Bool { self != .transformable }
}

/// How the values of two devices become one.
package enum MergeRule: String, Hashable, Sendable, CaseIterable {
    /// The last writer wins. The default.
    case last
    /// The smallest value wins.
    case min
    /// The greatest value wins.
    case max
    /// Each device has a contribution; the value is their sum.
    case sum
    /// Lines of a text are added and removed one by one.
    case text
    /// Items of a list in a text are added and removed one by one.
    case union
    /// A closure of the app decides; ``SyncOptions/merge``.
    case app
}
