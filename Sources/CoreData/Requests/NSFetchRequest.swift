import Foundation

/// A description of what to read from the stores: an entity, a condition, an order and a kind of result.
///
///     let request = NSFetchRequest<Book>(entityName: "Book")
///     request.predicate = NSPredicate(format: "pages > %d", 300)
///     request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
///     request.fetchLimit = 20
///     // SELECT … FROM ZBOOK t0 WHERE t0.ZPAGES > ? ORDER BY t0.ZTITLE LIMIT 20
///
/// A request can be used again and again, and by several contexts one after the other.
///
/// Differs from Apple: requests of different result types are different classes, so `as!` does not turn one into
/// another; ``init(_:)`` does.
open class NSFetchRequest<ResultType: NSFetchRequestResult>: AnyFetchRequest {
    /// Makes a request without an entity; set ``AnyFetchRequest/entity`` before you execute it.
    public override init() { super.init() }

    /// Makes a request for the entity of that name, which is looked up when the request is executed.
    public convenience init(entityName: String) {
        self.init()
        givenEntityName = entityName
    }

    /// Makes a copy of a request with another result type.
    ///
    ///     let books = NSFetchRequest<Book>(entityName: "Book")
    ///     let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(books))
    ///
    /// Differs from Apple: there, any request can be cast.
    public convenience init(_ request: AnyFetchRequest) {
        self.init()
        adopt(request)
    }

    /// Returns a request with the same settings, which can be changed independently.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchRequest<ResultType>()
        copy.adopt(self)
        return copy
    }
}
