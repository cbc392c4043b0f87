import Foundation

public final class ModelContainer: @unchecked Sendable {
    public init(for types: any PersistentModel.Type...) throws {}
    @MainActor public private(set) lazy var mainContext = ModelContext(main: self)
}

public protocol SchemaProperty {}

public final class Schema: Sendable {
    public init() {}
    public var encodingVersion: String { "" }
    public struct PropertyMetadata {
        package let name: String
        package let keypath: AnyKeyPath
        package let defaultValue: Any?
        package let metadata: (any SchemaProperty)?
        public init(name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil)
        {
            self.name = name
            self.keypath = keypath
            self.defaultValue = defaultValue
            self.metadata = metadata
        }
    }
    public struct Version: Sendable {
        public init(_ major: Int, _ minor: Int, _ patch: Int) {}
    }
    public class Attribute: SchemaProperty {
        public struct Option: Equatable, Sendable {
            let text: String
            public static let unique = Option(text: "unique")
            public static let externalStorage = Option(text: "externalStorage")
            public static let ephemeral = Option(text: "ephemeral")
            public static let preserveValueOnDeletion = Option(text: "preserveValueOnDeletion")
            public static let spotlight = Option(text: "spotlight")
            public static func transformable(by name: String) -> Option { Option(text: "transformable") }
        }
        package let isUnique: Bool
        public let options: [Option]
        public let originalName: String
        public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
            self.options = options
            self.originalName = originalName ?? ""
            isUnique = options.contains(.unique)
        }
    }
    public final class Relationship: SchemaProperty {
        public struct Option: Sendable {
            public static let unique = Option()
        }
        public enum DeleteRule: String, Sendable { case noAction, nullify, cascade, deny }
        public let deleteRule: DeleteRule
        public let inverseKeyPath: AnyKeyPath?
        public init(
            _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
            maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
            hashModifier: String? = nil
        ) {
            self.deleteRule = deleteRule
            inverseKeyPath = inverse
        }
    }
    public final class Index<T: PersistentModel>: SchemaProperty {
        public enum Types<P: PersistentModel> {
            case binary([PartialKeyPath<P>])
            case rtree([PartialKeyPath<P>])
        }
        public let indices: [Types<T>]
        public init(_ indices: [PartialKeyPath<T>]...) { self.indices = indices.map { .binary($0) } }
        public init(_ indices: Types<T>...) { self.indices = indices }
    }
    public final class Unique<T: PersistentModel>: SchemaProperty {
        public let constraints: [[PartialKeyPath<T>]]
        public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }
    }
}

public protocol VersionedSchema: SendableMetatype {
    static var models: [any PersistentModel.Type] { get }
    static var versionIdentifier: Schema.Version { get }
}
