import CoreData
import Foundation

/// Fetches the IDs of one page of a sorted list.
///
/// A page behind a place is fetched in up to three parts, each of which an index serves: objects with the same value
/// and a greater key, objects with a greater value, and objects without a value.
struct RowPageFetch {
    let context: NSManagedObjectContext
    let entity: NSEntityDescription
    let predicate: NSPredicate?
    /// `nil` for the order of keys.
    let sort: NSAttributeDescription?
    let isDescending: Bool
    let size: Int

    struct Page {
        var ids: [NSManagedObjectID] = []
        var hasPrevious = false
        var hasNext = false
    }

    func page(_ position: RowQuery.Position) throws -> Page {
        switch position {
        case .first, .after:
            var cursor: RowCursor?
            if case .after(let given) = position { cursor = given }
            let found = try ids(behind: cursor, isReversed: false, limit: size + 1)
            return Page(ids: Array(found.prefix(size)), hasPrevious: cursor != nil, hasNext: found.count > size)
        case .last, .before:
            var cursor: RowCursor?
            if case .before(let given) = position { cursor = given }
            let found = try ids(behind: cursor, isReversed: true, limit: size + 1)
            return Page(ids: found.prefix(size).reversed(), hasPrevious: found.count > size, hasNext: cursor != nil)
        }
    }

    /// Returns the number of objects, or the limit if there are more.
    func count(limit: Int) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = predicate
        request.fetchLimit = limit
        return try context.count(for: request)
    }

    /// Returns the request for all rows in their order.
    func request() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = predicate
        request.sortDescriptors = descriptors(isReversed: false)
        return request
    }

    /// The order by value and key has one direction, so that an index gives it without sorting.
    private func descriptors(isReversed: Bool) -> [NSSortDescriptor] {
        let isAscending = isDescending == isReversed
        return (sort.map { [NSSortDescriptor(key: $0.name, ascending: isAscending)] } ?? [])
            + [NSSortDescriptor(key: "self", ascending: isAscending)]
    }

    private func ids(behind cursor: RowCursor?, isReversed: Bool, limit: Int) throws -> [NSManagedObjectID] {
        guard let cursor else { return try ids(nil, keys: nil, isReversed, limit) }
        let isAscending = isDescending == isReversed
        var keys: ClosedRange<Int64>?
        if isAscending {
            if cursor.key < .max { keys = (cursor.key + 1)...Int64.max }
        } else if cursor.key > 1 {
            keys = 1...(cursor.key - 1)
        }
        guard let sort else { return try keys.map { try ids(nil, keys: $0, isReversed, limit) } ?? [] }
        let value = cursor.value.flatMap { SortedValue.value($0, of: sort) }
        var found: [NSManagedObjectID] = []
        if let keys { found += try ids(condition(sort, .equalTo, value), keys: keys, isReversed, limit) }
        // In ascending order, objects without a value come first.
        var rest: [NSPredicate] = []
        if let value {
            rest.append(condition(sort, isAscending ? .greaterThan : .lessThan, value))
            if !isAscending { rest.append(condition(sort, .equalTo, nil)) }
        } else if isAscending {
            rest.append(condition(sort, .notEqualTo, nil))
        }
        for part in rest where found.count < limit {
            found += try ids(part, keys: nil, isReversed, limit - found.count)
        }
        return found
    }

    private func condition(
        _ attribute: NSAttributeDescription, _ type: NSComparisonPredicate.Operator, _ value: Any?
    ) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: attribute.name),
            rightExpression: NSExpression(forConstantValue: value), modifier: .direct, type: type, options: [])
    }

    private func ids(
        _ condition: NSPredicate?, keys: ClosedRange<Int64>?, _ isReversed: Bool, _ limit: Int
    ) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
        request.resultType = .managedObjectIDResultType
        let conditions = [predicate, condition].compactMap { $0 }
        if !conditions.isEmpty {
            request.predicate =
                conditions.count == 1 ? conditions[0] : NSCompoundPredicate(andPredicateWithSubpredicates: conditions)
        }
        request.sortDescriptors = descriptors(isReversed: isReversed)
        request.fetchLimit = limit
        // Bounds that exclude nothing would make the database search by key and sort what it finds.
        guard let keys else { return try context.fetch(request) }
        return try context.objectIDs(of: request, keys: keys)
    }
}
