import CoreDataStore
import Foundation

/// A sort descriptor, as far as a store can follow it.
struct SortTerm {
    var key: String
    var isAscending: Bool
    var comparison: FetchPlan.Sort.Comparison

    /// `nil` for a descriptor with code, with a method that no store knows, or without a key (M15).
    init?(_ descriptor: NSSortDescriptor) {
        guard let ordering = descriptor.ordering, let key = ordering.key,
            case .order(let comparison) = ordering.comparison
        else { return nil }
        self.key = key
        isAscending = ordering.ascending
        self.comparison = comparison
    }
}
