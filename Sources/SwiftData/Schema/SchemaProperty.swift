import Foundation

/// A property of an entity, as a schema describes it: an attribute, a relationship; also an index or a constraint.
public protocol SchemaProperty: Codable, Hashable {
    /// The property's name.
    var name: String { get set }
    /// The name that the property had in an earlier version of the schema; its present name unless set.
    var originalName: String { get set }
    /// The Swift type of the property.
    var valueType: any Any.Type { get set }
    /// Whether the property is an attribute.
    var isAttribute: Bool { get }
    /// Whether the property is a relationship.
    var isRelationship: Bool { get }
    /// Whether the property is not stored.
    var isTransient: Bool { get }
    /// Whether the property can be nil.
    var isOptional: Bool { get }
    /// Whether no two models can have the same value.
    var isUnique: Bool { get }
}

extension SchemaProperty {
    public var isAttribute: Bool { false }
    public var isRelationship: Bool { false }
    public var isTransient: Bool { false }
    public var isOptional: Bool { valueType is any OptionalType.Type }
}

/// What every `Optional` is, so that the type it wraps is found at run time.
protocol OptionalType {
    static var wrappedType: any Any.Type { get }
    static var nilValue: Any { get }
    var wrapped: Any? { get }
}

extension Optional: OptionalType {
    static var wrappedType: any Any.Type { Wrapped.self }
    static var nilValue: Any { Wrapped?.none as Any }
    var wrapped: Any? { self }
}
