import CoreData
import Foundation

/// A snapshot with the values of all properties, in the form in which the model has them; relationships as identifiers.
///
///     let data = try JSONEncoder().encode(snapshot)
///     // {"days": 3, "name": "Oslo", "persistentIdentifier": {…}, "stops": [{…}, {…}]}
///
/// A property without a value has no key. A snapshot is decoded by the classes of the container whose store decodes it.
public struct DefaultSnapshot: DataStoreSnapshot {
    /// The value of a property.
    enum Content: @unchecked Sendable {
        // Safe because values are copied, and objects that transformers make are not changed.
        case attribute(Any)
        case toOne(PersistentIdentifier)
        case toMany([PersistentIdentifier])
    }

    public let persistentIdentifier: PersistentIdentifier
    /// By the names of the properties; none for nil.
    let contents: [String: Content]

    init(_ identifier: PersistentIdentifier, _ contents: [String: Content]) {
        persistentIdentifier = identifier
        self.contents = contents
    }

    /// Takes the values of a model.
    public init(
        from backingData: any BackingData,
        relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
    ) {
        self = SnapshotReading.snapshot(of: backingData)
    }

    /// The same values with another identifier, and with other identifiers of related models.
    public func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = [:]
    ) -> DefaultSnapshot {
        guard let remappedIdentifiers, !remappedIdentifiers.isEmpty else {
            return DefaultSnapshot(persistentIdentifier, contents)
        }
        func now(_ identifier: PersistentIdentifier) -> PersistentIdentifier {
            remappedIdentifiers[identifier] ?? identifier
        }
        return DefaultSnapshot(
            persistentIdentifier,
            contents.mapValues { content in
                switch content {
                case .attribute: content
                case .toOne(let identifier): .toOne(now(identifier))
                case .toMany(let identifiers): .toMany(identifiers.map(now))
                }
            })
    }

    // MARK: Coding

    /// Reads a snapshot that was encoded.
    ///
    /// - Throws: `DecodingError` where no container has a class for the entity, or a value is none of its property.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        let identifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
        guard let type = SnapshotTypes.type(named: identifier.entityName) else {
            throw DecodingError.dataCorruptedError(
                forKey: .persistentIdentifier, in: container,
                debugDescription: "No container's schema has a class for entity '\(identifier.entityName)'.")
        }
        var contents: [String: Content] = [:]
        for property in ModelLayout.of(type).allProperties {
            let key = DataStoreSnapshotCodingKey.modeledProperty(property.name)
            guard container.contains(key), try !container.decodeNil(forKey: key) else { continue }
            switch property.form {
            case .attribute:
                guard let type = property.valueType as? any Decodable.Type else {
                    throw DecodingError.dataCorruptedError(
                        forKey: key, in: container,
                        debugDescription: "'\(property.name)' is a \(property.valueType), which cannot be decoded.")
                }
                contents[property.name] = .attribute(try container.decode(type, forKey: key))
            case .toOne: contents[property.name] = .toOne(try container.decode(PersistentIdentifier.self, forKey: key))
            case .toMany:
                contents[property.name] = .toMany(try container.decode([PersistentIdentifier].self, forKey: key))
            }
        }
        self.init(identifier, contents)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
        for (name, content) in contents {
            let key = DataStoreSnapshotCodingKey.modeledProperty(name)
            switch content {
            case .toOne(let identifier): try container.encode(identifier, forKey: key)
            case .toMany(let identifiers): try container.encode(identifiers, forKey: key)
            case .attribute(let value):
                guard let value = value as? any Encodable else {
                    throw EncodingError.invalidValue(
                        value,
                        .init(
                            codingPath: container.codingPath + [key],
                            debugDescription:
                                "'\(name)' of '\(persistentIdentifier.entityName)' is a \(Swift.type(of: value)), which "
                                + "cannot be encoded. Make the type Codable."))
                }
                try container.encode(value, forKey: key)
            }
        }
    }
}
