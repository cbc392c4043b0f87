import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension NSManagedObject {
    /// Takes note of the class, unless its entity knows it.
    @inline(__always)
    final func learnClass() {
        let type = type(of: self)
        if !home.runtime.isKnownClass(type) { learn(type) }
    }

    @inline(never)
    private final func learn(_ type: NSManagedObject.Type) {
        if type != NSManagedObject.self { ManagedObjectClasses.shared.learn(type) }
        // From now on the entity knows its class.
        let own = home.runtime.objectClass
        if type == NSManagedObject.self, own != type { become(own) }
    }

    /// Makes `NSManagedObject(entity:insertInto:)` create an object of the entity's class, as on Apple's platforms: the
    /// object changes its class while it is created, before other code has it. Its memory is that of an
    /// `NSManagedObject`, so a class with stored properties has no room in it. See docs/decisions/classes-by-name.md.
    private final func become(_ type: NSManagedObject.Type) {
        precondition(
            ClassOverrides.hasLayoutOfManagedObject(type),
            """
            NSManagedObject(entity:insertInto:) cannot make an object of entity '\(runtime.name)', whose class \(type) has stored \
            properties: use \(type)(entity:insertInto:), \(type)(context:) or \
            NSEntityDescription.insertNewObject(forEntityName:into:).
            """)
        // The first word of an object is its class.
        Unmanaged.passUnretained(self).toOpaque().storeBytes(of: unsafeBitCast(type, to: UInt.self), as: UInt.self)
    }

    /// The entity that names this class.
    final class func claimedEntity() -> NSEntityDescription {
        ManagedObjectClasses.shared.learn(self)
        let claiming = ManagedObjectClasses.shared.entities(ofClass: self)
        if claiming.count == 1 { return claiming[0].entity }
        guard let first = claiming.min(by: { $0.name < $1.name }) else {
            CoreDataLog.general.error(
                """
                No NSEntityDescriptions in any model claim the NSManagedObject subclass '\(self)' so +entity is \
                confused. Have you loaded your NSManagedObjectModel yet? The answer is an entity without properties.
                """)
            return EntityRuntime.ofNoModel.entity
        }
        CoreDataLog.general.error(
            """
            Failed to find a unique match for an NSEntityDescription to the NSManagedObject subclass '\(self)': \
            \(claiming.map(\.name).sorted().joined(separator: ", ")). The answer is '\(first.name)'; use \
            init(entity:insertInto:), or name the entity in an override of entity().
            """)
        return first.entity
    }

    /// Returns a request for the objects of this class.
    ///
    /// A subclass's own `fetchRequest() -> NSFetchRequest<Item>` is preferred to this one.
    @_disfavoredOverload
    public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity()
        return request
    }

    /// A fetched property's objects, read once until the object becomes a fault.
    final func fetchedPropertyValue(_ info: EntityRuntime.Slot) -> Any? {
        let slot = info.property.slot
        if let known = fetchedObjects[slot] { return known }
        guard let description = runtime.entity.propertiesByName[info.name] as? NSFetchedPropertyDescription,
            let template = description.fetchRequest, let context = managedObjectContext
        else { return nil }
        let request = NSFetchRequest<NSManagedObject>(template)
        request.predicate = template.predicate?.withSubstitutionVariables([
            "FETCH_SOURCE": self, "FETCHED_PROPERTY": description,
        ])
        do {
            let objects = try context.fetch(request)
            fetchedObjects[slot] = objects
            return objects
        } catch {
            CoreDataLog.general.error(
                "Fetched property '\(info.name)' of \(objectID) could not be read: \(error.localizedDescription)")
            return []
        }
    }
}

extension NSEntityDescription {
    /// The entity of that name in the model of the context's coordinator.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    )
        -> NSEntityDescription?
    {
        context.coordinator?.runtime.entity(named: entityName)?.entity
    }

    /// Makes an object of the entity of that name and inserts it.
    ///
    ///     let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context) as! Item
    ///
    /// - Precondition: the context's model has the entity, and it is not abstract.
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    )
        -> NSManagedObject
    {
        guard let coordinator = context.coordinator else {
            preconditionFailure(
                "insertNewObject(forEntityName: \"\(entityName)\") needs a context with a persistentStoreCoordinator.")
        }
        guard let runtime = coordinator.runtime.entity(named: entityName) else {
            preconditionFailure(
                "The model has no entity '\(entityName)'; it has: "
                    + coordinator.runtime.entities.map(\.name).joined(separator: ", "))
        }
        return runtime.objectClass.init(entity: runtime.entity, insertInto: context)
    }
}
