import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The type of an attribute's values, together with the Swift type that a default has to be of.
///
/// | Kind | Default | Column |
/// | --- | --- | --- |
/// | `.integer16`, `.integer32`, `.integer64` | `Int16`, `Int32`, `Int64` | `INTEGER` |
/// | `.boolean` | `Bool` | `INTEGER` |
/// | `.double`, `.float` | `Double`, `Float` | `FLOAT` |
/// | `.decimal` | `Decimal` | `DECIMAL` |
/// | `.date` | `Date` | `TIMESTAMP`, seconds since 2001 |
/// | `.string`, `.uri` | `String`, `URL` | `VARCHAR` |
/// | `.uuid`, `.binaryData` | `UUID`, `Data` | `BLOB` |
/// | `.transformable(by:)` | none | `BLOB` |
/// | `.composite(_:)` | none | a column for each element |
/// | `.undefined` | none | none: for transient attributes |
public struct ModelAttributeKind<Stored>: Sendable {
    let attribute: AttributeElement
    let convert: @Sendable (Stored) -> Value

    init(_ type: AttributeType, _ convert: @escaping @Sendable (Stored) -> Value) {
        attribute = AttributeElement(type: type)
        self.convert = convert
    }
}

/// The default value of kinds of attributes without a text form: it has no instances, so none can be given.
public struct NoDefault: Sendable {
    private init() {}
}

extension ModelAttributeKind where Stored == Int16 {
    /// A whole number from -32,768 to 32,767.
    public static var integer16: Self { Self(.integer16) { .integer(Int64($0)) } }
}

extension ModelAttributeKind where Stored == Int32 {
    /// A whole number of 32 bits.
    public static var integer32: Self { Self(.integer32) { .integer(Int64($0)) } }
}

extension ModelAttributeKind where Stored == Int64 {
    /// A whole number of 64 bits.
    public static var integer64: Self { Self(.integer64) { .integer($0) } }
}

extension ModelAttributeKind where Stored == Bool {
    /// True or false.
    public static var boolean: Self { Self(.boolean) { .integer($0 ? 1 : 0) } }
}

extension ModelAttributeKind where Stored == Double {
    /// A number of 64 bits with a fraction.
    public static var double: Self { Self(.double) { .double($0) } }
}

extension ModelAttributeKind where Stored == Float {
    // By way of its text, so that 0.1 is the 0.1 that a model file says.
    /// A number of 32 bits with a fraction.
    public static var float: Self { Self(.float) { .double(Double("\($0)") ?? Double($0)) } }
}

extension ModelAttributeKind where Stored == Decimal {
    /// A decimal number of up to 38 digits.
    public static var decimal: Self { Self(.decimal) { .decimal($0) } }
}

extension ModelAttributeKind where Stored == String {
    /// A text.
    public static var string: Self { Self(.string) { .string($0) } }
}

extension ModelAttributeKind where Stored == Date {
    /// A moment, to the precision of a `Double` of seconds.
    public static var date: Self { Self(.date) { .date($0.timeIntervalSinceReferenceDate) } }
}

extension ModelAttributeKind where Stored == Data {
    /// Bytes.
    public static var binaryData: Self { Self(.binaryData) { .data($0) } }
}

extension ModelAttributeKind where Stored == UUID {
    /// A UUID.
    public static var uuid: Self { Self(.uuid) { .uuid($0) } }
}

extension ModelAttributeKind where Stored == URL {
    /// A URL.
    public static var uri: Self { Self(.uri) { .uri($0.absoluteString) } }
}

extension ModelAttributeKind where Stored == NoDefault {
    /// Any object, which a value transformer makes data of.
    ///
    /// - Parameters:
    ///   - transformer: the transformer's registered name; the secure one unless you say otherwise.
    ///   - valueClass: the name of the class of the values.
    public static func transformable(by transformer: String? = nil, valueClass: String? = nil) -> Self {
        var attribute = AttributeElement(type: .transformable)
        attribute.valueTransformerName = transformer
        attribute.customClassName = valueClass
        return Self(attribute)
    }

    /// The elements of a ``ModelComposite`` of that name.
    public static func composite(_ name: String) -> Self {
        var attribute = AttributeElement(type: .composite)
        attribute.compositeName = name
        return Self(attribute)
    }

    /// No type: for transient attributes.
    public static var undefined: Self { Self(AttributeElement(type: .undefined)) }

    private init(_ attribute: AttributeElement) {
        self.attribute = attribute
        convert = { _ in .null }
    }
}
