import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// The columns of a request, read one row after the other.
struct RowFetch {
    let fetch: DictionaryFetch
    let stores: [AttachedStore]
    private let runtime: ModelRuntime

    /// - Parameter columns: names and key paths; with `nil` those of the request.
    init(_ request: AnyFetchRequest, columns: [String]?, in context: NSManagedObjectContext) throws {
        let coordinator = try context.coordinatorForRequest()
        let copy = NSFetchRequest<NSDictionary>(request)
        copy.resultType = .dictionaryResultType
        if let columns { copy.propertiesToFetch = columns }
        let translation = try FetchTranslation(copy, in: coordinator.runtime)
        fetch = try DictionaryFetch(translation, coordinator: coordinator, context: context)
        stores = coordinator.stores(for: translation.entity, affected: request.affectedStores)
        runtime = coordinator.runtime
    }

    var names: [String] { fetch.columns.map(\.name) }

    private var entityName: String { fetch.translation.entity.name }

    /// Calls `body` for each row; what it gets is valid during the call only.
    func forEach(_ body: (FetchTuple, AttachedStore) throws -> Void) throws {
        try CoreDataErrors.converting { try fetch.forEachTuple(in: stores, body) }
    }

    /// A value of the row as types read it.
    func column(_ index: Int, _ tuple: FetchTuple, _ store: AttachedStore, readsNilAsZero: Bool) -> FetchedColumn {
        FetchedColumn(
            value: tuple[index], name: "'\(fetch.columns[index].name)' of \(entityName)", store: store,
            runtime: runtime,
            readsNilAsZero: readsNilAsZero)
    }
}

extension NSManagedObjectContext {
    /// Fetches values by key paths, as tuples: only these columns are read, and no objects are made.
    ///
    ///     let request = NSFetchRequest<Item>(entityName: "Item")
    ///     for (name, unit) in try context.fetch(request, \.name, \.unit?.name) { … }      // (String?, String?)
    ///     // SELECT t0.ZNAME, t1.ZNAME FROM ZITEM t0 LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT
    ///
    /// The request's predicate, order, limit, offset and `returnsDistinctResults` count; unsaved changes do not, as in dictionaries.
    /// `\.persistentID` gives IDs. A number that is nil reads as the accessor has it: as 0.
    ///
    /// - Throws: an error that names a key path that is no property, or a column whose value is not of the type.
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
        var results: [(First, repeat each Rest)] = []
        try rows.forEach { tuple, store in
            var index = -1
            func next<V: FetchedValue>(_ type: V.Type) throws -> V {
                index += 1
                return try V._read(rows.column(index, tuple, store, readsNilAsZero: true))
            }
            results.append((try next(First.self), repeat try next((each Rest).self)))
        }
        return results
    }

    /// Fetches rows as values of a type of yours: only the columns that it names are read, and no objects are made.
    ///
    ///     struct Row: Decodable {
    ///         var name: String
    ///         var price: Double?
    ///         var unit: UnitName?             // what the to-one leads to
    ///         struct UnitName: Decodable { var name: String }
    ///     }
    ///     let rows = try context.fetch(request, as: Row.self)
    ///     // SELECT t0.ZNAME, t0.ZPRICE, t0.ZUNIT, t1.ZNAME FROM ZITEM t0 LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT
    ///
    /// The properties' names, or the type's `CodingKeys`, are the names of the model's properties; a value that is decoded by keys
    /// itself is what a to-one relationship leads to. Where the request has `propertiesToFetch`, those are the columns: names, key paths
    /// and `NSExpressionDescription`s, by their names. Predicate, order, limit, offset, `returnsDistinctResults` and
    /// `propertiesToGroupBy` count; unsaved changes do not, as in dictionaries.
    ///
    /// - Throws: an error that names the type and the property that is no column, or whose column has no such value.
    ///
    /// Not in Apple's API.
    public nonisolated final func fetch<Row: Decodable>(
        _ request: AnyFetchRequest, as type: Row.Type
    ) throws -> [Row] {
        checkOwned("fetch(_:as:)")
        let given = request.propertiesToFetch.map { !$0.isEmpty } ?? false
        let coordinator = try coordinatorForRequest()
        let columns = given ? nil : try RowProbe.columns(of: type, request, in: coordinator.runtime)
        let rows = try RowFetch(request, columns: columns, in: self)
        let decoder = RowDecoding(rows, Row.self)
        var results: [Row] = []
        try rows.forEach { tuple, store in
            decoder.tuple = tuple
            decoder.store = store
            results.append(try Row(from: decoder.root))
        }
        return results
    }
}
