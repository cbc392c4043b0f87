import CoreDataJSON

/// The part of a model that a service serves, as values: entities with an identity, and the properties that JSON has.
package struct ServedModel: Sendable {
    /// The served entities by name.
    package let entities: [String: ServedEntity]
    /// The reasons why parts of the model are not served, for the log and the schema.
    package let omissions: [Omission]

    /// A part of the model that clients do not see.
    package struct Omission: Hashable, Sendable {
        package var entity: String
        package var property: String?
        package var reason: String
    }

    /// The names of the entities, sorted.
    package var names: [String] { entities.keys.sorted() }
}

/// An entity as clients see it.
package struct ServedEntity: Sendable {
    package let name: String
    package let isAbstract: Bool
    package let superentity: String?
    /// The names of all entities below this one that are served.
    package let descendants: [String]
    /// The attribute whose UUID is the object's ID.
    package let identity: String
    /// The properties, in the order of their names.
    package let properties: [ServedProperty]
    private let places: [String: Int]

    package init(
        name: String, isAbstract: Bool, superentity: String?, descendants: [String], identity: String,
        properties: [ServedProperty]
    ) {
        self.name = name
        self.isAbstract = isAbstract
        self.superentity = superentity
        self.descendants = descendants
        self.identity = identity
        self.properties = properties
        places = Dictionary(properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    package subscript(property name: String) -> ServedProperty? { places[name].map { properties[$0] } }

    package var attributes: [ServedAttribute] { properties.compactMap(\.attribute) }

    /// The concrete entities of its objects.
    package var concreteNames: [String] { (isAbstract ? [] : [name]) + descendants }
}

/// A property as clients see it.
package enum ServedProperty: Sendable {
    case attribute(ServedAttribute)
    case relationship(ServedRelationship)

    package var name: String {
        switch self {
        case .attribute(let attribute): attribute.name
        case .relationship(let relationship): relationship.name
        }
    }

    package var attribute: ServedAttribute? {
        guard case .attribute(let attribute) = self else { return nil }
        return attribute
    }

    package var relationship: ServedRelationship? {
        guard case .relationship(let relationship) = self else { return nil }
        return relationship
    }
}

/// An attribute, or an element of a composite attribute.
package struct ServedAttribute: Sendable {
    package var name: String
    package var form: AttributeForm
    package var isOptional = true
    package var hasDefault = false
    /// Whether the store computes it.
    package var isDerived = false
    /// Whether it is not stored, so that no request can filter or sort by it.
    package var isTransient = false
    /// The media type of a large value.
    package var mediaType = "application/octet-stream"
}

package struct ServedRelationship: Sendable {
    package var name: String
    package var destination: String
    package var isToMany: Bool
    package var isOrdered: Bool
    package var isOptional: Bool
    package var inverse: String?
}

/// The JSON form of an attribute's values.
package indirect enum AttributeForm: Sendable {
    /// A number without fraction, in a range.
    case integer(ClosedRange<Int64>)
    /// A number with as many digits as the store keeps: 15 in SQLite, 38 elsewhere.
    case decimal(digits: Int)
    case double
    case float
    case string
    case boolean
    /// ISO 8601, see ``DateForm``.
    case date
    /// Base64.
    case bytes
    /// An address, under which the bytes are read and written; the attribute allows external storage.
    case largeBytes
    case uuid
    case uri
    case composite([ServedAttribute])

    /// Whether values have an order and can be compared with texts and numbers.
    package var isComparable: Bool {
        switch self {
        case .integer, .decimal, .double, .float, .string, .date, .uuid: true
        case .boolean, .bytes, .largeBytes, .uri, .composite: false
        }
    }

    package var isNumber: Bool {
        switch self {
        case .integer, .decimal, .double, .float: true
        default: false
        }
    }

    /// The form for messages: `a date`.
    package var words: String {
        switch self {
        case .integer(let range):
            range == .integers
                ? "a whole number of 64 bits" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .decimal(let digits): "a decimal number of up to \(digits) digits"
        case .double, .float: "a number"
        case .string: "a string"
        case .boolean: "true or false"
        case .date: "a date such as 2024-05-01T10:00:00Z"
        case .bytes: "bytes in Base64"
        case .largeBytes: "bytes, which are sent to the property's own address by PUT"
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .composite(let elements):
            "an object with the members \(elements.map(\.name).joined(separator: ", "))"
        }
    }
}

extension ClosedRange<Int64> {
    package static var integers: Self { .min ... .max }
}
