import CoreDataModel

/// The type of an attribute's values.
public enum NSAttributeType: UInt, Sendable {
    /// No type: for transient attributes only.
    case undefinedAttributeType = 0
    case integer16AttributeType = 100
    case integer32AttributeType = 200
    case integer64AttributeType = 300
    case decimalAttributeType = 400
    case doubleAttributeType = 500
    case floatAttributeType = 600
    case stringAttributeType = 700
    case booleanAttributeType = 800
    case dateAttributeType = 900
    case binaryDataAttributeType = 1000
    case UUIDAttributeType = 1100
    case URIAttributeType = 1200
    /// Any object, stored as data by way of a value transformer.
    case transformableAttributeType = 1800
    /// A managed object's ID: for the results of fetches, not for storing.
    case objectIDAttributeType = 2000
    /// A group of attributes, a dictionary in memory, a column each in the store.
    case compositeAttributeType = 2100

    // Both name the types by the codes of model files; a test holds them against each other.
    package init(_ type: CoreDataModel.AttributeType) {
        self = NSAttributeType(rawValue: UInt(type.rawValue)) ?? .undefinedAttributeType
    }

    /// The same type, as the engine names it.
    package var compiled: CoreDataModel.AttributeType {
        CoreDataModel.AttributeType(rawValue: Int32(rawValue)) ?? .undefined
    }

    /// Apple's name for the class of the type's values; `nil` if the attribute itself names it.
    var valueClassName: String? { compiled.traits.className }
}

extension NSAttributeDescription {
    /// An attribute's type, in the short spelling: `.integer64`, `.string`.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        /// The type in the long spelling.
        public let rawValue: NSAttributeType

        /// The short spelling of a type.
        public init(rawValue: NSAttributeType) { self.rawValue = rawValue }

        /// No type: only transient attributes can have it.
        public static let undefined = AttributeType(rawValue: .undefinedAttributeType)
        /// A whole number of 16 bits, `Int16`.
        public static let integer16 = AttributeType(rawValue: .integer16AttributeType)
        /// A whole number of 32 bits, `Int32`.
        public static let integer32 = AttributeType(rawValue: .integer32AttributeType)
        /// A whole number of 64 bits, `Int64`.
        public static let integer64 = AttributeType(rawValue: .integer64AttributeType)
        /// A decimal number, `NSDecimalNumber`.
        public static let decimal = AttributeType(rawValue: .decimalAttributeType)
        /// A `Double`.
        public static let double = AttributeType(rawValue: .doubleAttributeType)
        /// A `Float`.
        public static let float = AttributeType(rawValue: .floatAttributeType)
        /// A text, `String`.
        public static let string = AttributeType(rawValue: .stringAttributeType)
        /// A `Bool`.
        public static let boolean = AttributeType(rawValue: .booleanAttributeType)
        /// A `Date`.
        public static let date = AttributeType(rawValue: .dateAttributeType)
        /// Bytes, `Data`.
        public static let binaryData = AttributeType(rawValue: .binaryDataAttributeType)
        /// A `UUID`.
        public static let uuid = AttributeType(rawValue: .UUIDAttributeType)
        /// A `URL`.
        public static let uri = AttributeType(rawValue: .URIAttributeType)
        /// Any object, stored as the bytes that a value transformer makes of it.
        public static let transformable = AttributeType(rawValue: .transformableAttributeType)
        /// An `NSManagedObjectID`; of transient attributes.
        public static let objectID = AttributeType(rawValue: .objectIDAttributeType)
        /// Several attributes under one name, see `NSCompositeAttributeDescription`.
        public static let composite = AttributeType(rawValue: .compositeAttributeType)
    }
}
