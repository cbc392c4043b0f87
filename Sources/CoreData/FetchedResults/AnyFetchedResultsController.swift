import CoreDataStore
import Foundation

/// A fetched results controller without its result type: everything except its results.
///
/// Swift's generic classes are invariant; see ``NSFetchedResultsController``, which adds the type.
open class AnyFetchedResultsController: NSObject {
    /// The context that fetches, and whose changes the controller follows.
    public final let managedObjectContext: NSManagedObjectContext
    /// The key path whose value names an object's section; `nil` for a single section.
    public final let sectionNameKeyPath: String?
    /// Under which name sections are kept in a file from launch to launch; `nil` for no such file.
    public final let cacheName: String?

    /// The observer of changes. Without a delegate the results stay as they were fetched. Changes that happen meanwhile
    /// are reported with the first change after a delegate is set.
    ///
    /// Differs from Apple: the reference is weak, and becomes nil with the delegate.
    public final weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet { if delegate !== oldValue { missing = [] } }
    }

    let request: AnyFetchRequest
    final var rows: FetchedRows?
    private final var listed: [NSManagedObject]?
    final var translation: FetchTranslation?
    final var dependencies: FetchedDependencies?
    /// The methods that the delegate does not implement, as far as they were called.
    final var missing: DelegateMethods = []
    /// Objects that the next notification examines, each once, and whether they themselves changed.
    final var touched: [NSManagedObject] = []
    final var isChanged: [ObjectIdentifier: Bool] = [:]
    /// Whether rows have to be compared with a new fetch: changes that were not followed, a request with a limit.
    final var isBehind = false
    final var isTelling = false
    /// Rows that were reported under temporary IDs, each with that ID.
    final var temporary: [ObjectIdentifier: (object: NSManagedObject, told: NSManagedObjectID)] = [:]

    init(request: AnyFetchRequest, context: NSManagedObjectContext, sectionNameKeyPath: String?, cacheName: String?) {
        self.request = request
        managedObjectContext = context
        self.sectionNameKeyPath = sectionNameKeyPath.flatMap { $0.isEmpty ? nil : $0 }
        self.cacheName = cacheName
    }

    // MARK: Fetching

    /// Fetches the objects. If there is a delegate, follows the context's changes from then on.
    ///
    /// The request is copied; properties that are set later count with the next call. Without a `fetchBatchSize`, one
    /// statement reads all rows. With one, the keys are read, a statement counts the objects of each section, and rows
    /// are read when they are used.
    ///
    /// - Throws: an error for a request without sort descriptors, for a request for anything but objects, and for
    ///   objects that are not sorted by their sections; and the errors of a fetch. The results are then unchanged.
    public final func performFetch() throws {
        let context = managedObjectContext
        context.checkOwned("performFetch()")
        try CoreDataErrors.converting {
            try checkRequest()
            guard let request = request.copy() as? AnyFetchRequest else {
                throw CoreDataErrors.invalidRequest(
                    "The fetch request of a fetched results controller cannot be copied.")
            }
            request.includesPendingChanges = true
            context.processPendingChanges()
            let coordinator = try context.coordinatorForRequest()
            let runtime = coordinator.runtime
            let translation = try FetchTranslation(request, in: runtime, clock: coordinator.clock)
            let order = try FetchedOrder(translation, sectionPath: sectionNameKeyPath, in: runtime)
            let dependencies = FetchedDependencies(translation, sectionPath: sectionNameKeyPath, in: runtime)
            rows = try fetchRows(translation, order, dependencies)
            self.translation = translation
            self.dependencies = dependencies
        }
        listed = nil
        touched = []
        isChanged = [:]
        isBehind = false
        temporary = [:]
        if let rows { noteTemporary(context.pendingChanges.inserted.filter { rows.place(of: $0) != nil }) }
        context.observers.followers.add(self)
        tellFirst()
    }

    private func checkRequest() throws {
        // None is a choice, too: the objects stay as they come.
        guard request.sortDescriptors != nil else {
            throw CoreDataErrors.invalidRequest(
                "An instance of NSFetchedResultsController requires a fetch request with sort descriptors.")
        }
        guard request.resultType == .managedObjectResultType else {
            throw CoreDataErrors.invalidRequest(
                "NSFetchedResultsController only supports objects: set resultType to .managedObjectResultType.")
        }
    }

    /// The objects of the request; overridden where their class is known.
    func fetchObjects(_ request: AnyFetchRequest) throws -> [NSManagedObject] {
        try managedObjectContext.fetch(NSFetchRequest<NSManagedObject>(request))
    }

    /// Whether the object is of the class that is promised.
    func accepts(_ object: NSManagedObject) -> Bool { true }

    // MARK: What was found

    /// All objects in order; `nil` before the first fetch.
    final var list: [NSManagedObject]? {
        if let listed { return listed }
        listed = rows?.objects
        return listed
    }

    final func forgetList() { listed = nil }

    /// The sections in order; `nil` before the first fetch. Without a key path there is one section, whose name is
    /// empty.
    ///
    /// The sections always show the current objects, also after changes.
    public final var sections: [any NSFetchedResultsSectionInfo]? { rows?.sections }

    final func foundObject(at indexPath: IndexPath) -> NSManagedObject {
        guard let rows else {
            preconditionFailure("A fetched results controller has no objects before performFetch().")
        }
        precondition(
            indexPath.count == 2 && rows.sections.indices.contains(indexPath.section)
                && (0..<rows.sections[indexPath.section].count).contains(indexPath.item),
            "no object at index \(indexPath.last ?? -1) in section at index \(indexPath.first ?? -1)")
        return rows.sections[indexPath.section].object(at: indexPath.item)
    }

    // MARK: Index

    /// The title that stands for a section in an index: by default the first letter of its name, as a capital.
    ///
    /// Override it for others.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        sectionName.first.map { String($0).uppercased() }
    }

    final func indexTitle(ofSection name: String) -> String? {
        guard let delegate else { return sectionIndexTitle(forSectionName: name) }
        return delegate.controller(untyped, sectionIndexTitleForSectionName: name)
    }

    /// The titles of all sections, each once, in their order.
    public final var sectionIndexTitles: [String] {
        var known: Set<String> = []
        return (rows?.sections ?? []).compactMap(\.indexTitle).filter { known.insert($0).inserted }
    }

    /// Returns the section of an index entry: the first one with the title.
    ///
    /// - Precondition: the title is one of ``sectionIndexTitles``.
    public final func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        guard let section = rows?.sections.first(where: { $0.indexTitle == title }) else {
            preconditionFailure("Index title at \(sectionIndex) is not equal to '\(title)'")
        }
        return section.index
    }

    // MARK: Telling

    /// The controller as delegates receive it, without a result type.
    ///
    /// Only the static type differs: results are references, whose class does not matter.
    final var untyped: NSFetchedResultsController<any NSFetchRequestResult> {
        Unmanaged.fromOpaque(Unmanaged.passUnretained(self).toOpaque()).takeUnretainedValue()
    }
}
