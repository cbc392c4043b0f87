import CoreData

/// Turns objects back into faults, up the chain of contexts, so that long lists and imports do not fill the memory.
///
///     try await context.perform {
///         try Faulter.fault(items)        // saved if they changed, then read again when somebody asks
///     }
public enum Faulter {
    /// Saves the objects' context if one of them changed, makes them faults there and in every context above.
    ///
    /// On the queue of the objects' context. What is saved reaches the parents, which save too where the objects changed there.
    ///
    /// - Parameter objects: of one context; others of it stay as they are.
    /// - Throws: what saving throws; then no object is a fault of it, and nothing is lost.
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

    /// Makes one object a fault; see ``fault(_:)-([NSManagedObject])``.
    public static func fault(_ object: NSManagedObject) throws { try fault([object]) }

    private static func fault(_ objects: [NSManagedObject], in context: NSManagedObjectContext) throws {
        let hasChanged = objects.contains { $0.hasChanges }
        if hasChanged { try context.save() }
        guard let parent = context.parent else {
            for object in objects where isStored(object) { context.refresh(object, mergeChanges: false) }
            return
        }
        // The parent saves before the child lets go: what is a fault here is read from there.
        let ids = objects.map(\.objectID)
        try parent.performAndWait {
            let known = ids.compactMap { parent.registeredObject(for: $0) }
            if !known.isEmpty { try fault(known, in: parent) }
        }
        for object in objects where isStored(object) { context.refresh(object, mergeChanges: false) }
    }

    /// Whether there is something to read it from again.
    private static func isStored(_ object: NSManagedObject) -> Bool {
        !object.isInserted && !object.isDeleted && object.managedObjectContext != nil
    }
}
