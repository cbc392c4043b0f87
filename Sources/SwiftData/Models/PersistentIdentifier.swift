import CoreData
import Foundation

/// Names a model's row, in every context and across launches.
///
///     let id = trip.persistentModelID
///     let same = otherContext.model(for: id)
///
/// Its JSON is Apple's. Differs from Apple: a decoded identifier is equal to the one that was encoded.
public struct PersistentIdentifier: Hashable, Identifiable, Comparable, Codable, Sendable {
    private enum Reference: Sendable {
        /// Of a row, or of a model that was inserted.
        case object(NSManagedObjectID)
        /// Of a model that no context has had.
        case pending(PendingToken, entityName: String)
        /// The name of a row, until a context looks it up.
        case key(store: String?, entityName: String, key: String)
    }

    private let reference: Reference

    package init(_ id: NSManagedObjectID) { reference = .object(id) }

    init(pending token: PendingToken, entityName: String) { reference = .pending(token, entityName: entityName) }

    private init(_ reference: Reference) { self.reference = reference }

    /// An identifier that a store gives a row of its own.
    public static func identifier(
        for storeIdentifier: String, entityName: String,
        primaryKey: some Comparable & CustomStringConvertible & Codable & Hashable
    ) throws -> PersistentIdentifier {
        let text = "\(primaryKey)"
        // In the form of an object's URI of the store, so that both are equal. `p12` is the name of a row already.
        let key = number(text) == nil ? "p" + NSIncrementalStore.referenceText(of: primaryKey) : text
        return PersistentIdentifier(.key(store: storeIdentifier, entityName: entityName, key: key))
    }

    /// The identity of the row.
    public struct ID: Hashable, Sendable {
        fileprivate let identifier: PersistentIdentifier
    }

    public var id: ID { ID(identifier: self) }

    /// The name of the model's entity.
    public var entityName: String {
        switch reference {
        case .object(let id): id.entity.name ?? ""
        case .pending(_, let entityName): entityName
        case .key(_, let entityName, _): entityName
        }
    }

    /// The identifier of the store that has the row; `nil` before there is one.
    public var storeIdentifier: String? {
        switch reference {
        case .object(let id): id.isTemporaryID ? nil : id.rowStoreIdentifier
        case .pending: nil
        case .key(let store, _, _): store
        }
    }

    /// The store's name of the row: `p12`, or `t` and a text for a temporary one.
    var primaryKey: String {
        switch reference {
        case .object(let id): id.rowReference
        case .pending(let token, _): "t\(UInt(bitPattern: ObjectIdentifier(token).hashValue))"
        case .key(_, _, let key): key
        }
    }

    /// Whether the model has no row yet.
    var isTemporary: Bool {
        switch reference {
        case .object(let id): id.isTemporaryID
        case .pending: true
        case .key(let store, _, _): store == nil
        }
    }

    // MARK: Comparing

    public static func == (one: PersistentIdentifier, other: PersistentIdentifier) -> Bool {
        switch (one.reference, other.reference) {
        case (.object(let one), .object(let other)): one == other
        case (.pending(let one, _), .pending(let other, _)): one === other
        case (.pending, _), (_, .pending): false
        default:
            one.primaryKey == other.primaryKey && one.storeIdentifier == other.storeIdentifier
                && one.entityName == other.entityName
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch reference {
        case .object(let id):
            if let number = id.rowNumber { hasher.combine(number) } else { hasher.combine(id.rowReference) }
        case .pending(let token, _): hasher.combine(ObjectIdentifier(token))
        case .key(_, _, let key):
            if let number = Self.number(key) { hasher.combine(number) } else { hasher.combine(key) }
        }
    }

    /// The number in `p12`.
    private static func number(_ key: String) -> Int64? {
        guard key.first == "p", let number = Int64(key.dropFirst()), "p\(number)" == key else { return nil }
        return number
    }

    /// By entity, store and key.
    public static func < (one: PersistentIdentifier, other: PersistentIdentifier) -> Bool {
        if one.entityName != other.entityName { return one.entityName < other.entityName }
        let (store, otherStore) = (one.storeIdentifier ?? "", other.storeIdentifier ?? "")
        if store != otherStore { return store < otherStore }
        let (key, otherKey) = (one.primaryKey, other.primaryKey)
        if let one = number(key), let other = number(otherKey) { return one < other }
        return key < otherKey
    }

    // MARK: The engine's

    /// Returns the engine's identifier in a container's stores; `nil` if they cannot have the row.
    package func objectID(in coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectID? {
        switch reference {
        case .pending: nil
        case .object(let id):
            id.isTemporaryID || id.persistentStore?.persistentStoreCoordinator === coordinator
                ? id : coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation())
        case .key: uri.flatMap { coordinator.managedObjectID(forURIRepresentation: $0) }
        }
    }

    private var uri: URL? {
        if case .object(let id) = reference { return id.uriRepresentation() }
        let entity = entityName.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? entityName
        // The key is as URIs have it, with its escapes.
        let allowed = CharacterSet.urlPathAllowed.union(CharacterSet(charactersIn: "%"))
        let key = primaryKey.addingPercentEncoding(withAllowedCharacters: allowed) ?? primaryKey
        return URL(string: "x-coredata://\(storeIdentifier ?? "")/\(entity)/\(key)")
    }

    // MARK: Coding

    private enum CodingKeys: String, CodingKey {
        case implementation
    }

    private enum ImplementationKeys: String, CodingKey {
        case primaryKey, uriRepresentation, isTemporary, storeIdentifier, entityName
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self).nestedContainer(
            keyedBy: ImplementationKeys.self, forKey: .implementation)
        reference = .key(
            store: try container.decodeIfPresent(String.self, forKey: .storeIdentifier),
            entityName: try container.decode(String.self, forKey: .entityName),
            key: try container.decode(String.self, forKey: .primaryKey))
    }

    public func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: CodingKeys.self)
        var container = outer.nestedContainer(keyedBy: ImplementationKeys.self, forKey: .implementation)
        try container.encode(primaryKey, forKey: .primaryKey)
        try container.encodeIfPresent(uri, forKey: .uriRepresentation)
        try container.encode(isTemporary, forKey: .isTemporary)
        try container.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
        try container.encode(entityName, forKey: .entityName)
    }
}

extension PersistentIdentifier: CustomStringConvertible {
    public var description: String {
        "PersistentIdentifier(\(uri?.absoluteString ?? "\(entityName)/\(primaryKey)"))"
    }
}
