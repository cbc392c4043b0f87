import CoreData
import Foundation

/// One fetch from an app's own store: the request to the store, and the work in memory.
struct DataStoreFetch<T: PersistentModel> {
    private let request: AnyFetchRequest
    private var descriptor: FetchDescriptor<T>
    private var filters: Bool
    private var sorts: Bool

    /// - Parameter descriptor: the descriptor from which the request was made; `nil` for the engine's own requests.
    init(_ request: AnyFetchRequest, _ descriptor: FetchDescriptor<T>?) {
        self.request = request
        self.descriptor = descriptor ?? FetchDescriptor<T>()
        filters = descriptor == nil && request.predicate != nil
        sorts = descriptor == nil && !(request.sortDescriptors ?? []).isEmpty
        setWindow()
    }

    /// Whether more is read of the store than was asked for.
    var needsMemory: Bool { filters || sorts || !request.includesSubentities }

    /// The store skips and limits, unless it returns other models than were asked for.
    private mutating func setWindow() {
        descriptor.fetchLimit = !needsMemory && request.fetchLimit > 0 ? request.fetchLimit : nil
        descriptor.fetchOffset = !needsMemory && request.fetchOffset > 0 ? request.fetchOffset : nil
    }

    /// Returns the number of models; `nil` if the store leaves work to be done in memory.
    func count(_ adapter: any DataStoreAdapting, _ state: EditingState) throws -> Int? {
        do { return try adapter.fetchCount(descriptor, state) } catch DataStoreError.preferInMemoryFilter,
            DataStoreError.preferInMemorySort
        {
            return nil
        }
    }

    /// The models, as objects of the context.
    func objects(
        _ adapter: any DataStoreAdapting, _ state: EditingState, _ context: NSManagedObjectContext,
        _ take: (DataStoreRow) throws -> NSManagedObjectID
    ) throws -> [NSManagedObject] {
        var fetch = self
        let found = try fetch.rows(adapter, state)
        for row in found.related { _ = try take(row) }
        var objects = try found.fetched.map { context.object(with: try take($0)) }
        if !request.includesSubentities { objects = objects.filter { $0.entity.name == request.entityName } }
        if fetch.filters, let predicate = request.predicate {
            objects = objects.filter { predicate.evaluate(with: $0) }
        }
        if fetch.sorts { objects = Self.sorted(objects, by: request.sortDescriptors ?? []) }
        guard fetch.needsMemory else { return objects }
        objects = Array(objects.dropFirst(max(request.fetchOffset, 0)))
        return request.fetchLimit > 0 ? Array(objects.prefix(request.fetchLimit)) : objects
    }

    /// Asks the store, and again without the work that it leaves to be done in memory.
    private mutating func rows(
        _ adapter: any DataStoreAdapting, _ state: EditingState
    ) throws -> (fetched: [DataStoreRow], related: [DataStoreRow]) {
        while true {
            do { return try adapter.fetch(descriptor, state) } catch DataStoreError.preferInMemoryFilter
                where descriptor.predicate != nil
            {
                descriptor.predicate = nil
                filters = true
            } catch DataStoreError.preferInMemorySort where !descriptor.sortBy.isEmpty {
                descriptor.sortBy = []
                sorts = true
            }
            setWindow()
        }
    }

    /// Models that compare equal stay in their order.
    private static func sorted(_ objects: [NSManagedObject], by sorts: [NSSortDescriptor]) -> [NSManagedObject] {
        objects.enumerated().sorted { first, second in
            for sort in sorts {
                switch sort.compare(first.element, to: second.element) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return first.offset < second.offset
        }.map(\.element)
    }
}
