import CoreData

/// The managed object of a model: the row's values in a context.
///
/// The model retains it. It refers back to the model without keeping it alive, so that there is one model object for
/// each row.
public final class ModelObject: NSManagedObject {
    @exclusivity(unchecked) private var reference = FadingReference()
    /// What few objects have.
    @exclusivity(unchecked) private var extras: Extras?

    private final class Extras {
        /// The followers of observed properties, by slot.
        var followed: [Int: NSKeyValueObservation] = [:]
        /// Models that stand for the object beside the one that contexts return: see ``ObjectMerges``.
        var otherModels: [FadingReference] = []
    }

    private func madeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        extras = made
        return made
    }

    /// Notifies the observers of the property in all models of the object whatever changes it, from now on.
    func follow(_ property: EntityPlan.Property) {
        let extras = madeExtras()
        guard extras.followed[property.slot] == nil else { return }
        let keyPath = property.declaration.keyPath
        extras.followed[property.slot] = followProperty(property.slot) { [unowned self] in
            for case let model as any PersistentModel in models { model._withMutation(of: keyPath) {} }
        }
    }

    /// The slots of the properties that ``follow(_:)`` follows.
    var followedSlots: [Int] { extras.map { Array($0.followed.keys) } ?? [] }

    /// The model that contexts return for the object, if there is one.
    var model: AnyObject? {
        @inline(__always) get { reference.object }
    }

    /// All models that stand for the object.
    var models: [AnyObject] {
        ([reference] + (extras?.otherModels ?? [])).compactMap(\.object)
    }

    /// Has the model stand for the object.
    func take(_ model: AnyObject) { reference.set(model) }

    /// Has one more model stand for the object: contexts return it once the first one is deallocated.
    func add(_ model: AnyObject) {
        guard reference.object != nil else { return take(model) }
        let extras = madeExtras()
        extras.otherModels.removeAll { $0.object == nil }
        var other = FadingReference()
        other.set(model)
        extras.otherModels.append(other)
    }

    /// Whether the object may have another model: few have.
    var mayHaveOtherModels: Bool {
        @inline(__always) get { extras != nil }
    }

    /// Another model of an object whose first model was deallocated; `nil` if there is none.
    func takeOtherModel() -> AnyObject? {
        guard let extras, let other = extras.otherModels.lazy.compactMap(\.object).first else { return nil }
        extras.otherModels.removeAll { $0.object == nil || $0.object === other }
        take(other)
        return other
    }

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
    // Safe like its superclass: the reference is set once, before other code has the context.
    private var owner: ContextReference<ModelContext>?

    /// The context above, while it exists.
    var modelContext: ModelContext? { owner?.context }

    /// Becomes the context below another one.
    func serve(_ context: ModelContext) { owner = ContextReference(context) }
}
