import Foundation

/// How conflicts of a save are resolved.
public enum NSMergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// What a save does about rows that somebody else changed meanwhile.
///
/// Differs from Apple: only ``error`` exists yet.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    // Safe because it has no state but the type, set once.

    /// Throws error 133020 (or 133021 for a uniqueness constraint) with the conflicts in `conflictList`.
    public static let error = NSMergePolicy(merge: .errorMergePolicyType)

    public let mergeType: NSMergePolicyType

    init(merge type: NSMergePolicyType) {
        mergeType = type
        super.init()
    }
}

/// A row that was changed or deleted by somebody else since the context read it.
open class NSMergeConflict: NSObject {
    /// The context's object.
    public let sourceObject: NSManagedObject
    /// The values that the context read, by property.
    public let objectSnapshot: [String: Any]?
    /// The coordinator's values: newer than the context's where another context of the coordinator has saved, else as old.
    public let cachedSnapshot: [String: Any]?
    /// The values in the store now, where another coordinator or process wrote them; `nil` when the row is gone, and for
    /// conflicts between contexts of one coordinator.
    public let persistedSnapshot: [String: Any]?
    /// The version in the store now; 0 when the row is gone (I2).
    public let newVersionNumber: Int
    /// The version that the context read.
    public let oldVersionNumber: Int

    public init(
        source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
        cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
    ) {
        sourceObject = srcObject
        newVersionNumber = newvers
        oldVersionNumber = oldvers
        objectSnapshot = srcObject.committedValues(forKeys: nil)
        cachedSnapshot = cachesnap
        persistedSnapshot = persnap
        super.init()
    }

    open override var description: String {
        "NSMergeConflict for \(sourceObject.objectID) with oldVersion = \(oldVersionNumber) and newVersion = "
            + (newVersionNumber == 0 ? "<deleted>" : "\(newVersionNumber)")
    }
}

/// Objects that would have the same values of a uniqueness constraint.
open class NSConstraintConflict: NSObject {
    /// The names of the constraint's properties.
    public let constraint: [String]
    public let constraintValues: [String: Any]
    /// The object of the row that has the values already; `nil` when objects of the context conflict (I9).
    public let databaseObject: NSManagedObject?
    public let databaseSnapshot: [String: Any]?
    public let conflictingObjects: [NSManagedObject]
    public let conflictingSnapshots: [[AnyHashable: Any]]

    public init(
        constraint contraint: [String], database databaseObject: NSManagedObject?,
        databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
        conflictingSnapshots: [Any]
    ) {
        constraint = contraint
        self.databaseObject = databaseObject
        self.databaseSnapshot = databaseSnapshot as? [String: Any]
        self.conflictingObjects = conflictingObjects
        self.conflictingSnapshots = conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] }
        constraintValues = Dictionary(
            contraint.map { ($0, conflictingObjects.first?.value(forKey: $0) ?? NSNull()) },
            uniquingKeysWith: { first, _ in first })
        super.init()
    }
}
