import CoreData
import Foundation

/// The results of a fetch that follow a context: unsaved changes, saves of sibling contexts and of other processes.
final class FollowedFetch<Element: PersistentModel> {
    let context: ModelContext
    private let controller: NSFetchedResultsController<NSManagedObject>
    private let delegate = Delegate()

    /// - Parameters:
    ///   - section: the name of the property whose values name the sections; the results are sorted by it first.
    ///   - changed: called after each change of the results.
    init(
        _ descriptor: FetchDescriptor<Element>, section: String?, in context: ModelContext,
        changed: @escaping () -> Void
    ) throws {
        self.context = context
        let request: NSFetchRequest<NSManagedObject> = try FetchCompiler(context).request(
            descriptor, resultType: .managedObjectResultType)
        if let section {
            request.sortDescriptors?.insert(NSSortDescriptor(key: section, ascending: true), at: 0)
        }
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context.managedObjectContext, sectionNameKeyPath: section,
            cacheName: nil)
        delegate.changed = changed
        controller.delegate = delegate
        try controller.performFetch()
    }

    var models: [Element] { objects.compactMap { context.model(for: $0, as: Element.self) } }

    var identifiers: [PersistentIdentifier] { objects.map { context.identifier(of: $0.objectID) } }

    /// The title and the size of each section, in order.
    var sections: [(title: String, count: Int)] {
        (controller.sections ?? []).map { ($0.name, $0.numberOfObjects) }
    }

    /// The current results; a model is made at its first use.
    var collection: FetchResultsCollection<Element> {
        let objects = objects
        return FetchResultsCollection(count: objects.count) { [context] index in
            guard let model = context.model(for: objects[index], as: Element.self) else {
                preconditionFailure("Result \(index) of a fetch of '\(Element.self)' is of another class.")
            }
            return model
        }
    }

    private var objects: [NSManagedObject] { controller.fetchedObjects ?? [] }

    /// Takes the controller's change of its content for the results of models.
    private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
        var changed: () -> Void = {}

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            changed()
        }
    }
}
