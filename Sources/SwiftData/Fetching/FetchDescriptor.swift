import CoreDataPredicate
import Foundation

/// Selects the models that a context fetches, their order, and their number.
///
///     var newest = FetchDescriptor<Trip>(
///         predicate: #Predicate { $0.destination == "Oslo" }, sortBy: [SortDescriptor(\.startDate, order: .reverse)])
///     newest.fetchLimit = 20
///     let trips = try context.fetch(newest)
///     // SELECT … FROM ZTRIP t0 WHERE t0.ZDESTINATION = ? ORDER BY t0.ZSTARTDATE DESC LIMIT 20
public struct FetchDescriptor<T: PersistentModel> {
    /// The condition that a model must satisfy; `nil` for all models.
    public var predicate: Predicate<T>?
    /// The order of the results. Models that compare equal come in the order in which they were first saved.
    public var sortBy: [SortDescriptor<T>]
    /// The largest number of results; `nil` for all.
    public var fetchLimit: Int?
    /// The number of results to skip; `nil` for none.
    public var fetchOffset: Int?
    /// Whether unsaved inserts, changes and deletes of the context count.
    public var includePendingChanges = true
    /// The properties to read with the fetch; empty for all. The others are read when they are first used.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// The relationships whose models are read with the fetch, one statement for each.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

// Safe because key paths, predicates and sort descriptors are immutable.
extension FetchDescriptor: @unchecked Sendable {}

extension FetchDescriptor: Equatable {
    /// Two predicates are equal when a store would be asked the same.
    public static func == (a: FetchDescriptor, b: FetchDescriptor) -> Bool {
        a.fetchLimit == b.fetchLimit && a.fetchOffset == b.fetchOffset
            && a.includePendingChanges == b.includePendingChanges && a.sortBy == b.sortBy
            && a.propertiesToFetch == b.propertiesToFetch
            && a.relationshipKeyPathsForPrefetching == b.relationshipKeyPathsForPrefetching
            && areEqual(a.predicate, b.predicate)
    }

    private static func areEqual(_ a: Predicate<T>?, _ b: Predicate<T>?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        let compiler = PredicateCompiler()
        guard let first = try? compiler.node(a), let second = try? compiler.node(b) else { return false }
        return first == second
    }
}
