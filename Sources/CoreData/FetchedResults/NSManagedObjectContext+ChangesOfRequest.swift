import Foundation

extension NSManagedObjectContext {
    /// Returns the results of a request as differences: the first contains all current results, each later one the
    /// changes of an event.
    ///
    ///     for try await difference in context.changes(of: request) {
    ///         ids = ids.applying(difference) ?? ids
    ///     }
    ///
    /// An object that changed and kept its position is removed and inserted there, associated with itself. The sequence
    /// ends when its consumer stops. Differences that were not consumed yet are kept, since each builds on the previous
    /// one. After a `reset()` of the context it continues with the results of a new fetch.
    ///
    /// The request needs sort descriptors; it is copied. It may be called on any queue.
    ///
    /// - Throws: the consumer receives the errors of ``AnyFetchedResultsController/performFetch()``.
    ///
    /// Apple's framework has no such method.
    public nonisolated final func changes<T: NSManagedObject>(
        of request: NSFetchRequest<T>
    ) -> AsyncThrowingStream<CollectionDifference<NSManagedObjectID>, any Error> {
        let copy = Transfer(NSFetchRequest<T>(request))
        return AsyncThrowingStream { continuation in
            let sender = Transfer(DifferenceSender(continuation))
            continuation.onTermination = { _ in self.perform { sender.value.controller = nil } }
            self.perform { sender.value.begin(copy.value, in: self) }
        }
    }
}

/// Passes on the differences of a controller.
private final class DifferenceSender: NSObject, NSFetchedResultsControllerDelegate {
    typealias Continuation = AsyncThrowingStream<CollectionDifference<NSManagedObjectID>, any Error>.Continuation

    private let continuation: Continuation
    /// Used on the context's queue.
    var controller: AnyFetchedResultsController?

    init(_ continuation: Continuation) { self.continuation = continuation }

    func begin<T: NSManagedObject>(_ request: NSFetchRequest<T>, in context: NSManagedObjectContext) {
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        controller.missing = .snapshot
        do {
            try controller.performFetch()
            let found = (controller.list ?? []).enumerated().map { index, object in
                CollectionDifference<NSManagedObjectID>.Change.insert(
                    offset: index, element: object.objectID, associatedWith: nil)
            }
            guard let difference = CollectionDifference(found) else { return continuation.finish() }
            controller.delegate = self
            controller.missing = .snapshot
            self.controller = controller
            context.observers.followers.add(self)
            continuation.yield(difference)
        } catch { continuation.finish(throwing: error) }
    }

    /// Handles a context that has forgotten every object: reports the results of a new fetch as a difference to the
    /// last ones.
    private func fetchAgain(told: [NSManagedObjectID]) {
        guard let controller else { return }
        do {
            try controller.performFetch()
            let difference = (controller.list ?? []).map(\.objectID).difference(from: told)
            if !difference.isEmpty { continuation.yield(difference) }
        } catch { continuation.finish(throwing: error) }
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        continuation.yield(diff)
    }
}

extension DifferenceSender: ChangeFollower {
    func contextDidChange(_ event: ChangeEvent) {}
    func contextDidSave() {}

    func contextDidReset() {
        guard let controller else { return }
        let (told, sender) = ((controller.list ?? []).map(\.objectID), Transfer(self))
        controller.managedObjectContext.perform { sender.value.fetchAgain(told: told) }
    }
}
