import CoreDataModel
import Foundation

// Fetch requests as elements of a model document, in both directions.

extension AnyFetchRequest {
    /// The request as a document has it; a predicate with code in it is left out.
    final func makeElement(name: String) -> FetchRequestElement {
        var element = FetchRequestElement(name: name)
        element.entityName = entityName
        element.predicate = predicate.flatMap { PredicateText.text(of: $0) }
        element.sorts = (sortDescriptors ?? []).compactMap(PredicateText.sort)
        element.fetchLimit = fetchLimit
        element.fetchOffset = fetchOffset
        element.fetchBatchSize = fetchBatchSize
        element.resultType = Int(resultType.rawValue)
        element.includesSubentities = includesSubentities
        element.includesPropertyValues = includesPropertyValues
        element.includesPendingChanges = includesPendingChanges
        element.returnsObjectsAsFaults = returnsObjectsAsFaults
        element.returnsDistinctResults = returnsDistinctResults
        return element
    }

    /// Takes over everything in the element; the entity is known by name only.
    final func adopt(_ element: FetchRequestElement) throws {
        givenEntityName = element.entityName
        predicate = try element.predicate.map { try WrittenPredicate(text: $0).predicate }
        sortDescriptors = element.sorts.isEmpty ? nil : element.sorts.map(PredicateText.sortDescriptor)
        fetchLimit = element.fetchLimit
        fetchOffset = element.fetchOffset
        fetchBatchSize = element.fetchBatchSize
        resultType = NSFetchRequestResultType(rawValue: UInt(clamping: element.resultType))
        includesSubentities = element.includesSubentities
        includesPropertyValues = element.includesPropertyValues
        includesPendingChanges = element.includesPendingChanges
        returnsObjectsAsFaults = element.returnsObjectsAsFaults
        returnsDistinctResults = element.returnsDistinctResults
    }
}

extension NSFetchRequest where ResultType == any NSFetchRequestResult {
    static func make(_ element: FetchRequestElement) throws -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        try request.adopt(element)
        return request
    }
}
