import Foundation

/// How conflicts of a save are resolved.
public enum NSMergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// What a save does about rows that somebody else changed meanwhile, and about values that must be unique.
///
///     context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
///
/// Differs from Apple: the policies other than ``error`` can be set, but do not resolve anything yet. A save that meets a
/// conflict throws as under ``error``, and the error names the policy; nothing is written.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    // Safe because it has no state but the type, set once.

    private static let errorPolicy = NSMergePolicy(merge: .errorMergePolicyType)
    private static let storeTrumpPolicy = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    private static let objectTrumpPolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    private static let overwritePolicy = NSMergePolicy(merge: .overwriteMergePolicyType)
    private static let rollbackPolicy = NSMergePolicy(merge: .rollbackMergePolicyType)

    /// Throws error 133020 (or 133021 for a uniqueness constraint) with the conflicts in `conflictList`.
    public class var error: NSMergePolicy { errorPolicy }
    /// Property by property, what the store has wins. Not supported yet.
    public class var mergeByPropertyStoreTrump: NSMergePolicy { storeTrumpPolicy }
    /// Property by property, what the context has wins. Not supported yet.
    public class var mergeByPropertyObjectTrump: NSMergePolicy { objectTrumpPolicy }
    /// What the context has wins. Not supported yet.
    public class var overwrite: NSMergePolicy { overwritePolicy }
    /// What the store has wins. Not supported yet.
    public class var rollback: NSMergePolicy { rollbackPolicy }

    private let type: NSMergePolicyType

    /// Which policy it is, or which it is derived from.
    open var mergeType: NSMergePolicyType { type }

    /// Makes a policy of that type; subclasses build on it.
    public init(merge ty: NSMergePolicyType) {
        type = ty
        super.init()
    }

    /// Resolves conflicts of both kinds, or throws the error that the save shall throw.
    ///
    /// Differs from Apple: it always throws, and so does the save when an override does not.
    open func resolve(mergeConflicts list: [Any]) throws {
        let rows = list.compactMap { $0 as? NSMergeConflict }
        if !rows.isEmpty { try resolve(optimisticLockingConflicts: rows) }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Resolves conflicts over rows that somebody else changed; see ``resolve(mergeConflicts:)``.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        throw CoreDataErrors.merge(list, self)
    }

    /// Resolves conflicts over values that must be unique; see ``resolve(mergeConflicts:)``.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        throw CoreDataErrors.constraint(list, self)
    }

    /// The name of Apple's constant for the policy; of a subclass, the class and that name.
    open override var description: String {
        let name =
            switch mergeType {
            case .errorMergePolicyType: "NSErrorMergePolicy"
            case .mergeByPropertyStoreTrumpMergePolicyType: "NSMergeByPropertyStoreTrumpMergePolicy"
            case .mergeByPropertyObjectTrumpMergePolicyType: "NSMergeByPropertyObjectTrumpMergePolicy"
            case .overwriteMergePolicyType: "NSOverwriteMergePolicy"
            case .rollbackMergePolicyType: "NSRollbackMergePolicy"
            }
        return Swift.type(of: self) == NSMergePolicy.self ? name : "\(Swift.type(of: self)) (\(name))"
    }
}

/// The policy that throws on every conflict: error 133020 with the list of conflicts.
public var NSErrorMergePolicy: AnyObject { NSMergePolicy.error }
/// See ``NSMergePolicy/mergeByPropertyStoreTrump``.
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyStoreTrump }
/// See ``NSMergePolicy/mergeByPropertyObjectTrump``.
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyObjectTrump }
/// See ``NSMergePolicy/overwrite``.
public var NSOverwriteMergePolicy: AnyObject { NSMergePolicy.overwrite }
/// See ``NSMergePolicy/rollback``.
public var NSRollbackMergePolicy: AnyObject { NSMergePolicy.rollback }

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
    /// The version in the store now; 0 when the row is gone.
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
    /// The values that are taken, by the names of the constraint's properties.
    public let constraintValues: [String: Any]
    /// The object of the row that has the values already; `nil` when objects of the context conflict.
    public let databaseObject: NSManagedObject?
    /// The values of the row that has them already; `nil` where new objects are in conflict with one another.
    public let databaseSnapshot: [String: Any]?
    /// The objects that would have the values too.
    public let conflictingObjects: [NSManagedObject]
    /// The values of each of these objects as it was read.
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
