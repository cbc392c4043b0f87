import Foundation

// Objects by their typed IDs.
extension NSManagedObjectContext {
    /// Returns the object with that ID, as a fault if the context does not know it. Reads nothing.
    ///
    ///     let item = try context.object(with: id)        // Item
    ///
    /// - Throws: 133000 if the context does not have the ID's store, if the entity's objects are of another class, or
    ///   if the ID is temporary and belongs to an object of another context.
    public final func object<Object: NSManagedObject>(with id: PersistentID<Object>) throws -> Object {
        let objectID = try id.objectID(in: self)
        if id.isTemporary, !parentLink.isChild, registeredObject(for: objectID) == nil {
            throw CoreDataErrors.unsavedElsewhere(objectID)
        }
        guard let object = object(with: objectID) as? Object else {
            throw CoreDataErrors.otherClass(objectID, than: Object.self)
        }
        return object
    }

    /// Returns the object with that ID and its values, which are read from the store if they are not in memory.
    ///
    ///     let item = try context.existingObject(with: id)        // SELECT … FROM ZITEM t0 WHERE t0.Z_PK = ?
    ///
    /// - Throws: the errors of ``object(with:)-(PersistentID<Object>)``; 133000 also if the row does not exist.
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
