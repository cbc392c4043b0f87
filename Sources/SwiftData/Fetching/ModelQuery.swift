import Foundation
import Observation

/// The results of a fetch, kept up to date: the counterpart of `@Query` for programs without SwiftUI.
///
///     let query = try ModelQuery(filter: #Predicate<Trip> { $0.days > 3 }, sort: [SortDescriptor(\.name)], in: context)
///     print(query.results.map(\.name))
///     for await update in query.updates { print(update.difference) }
///
/// It follows unsaved changes of its context, and the saves of other contexts and processes. A query belongs to its
/// context's actor.
///
/// Cost: without a subscriber to `updates`, a change costs as much as its size; with one, a step for each result.
///
/// Not in Apple's API.
public final class ModelQuery<Element: PersistentModel>: Observable {
    /// A change of the results.
    public struct Update: Sendable {
        /// The results after the change, in order.
        public let identifiers: [PersistentIdentifier]
        /// Which identifiers were inserted and removed. It is empty where results changed and kept their places.
        public let difference: CollectionDifference<PersistentIdentifier>
    }

    private let registrar = ObservationRegistrar()
    private var fetch: FollowedFetch<Element>?
    private var subscribers: [AsyncStream<Update>.Continuation] = []
    /// The results that the subscribers know.
    private var told: [PersistentIdentifier] = []

    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public init(_ descriptor: FetchDescriptor<Element> = FetchDescriptor(), in context: ModelContext) throws {
        fetch = try FollowedFetch(descriptor, section: nil, in: context) { [weak self] in self?.notify() }
    }

    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filter: Predicate<Element>? = nil, sort: [SortDescriptor<Element>] = [], in context: ModelContext
    ) throws {
        try self.init(FetchDescriptor(predicate: filter, sortBy: sort), in: context)
    }

    deinit { subscribers.forEach { $0.finish() } }

    /// The current results, in order.
    public var results: [Element] {
        registrar.access(self, keyPath: \.results)
        return fetch?.models ?? []
    }

    /// The changes from now on. The stream ends with the query.
    public var updates: AsyncStream<Update> {
        let (stream, continuation) = AsyncStream.makeStream(of: Update.self)
        if subscribers.isEmpty { told = fetch?.identifiers ?? [] }
        subscribers.append(continuation)
        return stream
    }

    private func notify() {
        registrar.withMutation(of: self, keyPath: \.results) {}
        guard !subscribers.isEmpty, let identifiers = fetch?.identifiers else { return }
        let update = Update(identifiers: identifiers, difference: identifiers.difference(from: told))
        told = identifiers
        subscribers.removeAll { continuation in
            if case .terminated = continuation.yield(update) { true } else { false }
        }
    }
}
