import Foundation

extension NSManagedObjectContext {
    /// What a request finds, as differences: the first has everything that it finds now, each later one what an event changed.
    ///
    ///     for try await difference in context.changes(of: request) {
    ///         ids = ids.applying(difference) ?? ids
    ///     }
    ///
    /// An object that changed and kept its place is removed and inserted there, associated with itself. The sequence ends when
    /// nobody waits for it any more; differences that nobody has taken yet are kept, since each builds on the one before. After a
    /// `reset()` of the context it goes on with what a new fetch finds.
    ///
    /// The request needs sort descriptors; it is copied. It may be called on any queue.
    ///
    /// - Throws: to who waits, what ``AnyFetchedResultsController/performFetch()`` throws.
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

/// Hands on the differences that a controller tells.
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
            context.followers.add(self)
            continuation.yield(difference)
        } catch { continuation.finish(throwing: error) }
    }

    /// The context has forgotten every object: what a new fetch finds is told as a difference to what was told before.
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
