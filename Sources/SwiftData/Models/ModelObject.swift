import CoreData

/// The managed object of a model: the row's values in a context.
///
/// The model retains it. It refers back to the model without keeping it alive, so that there is one model object for each row.
public final class ModelObject: NSManagedObject {
    @exclusivity(unchecked) private var reference = FadingReference()

    /// What follows the properties that somebody observes, by slot.
    @exclusivity(unchecked) private var followed: [Int: NSKeyValueObservation] = [:]

    /// Tells the model's observers of the property whatever changes it, from now on.
    func follow(_ property: EntityPlan.Property) {
        guard followed[property.slot] == nil else { return }
        let keyPath = property.declaration.keyPath
        followed[property.slot] = followProperty(property.slot) { [unowned self] in
            (model as? any PersistentModel)?._withMutation(of: keyPath) {}
        }
    }

    /// The model that stands for the object, if there is one.
    var model: AnyObject? {
        @inline(__always) get { reference.object }
    }

    /// Has the model stand for the object.
    func take(_ model: AnyObject) { reference.set(model) }

    /// The object's identifier, permanent where the store can reserve one.
    var permanentID: NSManagedObjectID {
        if let context = managedObjectContext, isInserted, objectID.isTemporaryID {
            try? context.obtainPermanentIDs(for: [self])
        }
        return objectID
    }
}

/// The context below a ``ModelContext``.
final class ModelObjectContext: NSManagedObjectContext, @unchecked Sendable {
    // Safe as its superclass is: the reference is set once, before anybody else has the context.
    weak var modelContext: ModelContext?
}
