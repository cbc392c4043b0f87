import Foundation

extension Schema {
    /// Indexes of a model class: what `#Index` says.
    public final class Index<T: PersistentModel>: SchemaProperty, @unchecked Sendable {
        // Safe because a schema is changed before it is given to a container, if at all.

        /// An index over properties.
        public enum Types<P: PersistentModel> {
            /// Sorted by the properties, in that order.
            case binary([PartialKeyPath<P>])
            /// By intervals, for ranges of numbers in several dimensions.
            case rtree([PartialKeyPath<P>])
        }

        public var name = "SwiftData.Schema.Index"
        public var originalName = "SwiftData.Schema.Index"
        public var valueType: any Any.Type = Any.self
        /// The indexes.
        public let indices: [Types<T>]

        public var isUnique: Bool { false }
        public var isOptional: Bool { false }

        /// Binary indexes over these properties.
        public init(_ indices: [PartialKeyPath<T>]...) { self.indices = indices.map { .binary($0) } }

        /// Indexes over these properties.
        public init(_ indices: Types<T>...) { self.indices = indices }

        /// The coded form: names of properties.
        public enum CodingKeys: CodingKey { case indices }

        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            indices = try container.decode([ModelIndexDeclaration].self, forKey: .indices).map { index in
                let paths = try KeyPathNames.keyPaths(named: index.properties, of: T.self, decoder)
                return index.isRTree ? .rtree(paths) : .binary(paths)
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(indexDeclarations(), forKey: .indices)
        }

        public static func == (one: Index, other: Index) -> Bool { one === other || one.paths == other.paths }

        public func hash(into hasher: inout Hasher) { hasher.combine(paths) }

        private var paths: [[AnyKeyPath]] { indices.map(\.keyPaths) }
    }

    /// Uniqueness constraints of a model class: what `#Unique` says.
    public final class Unique<T: PersistentModel>: SchemaProperty, @unchecked Sendable {
        // Safe because a schema is changed before it is given to a container, if at all.
        public var name = "SwiftData.Schema.Unique"
        public var originalName = "SwiftData.Schema.Unique"
        public var valueType: any Any.Type = Any.self
        /// The properties whose values together are unique, for each constraint.
        public let constraints: [[PartialKeyPath<T>]]

        public var isUnique: Bool { true }
        public var isOptional: Bool { false }

        /// Constraints over these properties.
        public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }

        /// The coded form: names of properties.
        public enum CodingKeys: CodingKey { case constraints }

        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            constraints = try container.decode([[String]].self, forKey: .constraints).map {
                try KeyPathNames.keyPaths(named: $0, of: T.self, decoder)
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(uniquePropertyNames(), forKey: .constraints)
        }

        public static func == (one: Unique, other: Unique) -> Bool {
            one === other || one.constraints == other.constraints
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(constraints) }
    }
}

extension Schema.Index.Types {
    /// The properties.
    var keyPaths: [PartialKeyPath<P>] {
        switch self {
        case .binary(let paths), .rtree(let paths): paths
        }
    }

    var isRTree: Bool { if case .rtree = self { true } else { false } }
}
