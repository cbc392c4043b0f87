import CoreDataPrimitives
import CoreDataStore

/// The current row of ``NSManagedObjectContext/forEachRow(of:columns:keys:in:_:)``: valid during the call only.
package struct KeyedRow {
    fileprivate let tuple: FetchTuple

    /// The row's primary key.
    package var key: Int64 { tuple.key(0)?.primaryKey ?? 0 }

    /// The value of an attribute, as the store has it.
    package subscript(column: Int) -> Value { tuple[column + 1] }

    /// The object to which a to-one relationship refers: the number of its entity, and its primary key.
    package func destination(_ column: Int) -> (entity: Int, key: Int64)? {
        tuple.key(column + 1).map { ($0.entity, $0.primaryKey) }
    }
}

extension NSManagedObjectContext {
    /// Reads columns of the saved rows of one entity whose primary keys lie in a range, without objects.
    ///
    ///     try context.forEachRow(of: "Item", columns: ["name", "unit"], keys: 1...1000, in: store) { row in
    ///         print(row.key, row[0], row.destination(1))
    ///     }
    ///     // SELECT t0.Z_PK, t0.ZNAME, t0.ZUNIT FROM ZITEM t0 WHERE t0.Z_PK BETWEEN ? AND ?
    ///
    /// Rows of subentities are left out. Values are what objects would have; those of transformable attributes are
    /// bytes.
    ///
    /// - Parameter columns: attributes, elements of composites by key paths, and to-one relationships.
    /// - Throws: an error for an entity or column that the model lacks, and errors of the store.
    package nonisolated final func forEachRow(
        of entityName: String, columns: [String], keys: ClosedRange<Int64>, in store: NSPersistentStore,
        _ body: (KeyedRow) throws -> Void
    ) throws {
        let request = NSFetchRequest<NSDictionary>(entityName: entityName)
        request.includesSubentities = false
        request.affectedStores = [store]
        let rows = try RowFetch(request, columns: ["objectID"] + columns, keys: keys, in: self)
        try rows.forEach { try body(KeyedRow(tuple: $0)) }
    }

    /// The number by which ``KeyedRow/destination(_:)`` names an entity of the context's model.
    package nonisolated final func number(ofEntity name: String) throws -> Int? {
        try coordinatorForRequest().runtime.entity(named: name)?.ordinal
    }
}
