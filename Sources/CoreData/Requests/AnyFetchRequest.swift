import Foundation

/// A fetch request without its result type: everything that ``NSFetchRequest`` says about what to find.
///
/// Swift's generic classes are invariant: an `NSFetchRequest<Book>` is no
/// `NSFetchRequest<any NSFetchRequestResult>`, and no cast makes it one. Code that takes any request, such as a
/// custom store, takes this class; ``NSFetchRequest/init(_:)`` gives the request another result type.
///
///     func execute(_ request: NSPersistentStoreRequest) {
///         guard let fetch = request as? AnyFetchRequest else { return }
///         print(fetch.entityName ?? "", fetch.fetchLimit)
///     }
open class AnyFetchRequest: NSPersistentStoreRequest {
    /// The entity's name, if the request was made with a name and no entity is known yet.
    package var givenEntityName: String?
    private var givenEntity: NSEntityDescription? {
        get { holdsEntityWeakly ? weakEntity : strongEntity }
        set { if holdsEntityWeakly { weakEntity = newValue } else { strongEntity = newValue } }
    }
    private var strongEntity: NSEntityDescription?
    @WeakEntity private var weakEntity: NSEntityDescription?
    /// Of a fetched property's request, which belongs to a model, as its entity does.
    var holdsEntityWeakly = false {
        willSet {
            let entity = givenEntity
            (strongEntity, weakEntity) = newValue ? (nil, entity) : (entity, nil)
        }
    }

    package override init() {}

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// The entity whose objects are requested.
    ///
    /// A request made with a name has no entity until a context executes it; the context finds it in its model.
    open var entity: NSEntityDescription? {
        get { givenEntity }
        set {
            givenEntity = newValue
            givenEntityName = newValue?.name
        }
    }

    /// The name of the requested entity, whether the request was made with a name or an entity.
    open var entityName: String? { givenEntity?.name ?? givenEntityName }

    /// Which rows are wanted; `nil` for all.
    open var predicate: NSPredicate?

    /// The order of the result; without any, the order is not defined.
    open var sortDescriptors: [NSSortDescriptor]?

    /// The most rows to return; 0 for no limit.
    open var fetchLimit = 0

    /// How many rows of the result to skip.
    open var fetchOffset = 0

    /// How many rows to read at once while the result is walked; 0 reads them all with the fetch.
    open var fetchBatchSize = 0

    /// What to return for each row: objects, IDs, dictionaries, or only their number.
    open var resultType: NSFetchRequestResultType = .managedObjectResultType

    /// Whether rows of the entity's subentities belong to the result.
    open var includesSubentities = true

    /// Whether the rows' values are read with the fetch; without them every object is a fault without a row.
    open var includesPropertyValues = true

    /// Whether the context's unsaved changes count: inserted objects can match, deleted ones do not.
    open var includesPendingChanges = true

    /// Whether objects are returned as faults whose values are read from the row cache at the first use.
    open var returnsObjectsAsFaults = true

    /// Whether equal rows are returned once; for dictionaries.
    open var returnsDistinctResults = false

    /// Whether objects that the context already has take the row's values, unsaved changes aside.
    open var shouldRefreshRefetchedObjects = false

    /// Relationships to read together with the result, as key paths: `["author", "loans.reader"]`.
    open var relationshipKeyPathsForPrefetching: [String]?

    /// The properties to read: names, `NSPropertyDescription`s or `NSExpressionDescription`s.
    open var propertiesToFetch: [Any]?

    /// The properties by which dictionaries are grouped: names or `NSPropertyDescription`s.
    open var propertiesToGroupBy: [Any]?

    /// Which groups are wanted, where `propertiesToGroupBy` is set.
    open var havingPredicate: NSPredicate?

    /// A description for logs: entity, predicate, sort descriptors, limits, type and other settings.
    ///
    ///     <NSFetchRequest<Book>: 0x…> (entity: Book; predicate: pages > 300; limit: 20; type: NSManagedObjectResultType)
    open override var description: String { super.description + " " + summary }

    /// Takes over every setting of another request.
    package func adopt(_ other: AnyFetchRequest) {
        affectedStoreObjects = other.affectedStoreObjects
        givenEntityName = other.givenEntityName
        givenEntity = other.givenEntity
        predicate = other.predicate
        sortDescriptors = other.sortDescriptors
        fetchLimit = other.fetchLimit
        fetchOffset = other.fetchOffset
        fetchBatchSize = other.fetchBatchSize
        resultType = other.resultType
        includesSubentities = other.includesSubentities
        includesPropertyValues = other.includesPropertyValues
        includesPendingChanges = other.includesPendingChanges
        returnsObjectsAsFaults = other.returnsObjectsAsFaults
        returnsDistinctResults = other.returnsDistinctResults
        shouldRefreshRefetchedObjects = other.shouldRefreshRefetchedObjects
        relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
        propertiesToFetch = other.propertiesToFetch
        propertiesToGroupBy = other.propertiesToGroupBy
        havingPredicate = other.havingPredicate
    }
}
