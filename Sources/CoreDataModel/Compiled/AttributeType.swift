import CoreDataPrimitives

/// An attribute's type, by the codes of Apple's model files.
///
/// All that tells one type from another is in its ``traits``: to add a type is to add a case and its row of the table.
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

/// What is known of an attribute type.
package struct AttributeTraits: Sendable {
    /// What its values are to the engine: how they are kept, compared, read and written.
    package var kind: ValueKind
    /// As model files spell it: `Integer 16`, `Binary`; `nil` for a type that no file can have.
    package var fileName: String?
    /// As a model in Swift spells it, without its point: `integer16`.
    package var swiftName: String
    /// As XML stores spell it: `int16`.
    package var storeName: String
    /// The Foundation class of its values; `nil` where the type leaves it open.
    package var className: String?
    /// What a generated class declares for it.
    package var declared: SwiftType
    /// The whole numbers that it holds; `nil` where it has no others than its kind.
    package var range: ClosedRange<Int64>?

    /// A type of Swift, by the module that tells it from a class of the model with the same name.
    package struct SwiftType: Sendable {
        /// What is declared, without its question mark, where `nil` is a value.
        package var name: String
        package var module: String?
        /// What is declared where the model asks for scalars; `nil` where it has none.
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

    /// What its values are to the engine.
    package var kind: ValueKind { Self.kinds[Int(rawValue / 100)] }

    /// The kinds by hundreds of the codes: compiling a model asks for each attribute's several times.
    private static let kinds: [ValueKind] = {
        var kinds = [ValueKind](repeating: .object, count: 1 + Int(allCases.map(\.rawValue).max() ?? 0) / 100)
        for type in allCases { kinds[Int(type.rawValue / 100)] = type.traits.kind }
        return kinds
    }()

    /// The type as model files spell it; `nil` for a type that no file can have.
    package var fileName: String? { traits.fileName }

    package init?(fileName: String) {
        guard let type = Self.allCases.first(where: { $0.fileName == fileName }) else { return nil }
        self = type
    }

    /// The type that a model in Swift spells so.
    package init?(swiftName: String) {
        guard let type = Self.allCases.first(where: { $0.traits.swiftName == swiftName }) else { return nil }
        self = type
    }

    /// The type as a message names it.
    package var displayName: String { fileName ?? "ObjectID" }
}
