import CoreData
import Foundation

extension Schema {
    /// An attribute of an entity, and what `@Attribute` says of one.
    public class Attribute: SchemaProperty, @unchecked Sendable {
        // Safe because a schema is changed before it is given to a container, if at all.
        public var name: String
        public var originalName: String
        public var valueType: any Any.Type
        /// The declared options, such as `.unique`.
        public var options: [Option]
        /// The value that rows get which were there before the attribute was.
        public var defaultValue: Any?
        /// Whether there can be no value.
        public var isOptional: Bool
        /// A text that makes the entity's version hash another one.
        public var hashModifier: String?
        /// How the values are kept; `nil` for one that was described by hand, or read from a file.
        package var form: AttributeForm?
        /// The column's type, of an attribute that was read from a file.
        private(set) var storedType: NSAttributeType?
        /// The name of the Swift type, of an attribute that was read from a file.
        private var storedTypeName: String?
        private var typeName: String { storedTypeName ?? SchemaTypeNames.name(of: valueType) }

        /// What `@Attribute` says; the macro knows name, type and default value.
        public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
            name = ""
            self.originalName = originalName ?? ""
            valueType = Any.self
            self.options = options
            isOptional = false
            self.hashModifier = hashModifier
        }

        /// An attribute that is described by hand.
        public init(
            name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
            defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            self.name = name
            self.originalName = originalName ?? name
            self.options = options
            self.valueType = valueType
            self.defaultValue = defaultValue
            isOptional = valueType is any OptionalType.Type
            self.hashModifier = hashModifier
        }

        public var isAttribute: Bool { true }
        public var isRelationship: Bool { false }
        public var isUnique: Bool { options.contains(.unique) }
        public var isTransient: Bool { options.contains(.ephemeral) }
        /// Whether a value transformer makes data of the values.
        public var isTransformable: Bool { options.contains { $0.kind == .transformable } }
        /// Whether the encoded form of the values is stored, as one value.
        public var isCodable: Bool { options.contains(.codable) }

        private enum CodingKeys: CodingKey {
            case name, originalName, type, options, isOptional, hashModifier, attributeType
        }

        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            originalName = try container.decode(String.self, forKey: .originalName)
            let typeName = try container.decode(String.self, forKey: .type)
            isOptional = try container.decode(Bool.self, forKey: .isOptional)
            valueType = SchemaTypeNames.type(named: typeName, isOptional: isOptional)
            storedTypeName = typeName
            options = try container.decode([Option].self, forKey: .options)
            hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
            storedType = try container.decodeIfPresent(UInt.self, forKey: .attributeType)
                .flatMap { NSAttributeType(rawValue: $0) }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(originalName, forKey: .originalName)
            try container.encode(typeName, forKey: .type)
            try container.encode(options, forKey: .options)
            try container.encode(isOptional, forKey: .isOptional)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
            try container.encodeIfPresent(
                (storedType ?? (try? resolvedForm())?.attributeType)?.rawValue, forKey: .attributeType)
        }

        /// How the values are kept.
        ///
        /// - Throws: ``UnsupportedType``.
        func resolvedForm() throws -> AttributeForm {
            try form
                ?? AttributeForm(
                    of: valueType, at: AttributeForm.Place(name: name, defaultValue: defaultValue), options: self)
        }

        public static func == (one: Attribute, other: Attribute) -> Bool {
            one === other || (type(of: one) == type(of: other) && one.isEqual(to: other))
        }

        func isEqual(to other: Attribute) -> Bool {
            name == other.name && originalName == other.originalName && options == other.options
                && isOptional == other.isOptional && hashModifier == other.hashModifier
                && typeName == other.typeName
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(options)
        }
    }

    /// An attribute that consists of attributes: a struct, or an enumeration.
    public final class CompositeAttribute: Attribute, @unchecked Sendable {
        /// The attributes that the value consists of, in their order.
        public var properties: [Attribute] = []

        /// An attribute made of these.
        public init(
            name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
            defaultValue: Any? = nil, hashModifier: String? = nil, properties: [Attribute]
        ) {
            self.properties = properties
            super.init(
                name: name, originalName: originalName, options: options, valueType: valueType,
                defaultValue: defaultValue, hashModifier: hashModifier)
        }

        private enum CodingKeys: CodingKey { case composites, attributes, order }

        public required init(from decoder: any Decoder) throws {
            try super.init(from: decoder)
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let composites = try container.decode([CompositeAttribute].self, forKey: .composites)
            let attributes = try container.decode([Attribute].self, forKey: .attributes)
            let order = try container.decode([String].self, forKey: .order)
            properties = (composites + attributes).sorted {
                (order.firstIndex(of: $0.name) ?? 0) < (order.firstIndex(of: $1.name) ?? 0)
            }
        }

        public override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(properties.compactMap { $0 as? CompositeAttribute }, forKey: .composites)
            try container.encode(properties.filter { !($0 is CompositeAttribute) }, forKey: .attributes)
            try container.encode(properties.map(\.name), forKey: .order)
        }

        public static func == (one: CompositeAttribute, other: CompositeAttribute) -> Bool {
            one === other || one.isEqual(to: other)
        }

        override func isEqual(to other: Attribute) -> Bool {
            super.isEqual(to: other) && properties == (other as? CompositeAttribute)?.properties
        }
    }
}

extension Schema.Attribute {
    /// Something that `@Attribute` asks for.
    public struct Option: Codable, Hashable, Sendable {
        enum Kind: String, Codable {
            case unique, transformable, externalStorage, allowsCloudEncryption, preserveValueOnDeletion, ephemeral
            case spotlight, codable
        }

        let kind: Kind
        let transformerName: String?

        private init(_ kind: Kind, transformerName: String? = nil) {
            self.kind = kind
            self.transformerName = transformerName
        }

        /// No two models have the same value; inserting another one with it updates the stored one.
        public static var unique: Option { Option(.unique) }
        /// Large values lie in files beside the store.
        public static var externalStorage: Option { Option(.externalStorage) }
        /// A cloud may hold the value encrypted; kept in the model, without effect here.
        public static var allowsCloudEncryption: Option { Option(.allowsCloudEncryption) }
        /// The history keeps the value of a model that is deleted.
        public static var preserveValueOnDeletion: Option { Option(.preserveValueOnDeletion) }
        /// Changes are tracked, and not stored.
        public static var ephemeral: Option { Option(.ephemeral) }
        /// The value is in a search index; kept in the model, without effect here.
        public static var spotlight: Option { Option(.spotlight) }
        /// The encoded form of the value is stored as one value. Predicates and sorting cannot look into it.
        public static var codable: Option { Option(.codable) }

        /// A value transformer of that class makes data of the values.
        ///
        /// Differs from Apple: register it under the class's name, with or without module, before the container is
        /// made.
        public static func transformable(by type: ValueTransformer.Type) -> Option {
            Option(.transformable, transformerName: TransformerNames.name(of: type))
        }

        /// The value transformer that is registered under that name makes data of the values.
        public static func transformable(by name: String) -> Option {
            Option(.transformable, transformerName: name)
        }
    }
}
