import CoreDataPredicate
import Foundation

extension AnyFetchRequest {
    /// A summary of the request for logs, without settings that have their defaults.
    final var summary: String {
        var parts = ["entity: \(entityName ?? "none")"]
        if let predicate { parts.append("predicate: \(predicate.node.predicateFormat)") }
        if let sortDescriptors, !sortDescriptors.isEmpty {
            parts.append("sortDescriptors: " + sortDescriptors.map(\.description).joined(separator: ", "))
        }
        if fetchLimit > 0 { parts.append("limit: \(fetchLimit)") }
        if fetchOffset > 0 { parts.append("offset: \(fetchOffset)") }
        if fetchBatchSize > 0 { parts.append("batch size: \(fetchBatchSize)") }
        parts.append("type: \(resultType.name)")
        if let propertiesToFetch { parts.append("propertiesToFetch: \(Self.names(propertiesToFetch))") }
        if let propertiesToGroupBy { parts.append("propertiesToGroupBy: \(Self.names(propertiesToGroupBy))") }
        if let havingPredicate { parts.append("havingPredicate: \(havingPredicate.node.predicateFormat)") }
        if returnsDistinctResults { parts.append("distinct") }
        if !includesSubentities { parts.append("without subentities") }
        if !includesPendingChanges { parts.append("without pending changes") }
        if let paths = relationshipKeyPathsForPrefetching, !paths.isEmpty {
            parts.append("prefetching: " + paths.joined(separator: ", "))
        }
        return "(" + parts.joined(separator: "; ") + ")"
    }

    private static func names(_ properties: [Any]) -> String {
        properties.map { ($0 as? NSPropertyDescription)?.path ?? "\($0)" }.joined(separator: ", ")
    }
}

extension NSFetchRequestResultType {
    /// Its name in Apple's Objective-C API.
    fileprivate var name: String {
        switch self {
        case .managedObjectResultType: "NSManagedObjectResultType"
        case .managedObjectIDResultType: "NSManagedObjectIDResultType"
        case .dictionaryResultType: "NSDictionaryResultType"
        case .countResultType: "NSCountResultType"
        default: "\(rawValue)"
        }
    }
}
