import CoreDataPrimitives

/// An attribute's type; the raw values are the codes of Apple's model files.
///
/// The ``traits`` contain all differences between types: to add a type, add a case and its row of the table.
package enum AttributeType: Int32, Sendable, CaseIterable {
    case undefined = 0
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case binaryData = 1000
    case uuid = 1100
    case uri = 1200
    case transformable = 1800
    case objectID = 2000
    case composite = 2100
}

/// The properties of an attribute type.
package struct AttributeTraits: Sendable {
    /// The kind of the values in the engine: it decides how they are stored, compared, read and written.
    package var kind: ValueKind
    /// The name in model files: `Integer 16`, `Binary`; `nil` for a type that no file can have.
    package var fileName: String?
    /// The name in a model in Swift, without the dot: `integer16`.
    package var swiftName: String
    /// The name in XML stores: `int16`.
    package var storeName: String
    /// The Foundation class of the values; `nil` if the type allows several classes.
    package var className: String?
    /// The type that a generated class declares.
    package var declared: SwiftType
    /// The range of integers; `nil` if the type does not limit its kind.
    package var range: ClosedRange<Int64>?

    /// A Swift type, qualified by its module if a class of the model could have the same name.
    package struct SwiftType: Sendable {
        /// The declared type, without the question mark; it is optional if `nil` is a valid value.
        package var name: String
        package var module: String?
        /// The declared type if the model asks for scalars; `nil` if there is no scalar type.
        package var scalar: String?
        package var scalarModule = "Swift"

        package init(_ name: String, in module: String? = nil, scalar: String? = nil, scalarModule: String = "Swift") {
            self.name = name
            self.module = module
            self.scalar = scalar
            self.scalarModule = scalarModule
        }
    }
}

extension AttributeType {
    /// The table of attribute types.
    package var traits: AttributeTraits {
        switch self {
        case .undefined:
            AttributeTraits(
                kind: .object, fileName: "Undefined", swiftName: "undefined", storeName: "undefined",
                declared: .init("NSObject"))
        case .integer16: Self.number(.integer, "Integer 16", "integer16", "int16", "Int16", -0x8000...0x7FFF)
        case .integer32: Self.number(.integer, "Integer 32", "integer32", "int32", "Int32", -0x8000_0000...0x7FFF_FFFF)
        case .integer64: Self.number(.integer, "Integer 64", "integer64", "int64", "Int64", .min ... .max)
        case .decimal:
            AttributeTraits(
                kind: .decimal, fileName: "Decimal", swiftName: "decimal", storeName: "decimal",
                className: "NSDecimalNumber", declared: .init("NSDecimalNumber"))
        case .double: Self.number(.real, "Double", "double", "double", "Double")
        case .float: Self.number(.single, "Float", "float", "float", "Float")
        case .string:
            AttributeTraits(
                kind: .text, fileName: "String", swiftName: "string", storeName: "string", className: "NSString",
                declared: .init("String", in: "Swift"))
        case .boolean: Self.number(.boolean, "Boolean", "boolean", "bool", "Bool")
        case .date:
            AttributeTraits(
                kind: .date, fileName: "Date", swiftName: "date", storeName: "date", className: "NSDate",
                declared: .init("Date", in: "Foundation", scalar: "TimeInterval", scalarModule: "Foundation"))
        case .binaryData:
            AttributeTraits(
                kind: .bytes, fileName: "Binary", swiftName: "binaryData", storeName: "binary", className: "NSData",
                declared: .init("Data", in: "Foundation"))
        case .uuid:
            AttributeTraits(
                kind: .identifier, fileName: "UUID", swiftName: "uuid", storeName: "uuid", className: "NSUUID",
                declared: .init("UUID", in: "Foundation"))
        case .uri:
            AttributeTraits(
                kind: .link, fileName: "URI", swiftName: "uri", storeName: "uri", className: "NSURL",
                declared: .init("URL", in: "Foundation"))
        case .transformable:
            AttributeTraits(
                kind: .object, fileName: "Transformable", swiftName: "transformable", storeName: "transformable",
                declared: .init("NSObject"))
        case .objectID:
            AttributeTraits(
                kind: .reference, fileName: nil, swiftName: "objectID", storeName: "objectid",
                className: "NSManagedObjectID", declared: .init("NSManagedObjectID"))
        case .composite:
            AttributeTraits(
                kind: .composite, fileName: "Composite", swiftName: "composite", storeName: "composite",
                className: "NSDictionary", declared: .init("String", in: "Swift"))
        }
    }

    private static func number(
        _ kind: ValueKind, _ fileName: String, _ swiftName: String, _ storeName: String, _ scalar: String,
        _ range: ClosedRange<Int64>? = nil
    ) -> AttributeTraits {
        AttributeTraits(
            kind: kind, fileName: fileName, swiftName: swiftName, storeName: storeName, className: "NSNumber",
            declared: .init("NSNumber", scalar: scalar), range: range)
    }

    /// The kind of the values in the engine.
    package var kind: ValueKind { Self.kinds[Int(rawValue / 100)] }

    /// The kinds by code divided by 100. Compiling a model reads the kind of each attribute several times.
    private static let kinds: [ValueKind] = {
        var kinds = [ValueKind](repeating: .object, count: 1 + Int(allCases.map(\.rawValue).max() ?? 0) / 100)
        for type in allCases { kinds[Int(type.rawValue / 100)] = type.traits.kind }
        return kinds
    }()

    /// The name of the type in model files; `nil` for a type that no file can have.
    package var fileName: String? { traits.fileName }

    package init?(fileName: String) {
        guard let type = Self.allCases.first(where: { $0.fileName == fileName }) else { return nil }
        self = type
    }

    /// The type with this name in a model in Swift.
    package init?(swiftName: String) {
        guard let type = Self.allCases.first(where: { $0.traits.swiftName == swiftName }) else { return nil }
        self = type
    }

    /// The name of the type in messages.
    package var displayName: String { fileName ?? "ObjectID" }
}
