import Foundation

/// The kind of result of an ``NSBatchInsertRequest``.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// A `Bool`: whether it was done.
    case statusOnly = 0
    /// `[NSManagedObjectID]`: the objects that were inserted, and those that got values because of a constraint.
    case objectIDs = 1
    /// An `Int`: how many those are.
    case count = 2
}

/// Inserts many objects directly into a store: makes no objects, validates nothing, and notifies no context.
///
///     let request = NSBatchInsertRequest(entityName: "Item", objects: [["name": "Milk"], ["name": "Bread", "quantity": 2]])
///     request.resultType = .count
///     let result = try context.execute(request) as? NSBatchInsertResult
///     // INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, …) VALUES (?, ?, ?, ?, …), (?, ?, ?, ?, …)
///     result?.result as? Int                                                          // 2
///
/// Properties that are not set get their default values. If a value that must be unique is taken, the context's merge
/// policy decides. With `mergeByPropertyObjectTrump` or `overwrite` the existing row gets the new values. With
/// `mergeByPropertyStoreTrump` or `rollback` it stays unchanged. Otherwise the request fails and inserts nothing.
///
/// A handler is called for one object after the other, until it returns `true`; values that it sets in that call are
/// not inserted. Memory does not grow with the number of objects.
///
/// Stores that are databases support it: SQLite in a file, `NSInMemoryStoreType`, which is SQLite too, and PostgreSQL.
/// XML and binary stores and stores of your own classes refuse it with 134091. Apple's framework refuses it for
/// `NSInMemoryStoreType`, too.
///
/// Differs from Apple: a to-one relationship accepts the `NSManagedObjectID` of an object in the same store, or, by a
/// key path, a unique value of it. A handler with an object can set it to a saved object of any context. Rows can be
/// typed, see ``init(_:_:_:entityName:rowHandler:)``.
///
///     ["name": "Milk", "unit": litre.objectID]        // or
///     ["name": "Milk", "unit.name": "Litre"]          // SELECT t0.Z_PK, t0.Z_ENT FROM ZUNIT t0 WHERE t0.ZNAME = ?, once for each name
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    /// The entity's name.
    public final let entityName: String
    /// The entity; `nil` if the request was made with a name.
    public final let entity: NSEntityDescription?
    /// Values by the names of properties; of other names nothing is taken.
    open var objectsToInsert: [[String: Any]]?
    /// Fills in the values of the next object; returns `true` when there is none.
    open var dictionaryHandler: ((_ dictionary: NSMutableDictionary) -> Bool)?
    /// Fills in the next object, which is the same again and again; returns `true` when there is none.
    open var managedObjectHandler: ((_ object: NSManagedObject) -> Bool)?
    /// The source of tuples, if the request was made with key paths.
    final var rowSource: BatchRowSource?
    /// The kind of result.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly
    /// Contexts into which the insertions are merged afterwards. Apple's framework has no such property.
    public final var mergesInto: [NSManagedObjectContext] = []

    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    /// Makes a request of no entity, which cannot be executed.
    public convenience override init() { self.init(entityName: "", objects: []) }

    /// Inserts an object for each dictionary, with its values by property names.
    public init(entityName: String, objects dictionaries: [[String: Any]]) {
        (self.entityName, entity, objectsToInsert) = (entityName, nil, dictionaries)
    }

    /// Inserts an object for each dictionary, with its values by property names.
    public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        (entityName, self.entity, objectsToInsert) = (entity.name ?? "", entity, dictionaries)
    }

    /// Inserts objects until the handler, which fills one dictionary after the other, returns `true`.
    public convenience init(
        entityName: String, dictionaryHandler handler: @escaping (_ dictionary: NSMutableDictionary) -> Bool
    ) {
        self.init(entityName: entityName, objects: [])
        (objectsToInsert, dictionaryHandler) = (nil, handler)
    }

    /// Inserts objects until the handler, which fills one dictionary after the other, returns `true`.
    public convenience init(
        entity: NSEntityDescription, dictionaryHandler handler: @escaping (_ dictionary: NSMutableDictionary) -> Bool
    ) {
        self.init(entity: entity, objects: [])
        (objectsToInsert, dictionaryHandler) = (nil, handler)
    }

    /// Inserts objects until the handler, which fills one object after the other, returns `true`.
    public convenience init(
        entityName: String, managedObjectHandler handler: @escaping (_ object: NSManagedObject) -> Bool
    ) {
        self.init(entityName: entityName, objects: [])
        (objectsToInsert, managedObjectHandler) = (nil, handler)
    }

    /// Inserts objects until the handler, which fills one object after the other, returns `true`.
    public convenience init(
        entity: NSEntityDescription, managedObjectHandler handler: @escaping (_ object: NSManagedObject) -> Bool
    ) {
        self.init(entity: entity, objects: [])
        (objectsToInsert, managedObjectHandler) = (nil, handler)
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy =
            entity.map { NSBatchInsertRequest(entity: $0, objects: []) }
            ?? NSBatchInsertRequest(entityName: entityName, objects: [])
        copy.objectsToInsert = objectsToInsert
        copy.dictionaryHandler = dictionaryHandler
        copy.managedObjectHandler = managedObjectHandler
        copy.rowSource = rowSource
        copy.resultType = resultType
        copy.mergesInto = mergesInto
        copy.affectedStores = affectedStores
        return copy
    }
}

/// The result of an ``NSBatchInsertRequest``.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// The result, of the type that ``NSBatchInsertRequestResultType`` says.
    public let result: Any?
    /// The requested kind of result.
    public let resultType: NSBatchInsertRequestResultType

    /// Creates a placeholder: an empty result.
    public convenience override init() { self.init(nil, .statusOnly) }

    init(_ result: Any?, _ resultType: NSBatchInsertRequestResultType) {
        (self.result, self.resultType) = (result, resultType)
    }
}
