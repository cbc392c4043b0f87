import CoreData
import CoreDataToolkit
import Foundation

extension ObjectReference {
    /// Returns the object ID in the open store.
    ///
    /// - Throws: ``ToolkitError`` for an object of another store, or of an entity that the model lacks.
    package func objectID(in opened: OpenStore) throws -> NSManagedObjectID {
        let own = opened.coordinator.persistentStores.first?.identifier ?? ""
        if let store, store != own.uppercased() {
            throw ToolkitError(
                "\(text) is an object of another store; the UUID of this one is \(own)."
            )
        }
        let name = try opened.entity(named: entity).name ?? ""
        let uri = ObjectURI(store: own, entity: name, reference: "p\(key)").url
        guard let id = opened.coordinator.managedObjectID(forURIRepresentation: uri) else {
            throw ToolkitError("There can be no \(entity)/p\(key) in this store.")
        }
        return id
    }
}
