import Foundation

/// Who shows what a fetched results controller found, and is told when it changes.
///
/// Implement one way of three; where there are several the controller takes the first that it finds: a snapshot, a difference
/// (of a controller without sections), or the calls for single sections and objects between ``controllerWillChangeContent(_:)`` and
/// ``controllerDidChangeContent(_:)``.
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
/// Every method is optional. Off Apple's platforms a protocol's optional methods are ones with default implementations, which
/// tell the controller that they were called: it asks each delegate once for each way.
///
/// Differs from Apple: Swift takes a method for the delegate's where the class implements it that declares the conformance; one
/// that only a subclass has is not called. `controller === mine` works as there; to cast the controller that a
/// method is given, see ``NSFetchedResultsController/cast(_:)``.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// The content is about to be told to have changed; the controller has the new one already.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// A section came or went; sections come before objects. The index of a deleted section is that before all changes, of an
    /// inserted one that after all of them.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)

    /// An object came, went, moved or changed. `indexPath` is its place before all changes, nil for an insertion;
    /// `newIndexPath` is its place after all of them, nil for a deletion and an update.
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

    /// The title that the controller has for the section by itself.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        controller.sectionIndexTitle(forSectionName: sectionName)
    }

    /// Does nothing; whoever implements it is told by snapshots.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        controller.missing.insert(.snapshot)
    }

    /// Does nothing; whoever implements it is told by differences.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        controller.missing.insert(.difference)
    }
}
