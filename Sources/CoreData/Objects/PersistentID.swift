import CoreDataPrimitives
import Foundation

/// Names one object and says of which class it is: an object ID to hand to other queues, to keep in values and to write
/// down.
///
///     let id = item.persistentID                         // PersistentID<Item>
///     let name = try await background.perform { try background.existingObject(with: id).name }
///
///     struct Bookmark: Codable { var item: PersistentID<Item> }      // {"item":"x-coredata://6F997B6B-…/Item/p12"}
///
/// IDs are equal when they name the same row of the same store, in whatever process they were made. The ID of an object
/// that was never saved is temporary: it holds in this process, in contexts that know the object, and it cannot be
/// encoded. Save first, or call `obtainPermanentIDs(for:)`.
///
/// Apple has none for Core Data; it is what `PersistentIdentifier` is for SwiftData, with a type.
public struct PersistentID<Object: NSManagedObject>: Hashable, Sendable {
    private let uri: ObjectURI
    /// The ID from which it was created; a decoded ID is looked up when it is used.
    private let known: NSManagedObjectID?

    /// Creates the object's current ID.
    public init(_ object: Object) { self.init(unchecked: object.objectID) }

    /// Creates the ID with its type; `nil` if the entity's objects are of another class.
    public init?(_ id: NSManagedObjectID) {
        guard id.runtime.objectClass is Object.Type else { return nil }
        self.init(unchecked: id)
    }

    /// Creates the ID that a URI represents, of any store; `nil` if the URI is not an object's.
    public init?(uri: URL) {
        guard let uri = ObjectURI(uri.absoluteString) else { return nil }
        self.uri = uri
        known = nil
    }

    init(unchecked id: NSManagedObjectID) {
        uri = id.objectURI
        known = id
    }

    /// The ID as a URI, equal to `uriRepresentation()` of the object ID.
    public var uriRepresentation: URL { uri.url }

    /// The name of the object's entity.
    public var entityName: String { uri.entity }

    /// Whether the object had not been saved when the ID was made.
    public var isTemporary: Bool { uri.store.isEmpty }

    public static func == (a: Self, b: Self) -> Bool { a.uri == b.uri }

    public func hash(into hasher: inout Hasher) { hasher.combine(uri) }

    /// Returns the object ID in the stores of the context, for example for a predicate.
    ///
    ///     request.predicate = NSPredicate(format: "unit == %@", try unit.objectID(in: context))
    ///
    /// - Throws: 133000 if the context's coordinator does not have the ID's store, or if the entity's objects are of
    ///   another class.
    public func objectID(in context: NSManagedObjectContext) throws -> NSManagedObjectID {
        if let known, isTemporary { return known }
        guard let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri.url) else {
            throw CoreDataErrors.noStore(of: uri.url)
        }
        guard id.runtime.objectClass is Object.Type else {
            throw CoreDataErrors.otherClass(id, than: Object.self)
        }
        return id
    }
}

/// An object's ID, whatever its class.
protocol TypedObjectID {
    /// The ID that it was made of; `nil` for one that was decoded or made of a URI.
    var knownID: NSManagedObjectID? { get }
}

extension PersistentID: TypedObjectID {
    var knownID: NSManagedObjectID? { known }
}

extension PersistentID: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let uri = ObjectURI(text), !uri.store.isEmpty else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "'\(text)' is not the URI of an object (x-coredata://store/entity/p1)."
            )
        }
        self.uri = uri
        known = nil
    }

    /// - Throws: an error for a temporary ID, which means nothing elsewhere.
    public func encode(to encoder: any Encoder) throws {
        guard !isTemporary else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: """
                        \(self) is temporary and means nothing in another process. Save the object before you take its ID, or call \
                        obtainPermanentIDs(for:).
                        """))
        }
        var container = encoder.singleValueContainer()
        try container.encode(uri.url.absoluteString)
    }
}

extension PersistentID: CustomStringConvertible {
    public var description: String { uri.url.absoluteString }
}

extension NSFetchRequestResult where Self: NSManagedObject {
    /// The object's ID with its class, for other queues and for keeping.
    public var persistentID: PersistentID<Self> { PersistentID(self) }
}
