import Foundation

extension Schema {
    /// A relationship of an entity, and what `@Relationship` says of one.
    public final class Relationship: SchemaProperty, @unchecked Sendable {
        // Safe because a schema is changed before it is given to a container, if at all.

        /// The effect on the models that a deleted model refers to.
        public enum DeleteRule: String, Codable, Sendable {
            /// Nothing: they keep referring to a model that does not exist.
            case noAction
            /// Their references become nil.
            case nullify
            /// They are deleted, too.
            case cascade
            /// The deletion fails while there are any.
            case deny
        }

        /// Something that `@Relationship` asks for.
        public struct Option: Codable, Hashable, Sendable {
            private let name: String
            /// No two models refer to the same one.
            public static var unique: Option { Option(name: "unique") }
        }

        public var name: String
        public var originalName: String
        public var valueType: any Any.Type
        /// The key path of the property.
        public var keypath: AnyKeyPath?
        /// The declared options, such as `.unique`.
        public var options: [Option]
        /// The name of the entity that the relationship refers to.
        public var destination: String
        /// The effect on the models that a deleted model refers to.
        public var deleteRule: DeleteRule
        /// The name of the relationship back, in the destination.
        public var inverseName: String?
        /// The key path of the inverse, if it was given.
        public var inverseKeyPath: AnyKeyPath?
        /// The least number of models, which is checked when models are saved.
        public var minimumModelCount: Int?
        /// The largest number of models, which is checked when models are saved; 0 for any.
        public var maximumModelCount: Int?
        /// A text that makes the entity's version hash another one.
        public var hashModifier: String?

        /// What `@Relationship` says; the macro knows name and type.
        public init(
            _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
            maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
            hashModifier: String? = nil
        ) {
            name = ""
            self.originalName = originalName ?? ""
            valueType = Any.self
            destination = ""
            self.options = options
            self.deleteRule = deleteRule
            self.minimumModelCount = minimumModelCount
            self.maximumModelCount = maximumModelCount
            inverseKeyPath = inverse
            self.hashModifier = hashModifier
        }

        public var isAttribute: Bool { false }
        public var isRelationship: Bool { true }
        public var isUnique: Bool { options.contains(.unique) }
        /// Whether the relationship refers to one model at most.
        public var isToOneRelationship: Bool { RelationshipType(valueType)?.isToMany == false }

        private enum CodingKeys: CodingKey {
            case name, originalName, options, destination, deleteRule, inverseName, minimumModelCount
            case maximumModelCount, hashModifier, isOptional, isToOne
        }

        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            originalName = try container.decode(String.self, forKey: .originalName)
            options = try container.decode([Option].self, forKey: .options)
            destination = try container.decode(String.self, forKey: .destination)
            deleteRule = try container.decode(DeleteRule.self, forKey: .deleteRule)
            inverseName = try container.decodeIfPresent(String.self, forKey: .inverseName)
            minimumModelCount = try container.decodeIfPresent(Int.self, forKey: .minimumModelCount)
            maximumModelCount = try container.decodeIfPresent(Int.self, forKey: .maximumModelCount)
            hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
            valueType = UnknownModel.type(
                isToOne: try container.decode(Bool.self, forKey: .isToOne),
                isOptional: try container.decode(Bool.self, forKey: .isOptional))
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(originalName, forKey: .originalName)
            try container.encode(options, forKey: .options)
            try container.encode(destination, forKey: .destination)
            try container.encode(deleteRule, forKey: .deleteRule)
            try container.encodeIfPresent(inverseName, forKey: .inverseName)
            try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
            try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
            try container.encode(isOptional, forKey: .isOptional)
            try container.encode(isToOneRelationship, forKey: .isToOne)
        }

        public static func == (one: Relationship, other: Relationship) -> Bool {
            one === other
                || one.name == other.name && one.originalName == other.originalName && one.options == other.options
                    && one.destination == other.destination && one.deleteRule == other.deleteRule
                    && one.inverseName == other.inverseName && one.minimumModelCount == other.minimumModelCount
                    && one.maximumModelCount == other.maximumModelCount && one.hashModifier == other.hashModifier
                    && one.isOptional == other.isOptional && one.isToOneRelationship == other.isToOneRelationship
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(destination)
        }
    }
}
