import Foundation

/// Shows the results of a fetched results controller, and is notified when they change.
///
/// Implement one of three ways. If several are implemented, the controller uses the first of: a snapshot, a difference
/// (of a controller without sections), the calls for single sections and objects between
/// ``controllerWillChangeContent(_:)`` and ``controllerDidChangeContent(_:)``.
///
///     extension Shelf: NSFetchedResultsControllerDelegate {
///         func controller(
///             _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
///             didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
///         ) {
///             dataSource.apply(NSDiffableDataSourceSnapshot<String, NSManagedObjectID>(snapshot))
///         }
///     }
///
/// Every method is optional. Off Apple's platforms, optional methods of a protocol have default implementations, which
/// tell the controller that they were called: it asks each delegate once for each way.
///
/// Differs from Apple: Swift calls a method only if it is implemented by the class that declares the conformance, not
/// by a subclass alone. `controller === mine` works as there; to cast the controller of a method, see
/// ``NSFetchedResultsController/cast(_:)``.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// The content is about to be told to have changed; the controller has the new one already.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// A section was inserted or deleted; sections are reported before objects. The index of a deleted section is that
    /// before all changes, of an inserted one that after all changes.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)

    /// An object was inserted, deleted, moved or changed. `indexPath` is its position before all changes, nil for an
    /// insertion; `newIndexPath` is its position after all changes, nil for a deletion and an update.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// All changes of an event have been told.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// The title that stands for a section in an index; without an implementation
    /// ``AnyFetchedResultsController/sectionIndexTitle(forSectionName:)`` says.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?

    /// The content after a change, and after the first fetch: names of sections and IDs of objects.
    ///
    /// Objects that changed and kept their place are marked as reloaded.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// What changed, for a controller without sections.
    ///
    /// An object that changed and kept its place is removed and inserted there.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
}

/// The methods of a delegate that a controller looks for.
struct DelegateMethods: OptionSet {
    let rawValue: UInt8

    static let snapshot = DelegateMethods(rawValue: 1)
    static let difference = DelegateMethods(rawValue: 2)
}

extension NSFetchedResultsControllerDelegate {
    /// Does nothing.
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    /// Does nothing.
    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// Returns the controller's own title for the section.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        controller.sectionIndexTitle(forSectionName: sectionName)
    }

    /// Does nothing; a delegate that implements it receives snapshots.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        controller.missing.insert(.snapshot)
    }

    /// Does nothing; a delegate that implements it receives differences.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        controller.missing.insert(.difference)
    }
}
