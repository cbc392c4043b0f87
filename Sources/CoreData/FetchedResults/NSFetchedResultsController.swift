import Foundation

/// Shows the objects of a request as a list that follows the context: sorted, in sections, with a notification for
/// every change.
///
///     let request = NSFetchRequest<Item>(entityName: "Item")
///     request.sortDescriptors = [NSSortDescriptor(key: "aisle.name", ascending: true), NSSortDescriptor(key: "name", ascending: true)]
///     let list = NSFetchedResultsController(
///         fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "aisle.name", cacheName: nil)
///     list.delegate = screen
///     try list.performFetch()         // SELECT … FROM ZITEM t0 LEFT OUTER JOIN ZAISLE … ORDER BY t1.ZNAME, t0.ZNAME
///     list.sections?.first?.name      // "Bakery"
///     list.object(at: IndexPath(row: 0, section: 0)).name = "Rye bread"
///     // at the end of the event the delegate is notified that the row changed or moved
///
/// Unsaved changes are shown; changes saved by other contexts are shown when they are merged into the context. The cost
/// of a change grows with its size, not with the number of rows. Use the controller on its context's queue.
///
/// A request with a `fetchLimit` or `fetchOffset` is fetched again after every change that may affect it, because the
/// row after the limit is not known otherwise.
///
/// Differs from Apple: objects are also inserted, deleted and moved because of a change of a related object
/// (`author.name` in the predicate or the order), and if another context changed an object that this context does not
/// have.
open class NSFetchedResultsController<ResultType: NSFetchRequestResult>: AnyFetchedResultsController {
    /// Creates a controller; it fetches nothing before ``AnyFetchedResultsController/performFetch()``.
    ///
    /// - Parameters:
    ///   - fetchRequest: a request for objects, with sort descriptors.
    ///   - context: the context that fetches the objects, and whose changes the controller follows.
    ///   - sectionNameKeyPath: the key path that names the section of an object. Objects of one section must be
    ///     adjacent in the order: usually it is the first sort descriptor's key.
    ///   - cacheName: the name of a file that keeps the names and sizes of the sections between launches; `nil` for
    ///     none. With a `fetchBatchSize` it saves the statement that counts them. It is valid while the stores' files,
    ///     the model and the request are unchanged; otherwise the sections and the file are made again.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?, cacheName: String?
    ) {
        super.init(
            request: fetchRequest, context: context, sectionNameKeyPath: sectionNameKeyPath, cacheName: cacheName)
    }

    /// Creates a placeholder: a controller without an entity, which cannot fetch.
    public convenience init() {
        self.init(
            fetchRequest: NSFetchRequest<ResultType>(), managedObjectContext: NSManagedObjectContext(.mainQueue),
            sectionNameKeyPath: nil, cacheName: nil)
    }

    /// Removes the file of a `cacheName`, or all files for `nil`.
    ///
    /// Differs from Apple: not necessary before another request uses the name.
    public static func deleteCache(withName name: String?) { SectionCache.delete(named: name) }

    /// The controller with its result type, as a delegate's methods do not know it; `nil` for one of other objects.
    ///
    ///     guard let list = NSFetchedResultsController<Item>.cast(controller) else { return }
    ///
    /// Differs from Apple: there, `controller as? NSFetchedResultsController<Item>` does it; to Swift the types are
    /// unrelated.
    public static func cast(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) -> NSFetchedResultsController<ResultType>? {
        (controller as AnyObject) as? NSFetchedResultsController<ResultType>
    }

    /// The request. Set its properties and call `performFetch()` again to see other objects.
    public final var fetchRequest: NSFetchRequest<ResultType> {
        // The very request that the initialiser took.
        Unmanaged.fromOpaque(Unmanaged.passUnretained(request).toOpaque()).takeUnretainedValue()
    }

    /// All objects in order; `nil` before the first fetch. Made anew after a change: O(n).
    public final var fetchedObjects: [ResultType]? {
        // Arrays of references are one, whatever their static type; each element is of the class.
        unsafeBitCast(list, to: [ResultType]?.self)
    }

    /// The object at that place.
    ///
    /// - Precondition: there is one.
    public final func object(at indexPath: IndexPath) -> ResultType {
        unsafeBitCast(foundObject(at: indexPath), to: ResultType.self)
    }

    /// The place of the object; `nil` for one that is not among the results.
    public final func indexPath(forObject object: ResultType) -> IndexPath? {
        let object = unsafeBitCast(object, to: AnyObject.self)
        return (object as? NSManagedObject).flatMap { rows?.place(of: $0)?.indexPath }
    }

    override final func fetchObjects(_ request: AnyFetchRequest) throws -> [NSManagedObject] {
        unsafeBitCast(try managedObjectContext.fetch(NSFetchRequest<ResultType>(request)), to: [NSManagedObject].self)
    }

    override final func accepts(_ object: NSManagedObject) -> Bool {
        guard let wanted = (ResultType.self as Any) as? AnyClass, wanted != NSManagedObject.self else { return true }
        return object is ResultType
    }
}
