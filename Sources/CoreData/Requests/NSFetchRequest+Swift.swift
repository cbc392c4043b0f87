import Foundation

extension NSFetchRequest where ResultType: NSManagedObject {
    /// Creates a request from Swift's own predicate and sort descriptors, which the compiler has checked.
    ///
    ///     let request = try NSFetchRequest(
    ///         where: #Predicate<Item> { $0.quantity > 2 && $0.unit?.name == "kg" }, sortBy: [SortDescriptor(\.name)])
    ///     let items = try context.fetch(request)
    ///     // SELECT … FROM ZITEM t0 LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT
    ///     // WHERE t0.ZQUANTITY > ? AND t1.ZNAME = ? ORDER BY t0.ZNAME
    ///
    /// - Throws: an error that names the part of the predicate, or the sort descriptor, that no store supports; an
    ///   error if no entity, or more than one, of the loaded models has the class.
    ///
    /// Not in Apple's API.
    public convenience init(
        where predicate: Predicate<ResultType>? = nil, sortBy sortDescriptors: [SortDescriptor<ResultType>] = [],
        limit: Int = 0
    ) throws {
        self.init(entityName: try ManagedObjectClasses.shared.entityName(of: ResultType.self))
        self.predicate = try predicate.map { try NSPredicate(validating: $0) }
        self.sortDescriptors =
            sortDescriptors.isEmpty ? nil : try sortDescriptors.map { try NSSortDescriptor(validating: $0) }
        fetchLimit = limit
    }
}

extension NSFetchRequestResult where Self: NSManagedObject {
    /// Makes a request for objects of this class, of Swift's own predicate and sort descriptors.
    ///
    ///     let request = try Item.fetchRequest(where: #Predicate { $0.quantity > 2 }, sortBy: [SortDescriptor(\.name)])
    ///     // SELECT … FROM ZITEM t0 WHERE t0.ZQUANTITY > ? ORDER BY t0.ZNAME
    ///
    /// - Throws: as ``NSFetchRequest/init(where:sortBy:limit:)`` does.
    ///
    /// Not in Apple's API.
    public static func fetchRequest(
        where predicate: Predicate<Self>, sortBy sortDescriptors: [SortDescriptor<Self>] = [], limit: Int = 0
    ) throws -> NSFetchRequest<Self> {
        try NSFetchRequest(where: predicate, sortBy: sortDescriptors, limit: limit)
    }
}

extension NSManagedObjectContext {
    /// Fetches the objects that a predicate of Swift's selects.
    ///
    ///     let long = try context.fetch(where: #Predicate<Book> { $0.pages > 300 }, sortBy: [SortDescriptor(\.title)])
    ///     // SELECT … FROM ZBOOK t0 WHERE t0.ZPAGES > ? ORDER BY t0.ZTITLE
    ///
    /// - Throws: as ``NSFetchRequest/init(where:sortBy:limit:)`` and ``fetch(_:)`` do.
    ///
    /// Not in Apple's API.
    public nonisolated final func fetch<Object: NSManagedObject>(
        where predicate: Predicate<Object>, sortBy sortDescriptors: [SortDescriptor<Object>] = [], limit: Int = 0
    ) throws -> [Object] {
        try fetch(NSFetchRequest(where: predicate, sortBy: sortDescriptors, limit: limit))
    }

    /// Counts the objects that a predicate of Swift's selects.
    ///
    ///     try context.count(where: #Predicate<Book> { $0.pages > 300 })
    ///     // SELECT COUNT(*) FROM ZBOOK t0 WHERE t0.ZPAGES > ?
    ///
    /// - Throws: as ``NSFetchRequest/init(where:sortBy:limit:)`` and ``count(for:)`` do.
    ///
    /// Not in Apple's API.
    public nonisolated final func count<Object: NSManagedObject>(where predicate: Predicate<Object>) throws -> Int {
        try count(for: NSFetchRequest(where: predicate))
    }
}

extension ManagedObjectClasses {
    /// Returns the name of the one entity with the class.
    ///
    /// - Throws: an error that says what to do if there is none, or more than one.
    func entityName(of type: NSManagedObject.Type) throws -> String {
        learn(type)
        let names = Set(entities(ofClass: type).map(\.name)).sorted()
        if names.count == 1 { return names[0] }
        throw CoreDataErrors.invalidRequest(
            names.isEmpty
                ? "No entity of a model that was loaded has the class \(type): load the model first, or make the request with "
                    + "NSFetchRequest<\(type)>(entityName:)."
                : "Several entities have the class \(type): \(names.joined(separator: ", ")). Make the request with "
                    + "NSFetchRequest<\(type)>(entityName:).")
    }
}
