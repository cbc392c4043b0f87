import CoreDataPrimitives
import Foundation

/// A row that another writer changed or deleted since the context read it.
///
/// Snapshots contain the values of attributes and the IDs of to-one destinations, by name; nil is `NSNull`.
open class NSMergeConflict: NSObject {
    /// The context's object.
    public let sourceObject: NSManagedObject
    /// The values that the context read.
    public private(set) lazy var objectSnapshot: [String: Any]? = dictionary(of: rows.read)
    /// The coordinator's values: newer than the context's where another context of the coordinator has saved, else as
    /// old.
    public private(set) lazy var cachedSnapshot: [String: Any]? = dictionary(of: rows.cached)
    /// The values in the store now, if another coordinator or process wrote them; `nil` if the row was deleted, and for
    /// conflicts between contexts of one coordinator.
    public private(set) lazy var persistedSnapshot: [String: Any]? = dictionary(of: rows.persisted)
    /// The version in the store now; 0 if the row was deleted.
    public let newVersionNumber: Int
    /// The version that the context read.
    public let oldVersionNumber: Int

    /// The rows that the snapshots show.
    private struct Rows {
        var read: RowSnapshot?
        var cached: RowSnapshot?
        var persisted: RowSnapshot?
    }

    private let rows: Rows
    private let store: AttachedStore?
    /// The row in the store as the save found it; `nil` if it was not looked up, `.some(nil)` if it was deleted.
    final let stored: RowSnapshot??

    /// Makes a conflict of your own, to be given to a merge policy.
    public init(
        source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
        cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
    ) {
        sourceObject = srcObject
        newVersionNumber = newvers
        oldVersionNumber = oldvers
        store = srcObject.home.store
        rows = Rows(read: srcObject.row)
        stored = nil
        super.init()
        cachedSnapshot = cachesnap
        persistedSnapshot = persnap
    }

    /// Creates a placeholder: a conflict of an object without an entity.
    public convenience override init() {
        self.init(
            source: NSManagedObject(), newVersion: 0, oldVersion: 0, cachedSnapshot: nil, persistedSnapshot: nil)
    }

    /// Creates the conflict of a save.
    ///
    /// - Parameter cached: the row in the coordinator's cache.
    init(
        _ object: NSManagedObject, in store: AttachedStore, expectedVersion: Int32, cached: RowSnapshot?,
        persisted: RowSnapshot?
    ) {
        sourceObject = object
        newVersionNumber = persisted.map { Int($0.version) } ?? 0
        oldVersionNumber = Int(expectedVersion)
        self.store = store
        stored = .some(persisted)
        // If the coordinator's row also differs from the context's, another context of the coordinator saved first;
        // otherwise another coordinator or process did.
        let isWithinCoordinator = cached?.version != expectedVersion
        rows = Rows(
            read: object.row, cached: isWithinCoordinator ? persisted : cached,
            persisted: isWithinCoordinator ? nil : persisted)
        super.init()
    }

    private func dictionary(of row: RowSnapshot?) -> [String: Any]? {
        guard let store else { return nil }
        return row.map { store.dictionary(of: $0) }
    }

    /// Creates the snapshots now: a store may be closed later.
    final func takeSnapshots() { _ = (objectSnapshot, cachedSnapshot, persistedSnapshot) }

    open override var description: String {
        "NSMergeConflict for \(sourceObject.objectID) with oldVersion = \(oldVersionNumber) and newVersion = "
            + (newVersionNumber == 0 ? "<deleted>" : "\(newVersionNumber)")
    }
}
