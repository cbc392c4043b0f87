import CoreDataPrimitives
import Foundation

/// A row that was changed or deleted by somebody else since the context read it.
///
/// Snapshots have the values of attributes and the IDs of to-one relationships' destinations, by name; nil is `NSNull`.
open class NSMergeConflict: NSObject {
    /// The context's object.
    public let sourceObject: NSManagedObject
    /// The values that the context read.
    public private(set) lazy var objectSnapshot: [String: Any]? = dictionary(of: rows.read)
    /// The coordinator's values: newer than the context's where another context of the coordinator has saved, else as old.
    public private(set) lazy var cachedSnapshot: [String: Any]? = dictionary(of: rows.cached)
    /// The values in the store now, where another coordinator or process wrote them; `nil` when the row is gone, and for
    /// conflicts between contexts of one coordinator.
    public private(set) lazy var persistedSnapshot: [String: Any]? = dictionary(of: rows.persisted)
    /// The version in the store now; 0 when the row is gone.
    public let newVersionNumber: Int
    /// The version that the context read.
    public let oldVersionNumber: Int

    /// What the snapshots show.
    private struct Rows {
        var read: RowSnapshot?
        var cached: RowSnapshot?
        var persisted: RowSnapshot?
    }

    private let rows: Rows
    private let store: AttachedStore?
    /// The row in the store as the save found it; `nil` where it was not looked for, `.some(nil)` where it is gone.
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

    /// Makes a stand-in, where one is wanted: a conflict of an object of no entity.
    public convenience override init() {
        self.init(
            source: NSManagedObject(), newVersion: 0, oldVersion: 0, cachedSnapshot: nil, persistedSnapshot: nil)
    }

    /// The conflict of a save.
    ///
    /// - Parameter cached: what the coordinator had in memory.
    init(
        _ object: NSManagedObject, in store: AttachedStore, expectedVersion: Int32, cached: RowSnapshot?,
        persisted: RowSnapshot?
    ) {
        sourceObject = object
        newVersionNumber = persisted.map { Int($0.version) } ?? 0
        oldVersionNumber = Int(expectedVersion)
        self.store = store
        stored = .some(persisted)
        // Where the coordinator's row is not the context's either, another of its contexts was faster; else somebody who
        // writes to the store by himself.
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

    /// Makes the snapshots now: those of stores that are closed meanwhile could not be made.
    final func takeSnapshots() { _ = (objectSnapshot, cachedSnapshot, persistedSnapshot) }

    open override var description: String {
        "NSMergeConflict for \(sourceObject.objectID) with oldVersion = \(oldVersionNumber) and newVersion = "
            + (newVersionNumber == 0 ? "<deleted>" : "\(newVersionNumber)")
    }
}
