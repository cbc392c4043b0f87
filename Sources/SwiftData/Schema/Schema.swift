import Foundation

/// The model classes of a container, as entities with attributes and relationships.
///
///     let schema = Schema([Trip.self, Stop.self])
///     schema.entitiesByName["Trip"]?.attributesByName["name"]?.isUnique
///
/// A schema has every class that relationships of the listed ones refer to, and the superclasses. List subclasses
/// yourself.
public final class Schema: Codable, Hashable, Sendable, CustomDebugStringConvertible {
    /// The version of the form in which schemas are encoded.
    public static let schemaEncodingVersion = Version(1, 0, 0)

    /// The version of the form in which this schema was encoded.
    public let encodingVersion: Version
    /// The version of the schema.
    public let version: Version
    /// The entities, those of the listed classes first.
    public let entities: [Entity]
    /// The model classes; empty for a schema that was read from a file or made of entities.
    package let types: [any PersistentModel.Type]

    /// The entities by name.
    public var entitiesByName: [String: Entity] {
        Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private init(entities: [Entity], types: [any PersistentModel.Type], version: Version) {
        encodingVersion = Self.schemaEncodingVersion
        self.version = version
        self.entities = entities
        self.types = types
    }

    /// An empty schema.
    public convenience init() { self.init(entities: [], types: [], version: Version(1, 0, 0)) }

    /// A schema of entities that were described by hand.
    public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
        self.init(entities: entities, types: [], version: version)
    }

    /// A schema of model classes and of those that their relationships refer to.
    public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
        self.init(types, version: version)
    }

    /// A schema of model classes and of those that their relationships refer to.
    public convenience init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
        let all = SchemaBuilder.reachable(from: types)
        self.init(entities: SchemaBuilder.entities(of: all), types: all, version: version)
    }

    /// The schema of one version of the app's models.
    public convenience init(versionedSchema: any VersionedSchema.Type) {
        self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    }

    // MARK: Entities

    /// The entity of a model class; `nil` if the schema has none.
    public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
        entities.first { $0.name == Self.entityName(for: type) }
    }

    /// The name of a model class's entity: the class's name without module and enclosing types.
    public static func entityName<T: PersistentModel>(for type: T.Type) -> String { "\(type)" }

    // MARK: Files

    private enum CodingKeys: CodingKey { case encodingVersion, version, entities }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        encodingVersion = try container.decode(Version.self, forKey: .encodingVersion)
        version = try container.decode(Version.self, forKey: .version)
        entities = try container.decode([Entity].self, forKey: .entities)
        types = []
        SchemaBuilder.connect(entities)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(encodingVersion, forKey: .encodingVersion)
        try container.encode(version, forKey: .version)
        try container.encode(entities, forKey: .entities)
    }

    /// Writes the schema to a file, as JSON. The form is this module's own.
    public func save(to url: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: url, options: .atomic)
    }

    /// Reads a schema that ``save(to:)`` wrote. It has entities, and no model classes.
    public static func load(from url: URL) throws -> Schema {
        try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url))
    }

    // MARK: Equality

    public static func == (one: Schema, other: Schema) -> Bool {
        one === other
            || one.version == other.version && Set(one.entities) == Set(other.entities)
                && Set(one.types.map { ObjectIdentifier($0) }) == Set(other.types.map { ObjectIdentifier($0) })
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(Set(entities.map(\.name)))
    }

    public var debugDescription: String {
        "Schema \(version): " + entities.map(\.name).sorted().joined(separator: ", ")
    }
}

extension Schema {
    /// The version of a schema: major, minor, patch.
    public struct Version: Codable, Comparable, Hashable, Sendable, CustomStringConvertible {
        /// Counts changes that break.
        public let major: Int
        /// Counts changes that add.
        public let minor: Int
        /// Counts corrections.
        public let patch: Int

        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            self.major = major
            self.minor = minor
            self.patch = patch
        }

        public static func < (one: Version, other: Version) -> Bool {
            (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
        }

        /// `1.0.0`.
        public var description: String { "\(major).\(minor).\(patch)" }
    }

    /// The declaration of one property, written by the macro `@Model`.
    public struct PropertyMetadata: @unchecked Sendable {
        // Safe because nothing changes a metadata, its key path or its default value.
        package let name: String
        package let keypath: AnyKeyPath
        package let defaultValue: Any?
        package let metadata: (any SchemaProperty)?

        /// - Parameters:
        ///   - keypath: the key path of the property, rooted in the class that declares it.
        ///   - defaultValue: the value of the initial value expression.
        ///   - metadata: the property's `@Attribute` or `@Relationship`, or an index or constraint.
        public init(
            name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil
        ) {
            self.name = name
            self.keypath = keypath
            self.defaultValue = defaultValue
            self.metadata = metadata
        }
    }
}
