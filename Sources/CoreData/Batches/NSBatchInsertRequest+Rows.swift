import Foundation

extension NSBatchInsertRequest {
    /// Creates a request that inserts rows of values by key paths, one for each tuple that the handler returns, until
    /// it returns `nil`. It makes no objects and no dictionaries.
    ///
    ///     var lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").makeIterator()
    ///     let request = try NSBatchInsertRequest(\Item.name, \.quantity, \.unit?.name) {
    ///         lines.next().map { (String($0), 1, "Bottle") }
    ///     }
    ///     try context.execute(request)
    ///     // INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, …) VALUES (?, ?, ?, ?, …), (?, ?, ?, ?, …), …
    ///
    /// The types are those of the properties. A to-one relationship is set by the ID of its destination,
    /// `\.unit?.persistentID`, or by a unique value of it, `\.unit?.name`. Properties without a key path get their
    /// default values. An `entityName` is needed if several entities have the class.
    ///
    /// - Throws: an error that names a key path that is no property. When the request runs, also an error for a to-many
    ///   relationship, for an attribute of a destination that has no uniqueness constraint of its own, and for a
    ///   destination that does not exist.
    ///
    /// Not in Apple's API.
    public convenience init<
        Object: NSManagedObject, First: FetchedValue, Second: FetchedValue, each Rest: FetchedValue
    >(
        _ first: KeyPath<Object, First>, _ second: KeyPath<Object, Second>,
        _ rest: repeat KeyPath<Object, each Rest>, entityName: String? = nil,
        rowHandler: @escaping () throws -> (First, Second, repeat each Rest)?
    ) throws {
        var names = [try SwiftPredicates.column(first), try SwiftPredicates.column(second)]
        repeat names.append(try SwiftPredicates.column(each rest))
        var shape = TupleShape()
        shape.append(First.self)
        shape.append(Second.self)
        repeat shape.append((each Rest).self)
        precondition(shape.fits((First, Second, repeat each Rest).self), "a tuple's elements lie elsewhere")
        typealias Row = (First, Second, repeat each Rest)
        self.init(
            entityName ?? Self.entityName(of: Object.self), TupleSource<Row, Row?>(names, shape, rowHandler))
    }

    /// Inserts rows of which one value is given, one for each that the handler returns, until it returns `nil`.
    ///
    ///     let request = try NSBatchInsertRequest(\Tag.name) { names.popLast() }
    ///
    /// An `entityName` is needed where several entities have the class.
    ///
    /// - Throws: an error that names a key path that is no property.
    ///
    /// Not in Apple's API.
    public convenience init<Object: NSManagedObject, Value: FetchedValue>(
        _ keyPath: KeyPath<Object, Value>, entityName: String? = nil, rowHandler: @escaping () throws -> Value?
    ) throws {
        let names = [try SwiftPredicates.column(keyPath)]
        var shape = TupleShape()
        shape.append(Value.self)
        self.init(
            entityName ?? Self.entityName(of: Object.self), TupleSource<Value, Value?>(names, shape, rowHandler))
    }

    private convenience init(_ entityName: String, _ source: BatchRowSource) {
        self.init(entityName: entityName, objects: [])
        objectsToInsert = nil
        rowSource = source
    }

    private static func entityName<Object: NSManagedObject>(of type: Object.Type) -> String {
        ManagedObjectClasses.shared.learn(type)
        return type.entity().name ?? ""
    }
}

/// The source of a batch insert's rows that are tuples.
class BatchRowSource {
    let names: [String]
    let shape: TupleShape

    init(_ names: [String], _ shape: TupleShape) {
        self.names = names
        self.shape = shape
    }

    /// Calls `body` with the memory of the next row; returns `false` if there is none.
    func next(_ body: (UnsafeRawPointer) throws -> Void) throws -> Bool { false }
}

/// The handler returns `Row?`. That type is a generic parameter of its own, since it would otherwise be looked up for
/// every row.
private final class TupleSource<Row, Returned>: BatchRowSource {
    private let handler: () throws -> Returned
    /// The memory of the returned value is read directly: an optional's value is at its beginning.
    private let place = UnsafeMutablePointer<Returned>.allocate(capacity: 1)

    init(_ names: [String], _ shape: TupleShape, _ handler: @escaping () throws -> Returned) {
        precondition(Returned.self == Row?.self, "a handler returns rows, or nil")
        self.handler = handler
        super.init(names, shape)
    }

    deinit { place.deallocate() }

    override func next(_ body: (UnsafeRawPointer) throws -> Void) throws -> Bool {
        place.initialize(to: try handler())
        defer { place.deinitialize(count: 1) }
        let row = UnsafeRawPointer(place)
        if case .none = row.assumingMemoryBound(to: Row?.self).pointee { return false }
        try body(row)
        return true
    }
}
