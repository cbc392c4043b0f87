import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// The columns of a request, read one row after the other.
struct RowFetch {
    let fetch: DictionaryFetch
    let stores: [AttachedStore]
    let columns: RowColumns

    /// - Parameters:
    ///   - columns: names and key paths; `nil` for those of the request.
    ///   - typeName: the type of the rows; `nil` for tuples, in which a nil number is 0.
    ///   - keys: the bounds of the primary keys of the rows; `nil` for all rows.
    init(
        _ request: AnyFetchRequest, columns: [String]?, as typeName: String? = nil, keys: ClosedRange<Int64>? = nil,
        in context: NSManagedObjectContext
    ) throws {
        let coordinator = try context.coordinatorForRequest()
        let copy = NSFetchRequest<NSDictionary>(request)
        copy.resultType = .dictionaryResultType
        if let columns { copy.propertiesToFetch = columns }
        var translation = try FetchTranslation(copy, in: coordinator.runtime, clock: coordinator.clock)
        translation.keys = keys
        fetch = try DictionaryFetch(translation, coordinator: coordinator, context: context)
        stores = try context.readStores(for: translation.entity, affected: request.affectedStores)
        self.columns = RowColumns(
            fetch.columns.map(\.name), ofEntity: translation.entity.name, as: typeName, in: coordinator.runtime,
            readsNilAsZero: typeName == nil)
    }

    /// Calls `body` for each row; its argument is valid only during the call.
    func forEach(_ body: (FetchTuple) throws -> Void) throws {
        try CoreDataErrors.converting {
            try fetch.forEachTuple(in: stores) { tuple, store in
                if columns.store !== store { columns.store = store }
                try body(tuple)
            }
        }
    }
}

extension NSManagedObjectContext {
    /// Fetches values by key paths, as tuples: reads only these columns, and makes no objects.
    ///
    ///     let request = NSFetchRequest<Item>(entityName: "Item")
    ///     for (name, unit) in try context.fetch(request, \.name, \.unit?.name) { … }      // (String?, String?)
    ///     // SELECT t0.ZNAME, t1.ZNAME FROM ZITEM t0 LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT
    ///
    /// The request's predicate, order, limit, offset and `returnsDistinctResults` count. As with dictionaries, unsaved
    /// changes do not count. `\.persistentID` returns IDs. A nil number reads as 0, as with the accessor.
    ///
    /// - Throws: an error that names a key path that is no property, or a column whose value is of another type.
    ///
    /// Not in Apple's API.
    public nonisolated final func fetch<Object: NSManagedObject, First: FetchedValue, each Rest: FetchedValue>(
        _ request: NSFetchRequest<Object>, _ first: KeyPath<Object, First>, _ rest: repeat KeyPath<Object, each Rest>
    ) throws -> [(First, repeat each Rest)] {
        checkOwned("fetch(_:_:)")
        ManagedObjectClasses.shared.learn(Object.self)
        var names = [try SwiftPredicates.column(first)]
        repeat names.append(try SwiftPredicates.column(each rest))
        let rows = try RowFetch(request, columns: names, in: self)
        var shape = TupleShape()
        shape.append(First.self)
        repeat shape.append((each Rest).self)
        precondition(shape.fits((First, repeat each Rest).self), "a tuple's elements lie elsewhere")
        let (results, writing, columns) = (TypedRows<(First, repeat each Rest)>(), shape.writing, rows.columns)
        try rows.forEach { try results.take($0, writing, columns) }
        return results.finish()
    }

    /// Fetches rows as your own structs: reads only the columns that the type names, and makes no objects.
    ///
    ///     struct Row: FetchedRow {
    ///         var name: String
    ///         var price: Double?
    ///     }
    ///     let rows = try context.fetch(request, as: Row.self)
    ///     // SELECT t0.ZNAME, t0.ZPRICE FROM ZITEM t0
    ///
    /// The names of the stored properties, or the key paths that the type declares for them, are the model's. If the
    /// request has `propertiesToFetch`, these are the columns: names, key paths and `NSExpressionDescription`s, by
    /// their names. Predicate, order, limit, offset, `returnsDistinctResults` and `propertiesToGroupBy` count. As with
    /// dictionaries, unsaved changes do not count.
    ///
    /// - Throws: an error that names the type and the property that is no column, or whose column has no such value.
    ///
    /// Not in Apple's API.
    public nonisolated final func fetch<Row: FetchedRow>(
        _ request: AnyFetchRequest, as type: Row.Type
    ) throws -> [Row] {
        checkOwned("fetch(_:as:)")
        let given = request.propertiesToFetch.map { !$0.isEmpty } ?? false
        let (properties, typeName) = (try RowProperties(of: type), String(describing: type))
        let model = try coordinatorForRequest().runtime
        let columns =
            given ? nil : try RowProbe.columns(properties.keyPaths, of: typeName, request, in: model)
        let rows = try RowFetch(request, columns: columns, as: typeName, in: self)
        let (results, writing) = (TypedRows<Row>(), try properties.writing(rows.columns.names))
        try rows.forEach { try results.take($0, writing, rows.columns) }
        return results.finish()
    }

    /// Fetches rows as values of your own `Decodable` type: reads only the columns that it names, and makes no objects.
    /// A ``FetchedRow`` takes half the time.
    ///
    ///     struct Row: Decodable {
    ///         var name: String
    ///         var price: Double?
    ///         var unit: UnitName?             // the destination of the to-one
    ///         struct UnitName: Decodable { var name: String }
    ///     }
    ///     let rows = try context.fetch(request, as: Row.self)
    ///     // SELECT t0.ZNAME, t0.ZPRICE, t0.ZUNIT, t1.ZNAME FROM ZITEM t0 LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT
    ///
    /// The names of the properties, or the type's `CodingKeys`, are the names of the model's properties. A value that
    /// itself decodes keys is the destination of a to-one relationship. If the request has `propertiesToFetch`, these
    /// are the columns: names, key paths and `NSExpressionDescription`s, by their names. Predicate, order, limit,
    /// offset, `returnsDistinctResults` and `propertiesToGroupBy` count. As with dictionaries, unsaved changes do not
    /// count.
    ///
    /// - Throws: an error that names the type and the property that is no column, or whose column has no such value.
    ///
    /// Not in Apple's API.
    @_disfavoredOverload
    public nonisolated final func fetch<Row: Decodable>(
        _ request: AnyFetchRequest, as type: Row.Type
    ) throws -> [Row] {
        checkOwned("fetch(_:as:)")
        let given = request.propertiesToFetch.map { !$0.isEmpty } ?? false
        let coordinator = try coordinatorForRequest()
        let columns = given ? nil : try RowProbe.columns(of: type, request, in: coordinator.runtime)
        let rows = try RowFetch(request, columns: columns, as: String(describing: type), in: self)
        let decoder = RowDecoding(rows.columns, Row.self)
        defer { decoder.end() }
        let results = TypedRows<Row>()
        let root: any Decoder = decoder.root
        try rows.forEach { tuple in
            decoder.begin(tuple)
            results.next().initializeMemory(as: Row.self, to: try Row(from: root))
            results.take()
        }
        return results.finish()
    }
}
