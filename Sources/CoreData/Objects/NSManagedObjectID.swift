import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import Synchronization

/// Names one object, in every context and across launches once it is permanent.
///
/// IDs are equal when they name the same row of the same store, whatever context or coordinator made them. Pass
/// IDs, not objects, from one context to another.
///
///     let id = item.objectID
///     background.perform { let item = background.object(with: id) as! Item }
open class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {
    // Safe because all variables are set once; the reference to the store is weak, and Swift loads it atomically.
    // `replaced` is set before other code has the ID, and only keeps another ID alive.

    let runtime: EntityRuntime
    /// Positive for a row; negative and unique in the process for an object that was never saved.
    let primaryKey: Int64
    /// `nil` for a temporary ID.
    let storeReference: StoreReference?
    /// The ID that the object had before this one.
    var replaced: NSManagedObjectID?
    var storeIdentifier: String { storeReference?.identifier ?? "" }
    /// The store that holds the object; `nil` for a temporary ID and after the store was removed.
    public var persistentStore: NSPersistentStore? { storeReference?.store?.store }

    init(runtime: EntityRuntime, primaryKey: Int64, store: AttachedStore?) {
        self.runtime = runtime
        self.primaryKey = primaryKey
        storeReference = primaryKey < 0 ? nil : store?.reference
        super.init()
    }

    /// Creates a placeholder ID that names no object and equals only itself.
    ///
    /// - Precondition: its entity is never read.
    public override init() {
        runtime = .ofNoModel
        primaryKey = Self.newTemporaryKey()
        storeReference = nil
        super.init()
    }

    /// The entity of the object itself, not an ancestor.
    public var entity: NSEntityDescription {
        precondition(
            runtime !== EntityRuntime.ofNoModel, "An ID made by NSManagedObjectID() names no object and no entity.")
        return runtime.entity
    }

    /// Whether the object has not been saved yet; saving replaces the ID.
    public var isTemporaryID: Bool { primaryKey < 0 }

    /// The ID as text that outlives the process, once it is permanent.
    ///
    ///     x-coredata://6F997B6B-…/Item/p12           // permanent
    ///     x-coredata:///Item/t2B4C9A50-…2            // temporary: only this process understands it
    public func uriRepresentation() -> URL { objectURI.url }

    final var objectURI: ObjectURI {
        let reference = isTemporaryID ? "t\(Self.process)\(-primaryKey)" : "p\(permanentReference)"
        return ObjectURI(store: storeIdentifier, entity: runtime.name, reference: reference)
    }

    /// The primary key, or the reference that a store of the program's own class uses for the object.
    private var permanentReference: String {
        storeReference?.references?.text(ofKey: primaryKey, rootName: runtime.rootName) ?? "\(primaryKey)"
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        return isSame(as: other)
    }

    func isSame(as other: NSManagedObjectID) -> Bool {
        if self === other { return true }
        guard primaryKey == other.primaryKey else { return false }
        if primaryKey < 0 { return true }
        return storeIdentifier == other.storeIdentifier
            && (runtime === other.runtime
                || runtime.rootName == other.runtime.rootName)
    }

    open override var hash: Int { Int(truncatingIfNeeded: UInt64(bitPattern: primaryKey) &* 0x9E37_79B9_7F4A_7C15) }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override var description: String { uriRepresentation().absoluteString }

    /// Distinguishes temporary IDs of this process from those of another process.
    private static let process = UUID().uuidString
    private static let nextTemporary = Atomic<Int64>(-1)

    static func newTemporaryKey() -> Int64 {
        nextTemporary.wrappingSubtract(1, ordering: .relaxed).oldValue
    }

    /// The key in a temporary URI of this process.
    static func temporaryKey(ofReference reference: String) -> Int64? {
        guard reference.hasPrefix("t" + process) else { return nil }
        return Int64(reference.dropFirst(1 + process.count)).map { -$0 }
    }
}

/// The state shared by the IDs of a store's objects: the store's identifier, and the store as long as it lives.
///
/// One weak reference for all of them: making one costs more than making the ID.
final class StoreReference: @unchecked Sendable {
    // Safe because `store` is written once, by the store's initialiser.
    let identifier: String
    /// The reference objects that a store of the program's own class uses for its objects.
    let references: ReferenceTable?
    private(set) weak var store: AttachedStore?

    init(_ identifier: String, _ references: ReferenceTable? = nil) {
        self.identifier = identifier
        self.references = references
    }

    func take(_ store: AttachedStore) { self.store = store }
}

extension NSManagedObjectID: NSFetchRequestResult {}

extension NSManagedObjectID: PredicateObject {
    package func predicateOperand(forKey key: String) throws -> Operand {
        switch key {
        case "self", "objectID": .object(self)
        case "entity": .object(entity)
        case "isTemporaryID", "temporaryID": .value(.integer(isTemporaryID ? 1 : 0))
        case "uriRepresentation", "URIRepresentation": .value(.uri(uriRepresentation().absoluteString))
        case "description": .value(.string(description))
        default:
            throw PredicateFailure(
                .evaluation,
                Diagnostic(
                    .error,
                    "an object ID (here of entity '\(runtime.name)') has no value for key '\(key)'; it has: entity, "
                        + "isTemporaryID, persistentStore, uriRepresentation",
                    hint: runtime.slot(forKey: key) == nil
                        ? nil : "'\(key)' is a property of the object: ask the object, not its ID"))
        }
    }

    package func isSamePredicateObject(as other: any PredicateObject) -> Bool {
        switch other {
        case let id as NSManagedObjectID: isSame(as: id)
        case let object as NSManagedObject: isSame(as: object.objectID)
        default: false
        }
    }

    package var predicateHash: Int { hash }

    /// Orders by primary key within an entity's hierarchy, as stores sort. Unsaved objects come last, the newest at the
    /// end.
    package func predicateOrder(relativeTo other: any PredicateObject) -> Int {
        guard let other = other as? NSManagedObjectID ?? (other as? NSManagedObject)?.objectID else { return 0 }
        if isTemporaryID != other.isTemporaryID { return isTemporaryID ? 1 : -1 }
        if runtime.root != other.runtime.root { return runtime.root < other.runtime.root ? -1 : 1 }
        if primaryKey == other.primaryKey { return 0 }
        // Temporary keys count down.
        return (primaryKey < other.primaryKey) != isTemporaryID ? -1 : 1
    }

    package var predicateDescription: String { description }

    package func predicateRowKey(inStore identifier: String) -> RowKey? {
        guard !isTemporaryID, storeIdentifier == identifier else { return nil }
        return RowKey(entity: runtime.ordinal, primaryKey: primaryKey)
    }
}
