import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Fetches go to the store as requests.
extension IncrementalSource {
    func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws {
        // All are of one root: a plan has one entity.
        let keys = try keys(plan).map(\.primaryKey)
        let found = try heldRows(keys, root: runtime.model.entities[plan.entity].root, staleness: -1)
        let rows = RowList()
        for index in found.indices where found.hasRow(index) { rows.append(HeldRow(try whole(found[index]))) }
        guard !rows.isEmpty else { return }
        try take(rows)
    }

    func keys(_ plan: FetchPlan) throws -> [RowKey] {
        let request = request(plan, .managedObjectResultType)
        let ids = try ask { store, context -> [NSManagedObjectID] in
            let found = try store.execute(request, with: context)
            if let objects = found as? [NSManagedObject] { return objects.map(\.objectID) }
            if let ids = found as? [NSManagedObjectID] { return ids }
            throw wrongResult(found, "objects")
        }
        // IDs of one entity share its runtime, and come one after another.
        var checked: EntityRuntime?
        return try ids.map { id in
            if id.runtime !== checked {
                try checkEntity(of: id, plan)
                checked = id.runtime
            }
            return RowKey(entity: id.runtime.ordinal, primaryKey: id.primaryKey)
        }
    }

    /// - Throws: an error that names an object of another entity than the request asks for.
    private func checkEntity(of id: NSManagedObjectID, _ plan: FetchPlan) throws {
        let entity = runtime.entities[plan.entity]
        let isIncluded = plan.includesSubentities ? entity.includes(id) : entity.isEntity(of: id)
        guard !isIncluded else { return }
        let isOfSubentity = entity.includes(id)
        throw CoreDataErrors.make(
            NSPersistentStoreOperationError,
            """
            \(storeName).execute(_:with:) was asked for objects of '\(entity.name)', and returned one of \
            '\(id.runtime.name)': \(id). Return objects of the request's entity\
            \(isOfSubentity ? ": its includesSubentities is false" : " and of its subentities only").
            """)
    }

    func count(_ plan: FetchPlan) throws -> Int {
        let request = request(plan, .countResultType)
        return try ask { store, context in
            let found = try store.execute(request, with: context)
            if let numbers = found as? [NSNumber], let count = numbers.first { return count.intValue }
            if let count = found as? Int { return count }
            if let objects = found as? [NSManagedObject] { return objects.count }
            throw wrongResult(found, "a number")
        }
    }

    func forEachTuple(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?, _ body: (FetchTuple) throws -> Void
    ) throws {
        let request = request(plan, .dictionaryResultType)
        request.propertiesToFetch = columns.map { property($0.expression, named: $0.name) }
        request.returnsDistinctResults = distinct
        if !groupBy.isEmpty { request.propertiesToGroupBy = groupBy.map { $0.predicateFormat } }
        request.havingPredicate = having.map { NSPredicate.make(node: $0) }
        let found = try ask { store, context -> [NSDictionary] in
            let found = try store.execute(request, with: context)
            guard let dictionaries = found as? [NSDictionary] else { throw wrongResult(found, "dictionaries") }
            return dictionaries
        }
        for dictionary in found {
            try body(
                FetchTuple(
                    columns.map { column in
                        switch dictionary[column.name] {
                        case let id as NSManagedObjectID: .integer(id.primaryKey)
                        case let value?: value is NSNull ? .null : OperandBridging.scalar(value) ?? .null
                        case nil: .null
                        }
                    }))
        }
    }

    /// A key path by its name, anything else as a description of an expression.
    private func property(_ expression: ExpressionNode, named name: String) -> Any {
        if case .keyPath(.evaluatedObject, let keys) = expression, keys == [name] { return name }
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression.make(node: expression)
        return description
    }

    private func wrongResult(_ result: Any, _ wanted: String) -> CocoaError {
        CoreDataErrors.make(
            NSPersistentStoreOperationError,
            "\(storeName).execute(_:with:) returned a \(type(of: result)), not an array of \(wanted), as the request asks for."
        )
    }

    // MARK: Values

    func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data { Data(stored) }
    func key(ofRowStoring stored: Data, slot: Int, entity: Int) -> RowKey? { nil }

    // MARK: Requests

    /// The plan as the request that it was made of, of the class that code for Apple's framework casts it to.
    private func request(
        _ plan: FetchPlan, _ type: NSFetchRequestResultType
    ) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = runtime.entities[plan.entity].entity
        request.includesSubentities = plan.includesSubentities
        request.resultType = type
        request.predicate = plan.predicate.map { node in
            NSPredicate.make(node: node.mapExpressions { self.naming($0) })
        }
        if !plan.sorts.isEmpty {
            request.sortDescriptors = plan.sorts.map { sort in
                NSSortDescriptor(
                    key: sort.keyPath.joined(separator: "."), ascending: sort.isAscending,
                    selector: sort.comparison == .literal ? nil : Selector(sort.comparison.rawValue))
            }
        }
        request.fetchLimit = plan.limit
        request.fetchOffset = plan.offset
        if let store = attached?.store { request.affectedStores = [store] }
        return request
    }

    /// The expression with IDs in place of rows.
    private func naming(_ expression: ExpressionNode) -> ExpressionNode {
        guard case .constant(let constant) = expression else { return expression }
        return .constant(naming(constant))
    }

    private func naming(_ constant: Constant) -> Constant {
        switch constant {
        case .key(let key?):
            .object(objectID(key.primaryKey, root: runtime.model.entities[key.entity].root))
        case .collection(let members, let isOrdered): .collection(members.map { naming($0) }, isOrdered: isOrdered)
        default: constant
        }
    }
}
