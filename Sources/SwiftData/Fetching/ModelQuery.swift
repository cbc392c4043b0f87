import Foundation
import Observation

/// The results of a fetch, kept up to date: what `@Query` is to views, for programs without SwiftUI.
///
///     let query = try ModelQuery(filter: #Predicate<Trip> { $0.days > 3 }, sort: [SortDescriptor(\.name)], in: context)
///     print(query.results.map(\.name))
///     for await update in query.updates { print(update.difference) }
///
/// It follows unsaved changes of its context and what other contexts and processes save. A query belongs to its context's actor.
///
/// Cost: a change costs what it changes, not the number of results.
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
    private var subscribers: [UUID: AsyncStream<Update>.Continuation] = [:]

    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public init(_ descriptor: FetchDescriptor<Element> = FetchDescriptor(), in context: ModelContext) throws {
        fetch = try FollowedFetch(descriptor, section: nil, in: context) { [weak self] in self?.notify($0) }
    }

    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filter: Predicate<Element>? = nil, sort: [SortDescriptor<Element>] = [], in context: ModelContext
    ) throws {
        try self.init(FetchDescriptor(predicate: filter, sortBy: sort), in: context)
    }

    deinit { subscribers.values.forEach { $0.finish() } }

    /// The results as they are now, in order.
    public var results: [Element] {
        registrar.access(self, keyPath: \.results)
        return fetch?.models ?? []
    }

    /// The changes from now on. The stream ends with the query.
    public var updates: AsyncStream<Update> {
        let (stream, continuation) = AsyncStream.makeStream(of: Update.self)
        let id = UUID()
        subscribers[id] = continuation
        return stream
    }

    private func notify(_ difference: CollectionDifference<PersistentIdentifier>) {
        registrar.withMutation(of: self, keyPath: \.results) {}
        guard !subscribers.isEmpty, let fetch else { return }
        let update = Update(identifiers: fetch.models.map(\.persistentModelID), difference: difference)
        subscribers = subscribers.filter { _, continuation in
            if case .terminated = continuation.yield(update) { return false }
            return true
        }
    }
}
