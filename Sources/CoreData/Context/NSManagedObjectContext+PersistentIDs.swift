import Foundation

// Objects by their typed IDs.
extension NSManagedObjectContext {
    /// The object with that ID, as a fault where the context does not know it; reads nothing.
    ///
    ///     let item = try context.object(with: id)        // Item
    ///
    /// - Throws: 133000 where the context has no store of that ID, the objects of its entity are of another class, or the ID is
    ///   temporary and of an object that this context does not know.
    public final func object<Object: NSManagedObject>(with id: PersistentID<Object>) throws -> Object {
        let objectID = try id.objectID(in: self)
        if id.isTemporary, keptParent == nil, registeredObject(for: objectID) == nil {
            throw CoreDataErrors.unsavedElsewhere(objectID)
        }
        guard let object = object(with: objectID) as? Object else {
            throw CoreDataErrors.otherClass(objectID, than: Object.self)
        }
        return object
    }

    /// The object with that ID, with its values: read from the store where they are not in memory.
    ///
    ///     let item = try context.existingObject(with: id)        // SELECT … FROM ZITEM t0 WHERE t0.Z_PK = ?
    ///
    /// - Throws: as ``object(with:)-(PersistentID<Object>)``; 133000 too where the object is in the store no more.
    public final func existingObject<Object: NSManagedObject>(with id: PersistentID<Object>) throws -> Object {
        let fault = try object(with: id)
        guard let object = try existingObject(with: fault.objectID) as? Object else {
            throw CoreDataErrors.otherClass(fault.objectID, than: Object.self)
        }
        return object
    }

    /// The object with that ID if the context knows it.
    public final func registeredObject<Object: NSManagedObject>(for id: PersistentID<Object>) -> Object? {
        (try? id.objectID(in: self)).flatMap { registeredObject(for: $0) as? Object }
    }
}
