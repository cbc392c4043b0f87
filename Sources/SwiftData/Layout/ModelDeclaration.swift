import CoreData
import Foundation
import Synchronization

/// The macro's record of a class, read once: the first step of a ``ModelLayout``, before inverses are known.
final class ModelDeclaration: @unchecked Sendable {
    // Safe because nothing is changed after initialisation.
    struct Property {
        let name: String
        let keyPath: AnyKeyPath
        let valueType: Any.Type
        let defaultValue: Any?
        let metadata: (any SchemaProperty)?
        let form: ModelProperty.Form

        /// The inverse, if this side names it.
        var inverseKeyPath: AnyKeyPath? { (metadata as? Schema.Relationship)?.inverseKeyPath }
    }

    let type: any PersistentModel.Type
    let entityName: String
    let superclass: ModelDeclaration?
    let properties: [Property]
    /// What `#Index` and `#Unique` say.
    let constraints: [any ModelConstraint]
    let problem: String?

    private static let declarations = Mutex<[ObjectIdentifier: ModelDeclaration]>([:])

    static func of(_ type: any PersistentModel.Type) -> ModelDeclaration {
        if let known = declarations.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        // Outside of the lock: default values are evaluated by code of the program. The first one made is everybody's,
        // so that a default such as a new UUID is one value.
        let made = ModelDeclaration(type)
        return declarations.withLock { declarations in
            if let known = declarations[ObjectIdentifier(type)] { return known }
            declarations[ObjectIdentifier(type)] = made
            return made
        }
    }

    private init(_ type: any PersistentModel.Type) {
        self.type = type
        entityName = "\(type)"
        superclass = (_getSuperclass(type) as? any PersistentModel.Type).map { ModelDeclaration.of($0) }
        var properties: [Property] = []
        var constraints: [any ModelConstraint] = []
        var problem: String?
        for metadata in type.schemaMetadata {
            if let constraint = metadata.metadata as? any ModelConstraint {
                constraints.append(constraint)
                continue
            }
            // A subclass without own properties may return those of its superclass.
            if superclass?.property(named: metadata.name) != nil { continue }
            do {
                properties.append(try Self.property(metadata))
            } catch {
                let name = "\(entityName).\(metadata.name)"
                problem =
                    problem ?? (error as? UnsupportedType)?.message(of: name)
                    ?? "\(name) cannot be stored: \(error)"
                properties.append(Self.property(metadata, form: .attribute(Self.unsupported(metadata))))
            }
        }
        self.properties = properties
        self.constraints = constraints
        self.problem = problem
    }

    private static func property(_ metadata: Schema.PropertyMetadata) throws -> Property {
        let type = Swift.type(of: metadata.keypath).valueType
        let attribute = metadata.metadata as? Schema.Attribute
        if attribute?.isTransformable != true, attribute?.isCodable != true, let relationship = RelationshipType(type) {
            let form: ModelProperty.Form =
                relationship.isToMany
                ? .toMany(relationship.destination, isOptional: relationship.isOptional)
                : .toOne(relationship.destination, isOptional: relationship.isOptional)
            return property(metadata, form: form)
        }
        let form = try AttributeForm(
            of: type,
            at: AttributeForm.Place(name: metadata.name, defaultValue: value(metadata.defaultValue)),
            options: attribute)
        return property(metadata, form: .attribute(form))
    }

    private static func property(_ metadata: Schema.PropertyMetadata, form: ModelProperty.Form) -> Property {
        Property(
            name: metadata.name, keyPath: metadata.keypath, valueType: Swift.type(of: metadata.keypath).valueType,
            defaultValue: value(metadata.defaultValue), metadata: metadata.metadata, form: form)
    }

    /// The value, without optionality; `nil` for nil.
    private static func value(_ defaultValue: Any?) -> Any? {
        guard let defaultValue else { return nil }
        guard let optional = defaultValue as? any OptionalType else { return defaultValue }
        return optional.wrapped
    }

    /// Stands for the form of a property that cannot be stored. No container has such a class.
    private static func unsupported(_ metadata: Schema.PropertyMetadata) -> AttributeForm {
        let type = Swift.type(of: metadata.keypath).valueType
        let mismatch = ValueMismatch("'\(metadata.name)' of type \(type) cannot be stored.")
        return AttributeForm(
            kind: .json, isOptional: false, valueType: type, enumeration: nil, encode: { _ in throw mismatch },
            decode: { _ in throw mismatch }, samples: [])
    }

    /// Returns the property of that name, including inherited ones.
    func property(named name: String) -> Property? {
        properties.first { $0.name == name } ?? superclass?.property(named: name)
    }

    /// All properties, inherited ones first.
    var allProperties: [Property] { (superclass?.allProperties ?? []) + properties }
}

/// What `#Index` and `#Unique` leave in a class's metadata.
protocol ModelConstraint {
    /// The indexes, with names of properties.
    ///
    /// - Throws: ``SwiftDataError`` for a key path that is no stored property.
    func indexDeclarations() throws -> [ModelIndexDeclaration]
    /// The names of properties of each constraint.
    func uniquePropertyNames() throws -> [[String]]
}

/// An index that `#Index` asks for.
package struct ModelIndexDeclaration: Codable, Hashable, Sendable {
    /// Whether the index is by intervals, and not sorted.
    package let isRTree: Bool
    /// The names of properties, or paths to members of composites.
    package let properties: [String]
}

/// Names of the key paths that indexes and constraints have.
enum KeyPathNames {
    static func names<T: PersistentModel>(of keyPaths: [PartialKeyPath<T>]) throws -> [String] {
        try keyPaths.map { keyPath in
            guard let name = ModelLayout.of(T.self).name(of: keyPath) else {
                throw SwiftDataError(
                    .unsupportedKeyPath,
                    "An index or constraint of \(T.self) has a key path that is no stored property: \(keyPath).")
            }
            return name
        }
    }

    static func keyPaths<T: PersistentModel>(
        named names: [String], of type: T.Type, _ decoder: any Decoder
    ) throws -> [PartialKeyPath<T>] {
        try names.map { name in
            guard let keyPath = ModelLayout.of(type).property(named: name)?.keyPath as? PartialKeyPath<T> else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(
                        codingPath: decoder.codingPath, debugDescription: "\(type) has no property '\(name)'."))
            }
            return keyPath
        }
    }
}

extension Schema.Index: ModelConstraint {
    func indexDeclarations() throws -> [ModelIndexDeclaration] {
        try indices.map {
            ModelIndexDeclaration(isRTree: $0.isRTree, properties: try KeyPathNames.names(of: $0.keyPaths))
        }
    }

    func uniquePropertyNames() -> [[String]] { [] }
}

extension Schema.Unique: ModelConstraint {
    func indexDeclarations() -> [ModelIndexDeclaration] { [] }

    func uniquePropertyNames() throws -> [[String]] { try constraints.map { try KeyPathNames.names(of: $0) } }
}
