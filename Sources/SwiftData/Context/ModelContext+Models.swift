import CoreData
import Foundation

// One model object for each managed object.
extension ModelContext {
    /// Returns the model of the object; made if there is none.
    package func model(for object: NSManagedObject) -> any PersistentModel {
        let object = unsafeDowncast(object, to: ModelObject.self)
        return open(plan(of: object).type, object)
    }

    private func open<T: PersistentModel>(_ type: T.Type, _ object: ModelObject) -> any PersistentModel {
        if let known = object.model { return unsafeDowncast(known, to: T.self) }
        return make(type, object)
    }

    /// Returns the model of the object, if it is of that class.
    package func model<T: PersistentModel>(for object: NSManagedObject, as type: T.Type = T.self) -> T? {
        let object = unsafeDowncast(object, to: ModelObject.self)
        if let known = object.model {
            // The class itself, by far most often; a cast asks the runtime.
            return Swift.type(of: known) == T.self ? unsafeDowncast(known, to: T.self) : known as? T
        }
        if isOfLastClass(object, T.self) { return make(T.self, object) }
        let own = plan(of: object).type
        return own == T.self ? make(T.self, object) : open(own, object) as? T
    }

    private func make<T: PersistentModel>(_ type: T.Type, _ object: ModelObject) -> T {
        if object.mayHaveOtherModels, let other = object.takeOtherModel() as? T { return other }
        let model = ModelUnderConstruction.making(type) { T._make(object, self) }
        object.take(model)
        return model
    }

    // MARK: By identifier

    /// Returns the model with that identifier: the context's model, or a new one whose row is read with its first
    /// property.
    ///
    /// If there is no such row, properties read as nil, or as the values that replace missing ones.
    ///
    /// - Precondition: the container's schema has the class.
    public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
        takeSiblingChanges()
        if let id = objectID(for: persistentModelID) { return model(for: managedObjectContext.object(with: id)) }
        guard let type = modelType(named: persistentModelID.entityName) else {
            preconditionFailure("The container's schema has no class for \(persistentModelID).")
        }
        return missing(type)
    }

    private func missing<T: PersistentModel>(_ type: T.Type) -> any PersistentModel {
        MissingValue.model("", of: type) as T
    }

    /// The model with that identifier, if the context has it: reads nothing.
    public func registeredModel<T: PersistentModel>(for persistentModelID: PersistentIdentifier) -> T? {
        guard let id = objectID(for: persistentModelID), let object = managedObjectContext.registeredObject(for: id)
        else { return nil }
        return model(for: object, as: T.self)
    }

    /// The engine's identifier; `nil` for a model that no context has, and for another container's.
    package func objectID(for identifier: PersistentIdentifier) -> NSManagedObjectID? {
        guard let coordinator = managedObjectContext.persistentStoreCoordinator else { return nil }
        return identifier.objectID(in: coordinator)
    }
}
