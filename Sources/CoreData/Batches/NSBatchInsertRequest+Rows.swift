import Foundation

extension NSBatchInsertRequest {
    /// Inserts rows of values by key paths, one for each tuple that the handler returns, until it returns `nil`: no object and no
    /// dictionary is made.
    ///
    ///     var lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").makeIterator()
    ///     let request = try NSBatchInsertRequest(\Item.name, \.quantity, \.unit?.name) {
    ///         lines.next().map { (String($0), 1, "Bottle") }
    ///     }
    ///     try context.execute(request)
    ///     // INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, …) VALUES (?, ?, ?, ?, …), (?, ?, ?, ?, …), …
    ///
    /// The types are those of the properties. A to-one relationship is set by the ID of its destination, `\.unit?.persistentID`, or by
    /// a unique value of it, `\.unit?.name`. What no key path names has its default value.
    ///
    /// - Parameter entityName: needed where several entities have the class.
    /// - Throws: an error that names a key path that is no property. When the request runs, also one for a to-many relationship, for
    ///   an attribute of a destination that no uniqueness constraint has for itself, and for a destination that is not there.
    ///
    /// Not in Apple's API.
    public convenience init<Object: NSManagedObject, First: FetchedValue, each Rest: FetchedValue>(
        _ first: KeyPath<Object, First>, _ rest: repeat KeyPath<Object, each Rest>, entityName: String? = nil,
        rowHandler: @escaping () throws -> (First, repeat each Rest)?
    ) throws {
        ManagedObjectClasses.shared.learn(Object.self)
        var names = [try SwiftPredicates.column(first)]
        repeat names.append(try SwiftPredicates.column(each rest))
        var shape = TupleShape()
        shape.append(First.self)
        repeat shape.append((each Rest).self)
        precondition(shape.fits((First, repeat each Rest).self), "a tuple's elements lie elsewhere")
        let name = entityName ?? Object.entity().name ?? ""
        self.init(entityName: name, objects: [])
        objectsToInsert = nil
        rowSource = TupleSource(names, shape, rowHandler)
    }
}

/// Where the rows of a batch insert come from that are tuples.
class BatchRowSource {
    let names: [String]
    let shape: TupleShape

    init(_ names: [String], _ shape: TupleShape) {
        self.names = names
        self.shape = shape
    }

    /// Calls `body` with the memory of the next row; `false` where there is none.
    func next(_ body: (UnsafeRawPointer) throws -> Void) throws -> Bool { false }
}

private final class TupleSource<Row>: BatchRowSource {
    private let handler: () throws -> Row?

    init(_ names: [String], _ shape: TupleShape, _ handler: @escaping () throws -> Row?) {
        self.handler = handler
        super.init(names, shape)
    }

    override func next(_ body: (UnsafeRawPointer) throws -> Void) throws -> Bool {
        guard let row = try handler() else { return false }
        try withUnsafePointer(to: row) { try body(UnsafeRawPointer($0)) }
        return true
    }
}
