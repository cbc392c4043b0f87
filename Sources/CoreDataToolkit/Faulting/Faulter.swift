import CoreData

/// Turns objects back into faults, in a context and all its parents, so that long lists and imports do not fill the
/// memory.
///
///     try await context.perform {
///         try Faulter.fault(items)        // saved if they changed; read again on the next access
///     }
public enum Faulter {
    /// Saves the objects' context if one of them changed, then turns them into faults there and in every parent
    /// context.
    ///
    /// Call it on the queue of the objects' context. The save reaches the parents, which save too if the objects
    /// changed there.
    ///
    /// - Parameter objects: objects of one context; its other objects are not affected.
    /// - Throws: the errors of saving; then no object becomes a fault, and no change is lost.
    public static func fault(_ objects: [NSManagedObject]) throws {
        var contexts: [(context: NSManagedObjectContext, objects: [NSManagedObject])] = []
        for object in objects {
            guard let context = object.managedObjectContext else { continue }
            if let index = contexts.firstIndex(where: { $0.context === context }) {
                contexts[index].objects.append(object)
            } else {
                contexts.append((context, [object]))
            }
        }
        for (context, objects) in contexts { try fault(objects, in: context) }
    }

    /// Turns one object into a fault; see ``fault(_:)-([NSManagedObject])``.
    public static func fault(_ object: NSManagedObject) throws { try fault([object]) }

    private static func fault(_ objects: [NSManagedObject], in context: NSManagedObjectContext) throws {
        let hasChanged = objects.contains { $0.hasChanges }
        if hasChanged { try context.save() }
        guard let parent = context.parent else {
            for object in objects where isStored(object) { context.refresh(object, mergeChanges: false) }
            return
        }
        // The parent must save before the child releases the values: a fault here is read from the parent.
        let ids = objects.map(\.objectID)
        try parent.performAndWait {
            let known = ids.compactMap { parent.registeredObject(for: $0) }
            if !known.isEmpty { try fault(known, in: parent) }
        }
        for object in objects where isStored(object) { context.refresh(object, mergeChanges: false) }
    }

    /// Returns whether the object can be read again.
    private static func isStored(_ object: NSManagedObject) -> Bool {
        !object.isInserted && !object.isDeleted && object.managedObjectContext != nil
    }
}
