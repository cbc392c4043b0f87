import Foundation

extension Schema {
    /// One kind of models: its attributes and relationships.
    public final class Entity: Codable, Hashable, @unchecked Sendable {
        // Safe because a schema is changed before it is given to a container, if at all.

        /// The class's name.
        public var name: String
        /// The entities that inherit this one's properties.
        public var subentities: Set<Entity>
        /// The name of the entity whose properties this one inherits.
        public var superentityName: String?
        /// The entity whose properties this one inherits.
        public internal(set) weak var superentity: Entity?
        /// The entity's own properties, in their order.
        public var storedProperties: [any SchemaProperty]
        /// The properties of the entities above.
        public var inheritedProperties: [any SchemaProperty]
        /// Names of properties whose values together are unique.
        public var uniquenessConstraints: [[String]]
        /// Names of properties of binary indexes.
        public var indices: [[String]]

        /// An entity without properties.
        public init(_ name: String) {
            self.name = name
            subentities = []
            storedProperties = []
            inheritedProperties = []
            uniquenessConstraints = []
            indices = []
        }

        /// An entity with subentities and properties.
        public convenience init(_ name: String, subentities: Entity..., properties: any SchemaProperty...) {
            self.init(name, properties: properties)
            self.subentities = Set(subentities)
            for entity in subentities {
                entity.superentityName = name
                entity.superentity = self
                entity.inheritedProperties = self.properties
            }
        }

        /// An entity with properties.
        public convenience init(_ name: String, properties: any SchemaProperty...) {
            self.init(name, properties: properties)
        }

        convenience init(_ name: String, properties: [any SchemaProperty]) {
            self.init(name)
            storedProperties = properties
            uniquenessConstraints = properties.filter(\.isUnique).map { [$0.name] }
        }

        /// All properties, inherited ones first.
        public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }
        /// All attributes.
        public var attributes: Set<Attribute> { Set(properties.compactMap { $0 as? Attribute }) }
        /// All relationships.
        public var relationships: Set<Relationship> { Set(properties.compactMap { $0 as? Relationship }) }
        /// All attributes by name.
        public var attributesByName: [String: Attribute] { Self.byName(properties.compactMap { $0 as? Attribute }) }
        /// All relationships by name.
        public var relationshipsByName: [String: Relationship] {
            Self.byName(properties.compactMap { $0 as? Relationship })
        }
        /// The entity's own properties by name.
        public var storedPropertiesByName: [String: any SchemaProperty] {
            Dictionary(storedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        /// The inherited properties by name.
        public var inheritedPropertiesByName: [String: any SchemaProperty] {
            Dictionary(inheritedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }

        private static func byName<P: SchemaProperty>(_ properties: [P]) -> [String: P] {
            Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }

        // MARK: Coding

        private enum CodingKeys: CodingKey {
            case name, superentityName, attributes, composites, relationships, order, uniquenessConstraints, indices
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            superentityName = try container.decodeIfPresent(String.self, forKey: .superentityName)
            let order = try container.decode([String].self, forKey: .order)
            let found: [any SchemaProperty] =
                try container.decode([Attribute].self, forKey: .attributes)
                + container.decode([CompositeAttribute].self, forKey: .composites)
                + container.decode([Relationship].self, forKey: .relationships)
            storedProperties = found.sorted {
                (order.firstIndex(of: $0.name) ?? 0) < (order.firstIndex(of: $1.name) ?? 0)
            }
            uniquenessConstraints = try container.decode([[String]].self, forKey: .uniquenessConstraints)
            indices = try container.decode([[String]].self, forKey: .indices)
            subentities = []
            inheritedProperties = []
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encodeIfPresent(superentityName, forKey: .superentityName)
            try container.encode(storedProperties.map(\.name), forKey: .order)
            let attributes = storedProperties.compactMap { $0 as? Attribute }
            try container.encode(attributes.filter { !($0 is CompositeAttribute) }, forKey: .attributes)
            try container.encode(attributes.compactMap { $0 as? CompositeAttribute }, forKey: .composites)
            try container.encode(storedProperties.compactMap { $0 as? Relationship }, forKey: .relationships)
            try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
            try container.encode(indices, forKey: .indices)
        }

        public static func == (one: Entity, other: Entity) -> Bool {
            one === other
                || one.name == other.name && one.superentityName == other.superentityName
                    && one.attributesByName == other.attributesByName
                    && one.relationshipsByName == other.relationshipsByName
                    && Set(one.uniquenessConstraints) == Set(other.uniquenessConstraints)
                    && Set(one.indices) == Set(other.indices)
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}
