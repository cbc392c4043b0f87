import Foundation

/// How conflicts of a save are resolved.
public enum NSMergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// Decides what a save does about rows that another writer changed meanwhile, and about values that must be unique.
///
///     context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
///     try context.save()      // a changed row gets the values set here, and keeps the other writer's other changes
///
/// A save with conflicts passes them to the context's policy. The policy changes the context's objects, and the save is
/// repeated, without another `willSave`, until no conflict is left. Objects that a policy changed are validated again,
/// since merged values can contradict each other. If the policy or validation throws, or the save fails for another
/// reason, store and context are unchanged.
///
/// | | changed here only | there only | here and there | deleted there | deleted here, changed there |
/// | --- | --- | --- | --- | --- | --- |
/// | ``mergeByPropertyStoreTrump`` | here | there | there | deleted | not deleted |
/// | ``mergeByPropertyObjectTrump`` | here | there | here | inserted again | deleted |
/// | ``overwrite`` | here | here | here | inserted again | deleted |
/// | ``rollback`` | there | there | there | deleted | not deleted |
///
/// Every policy merges to-many relationships member by member: additions and removals of both sides count. If both
/// sides reordered an ordered relationship, the winner's order counts. Under ``rollback``, changes of this context to a
/// many-to-many relationship of an object in conflict are discarded.
///
/// To write your own policy, override one of the `resolve` methods, and change objects before or after calling `super`:
///
///     final class Newest: NSMergePolicy {
///         override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
///             try super.resolve(optimisticLockingConflicts: list)
///             for conflict in list { conflict.sourceObject.setValue(Date(), forKey: "mergedAt") }
///         }
///     }
///     context.mergePolicy = Newest(merge: .mergeByPropertyObjectTrumpMergePolicyType)
///
/// An override that does not call `super` must resolve all conflicts. For example, `refresh(_:mergeChanges:)` puts the
/// store's row under the object's changes. Unresolved conflicts are error 133020 or 133021.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    // Safe because it has no state but the type, set once.

    private static let errorPolicy = NSMergePolicy(merge: .errorMergePolicyType)
    private static let storeTrumpPolicy = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    private static let objectTrumpPolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    private static let overwritePolicy = NSMergePolicy(merge: .overwriteMergePolicyType)
    private static let rollbackPolicy = NSMergePolicy(merge: .rollbackMergePolicyType)

    /// Throws error 133020 (or 133021 for a uniqueness constraint) with the conflicts in `conflictList`.
    public class var error: NSMergePolicy { errorPolicy }
    /// Property by property, changes of other writers win; other changes of this context are saved.
    public class var mergeByPropertyStoreTrump: NSMergePolicy { storeTrumpPolicy }
    /// Property by property, changes of this context win; other changes of other writers stay.
    public class var mergeByPropertyObjectTrump: NSMergePolicy { objectTrumpPolicy }
    /// The context's object wins, also for properties that only other writers changed.
    public class var overwrite: NSMergePolicy { overwritePolicy }
    /// The store wins: changes of objects in conflict are discarded, other changes are saved.
    public class var rollback: NSMergePolicy { rollbackPolicy }

    private let type: NSMergePolicyType

    /// Whether it is not a subclass, and the context wins over the store.
    final var isPlainAndMine: Bool {
        Swift.type(of: self) == NSMergePolicy.self
            && (type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType)
    }

    /// Which policy it is, or which it is derived from.
    open var mergeType: NSMergePolicyType { type }

    /// Makes a policy of that type; subclasses build on it.
    public init(merge ty: NSMergePolicyType) {
        type = ty
        super.init()
    }

    /// Creates a placeholder: a policy of the error type.
    public convenience override init() { self.init(merge: .errorMergePolicyType) }

    /// Resolves conflicts of both kinds, or throws the error of the save.
    ///
    /// Calls ``resolve(optimisticLockingConflicts:)``, then ``resolve(constraintConflicts:)``, each only if there are
    /// conflicts of that kind. A save first passes conflicts of the first kind until none is left, then those of the
    /// second.
    open func resolve(mergeConflicts list: [Any]) throws {
        let rows = list.compactMap { $0 as? NSMergeConflict }
        if !rows.isEmpty { try resolve(optimisticLockingConflicts: rows) }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Resolves conflicts of rows that another writer changed: changes the conflicts' objects, writes nothing.
    ///
    /// - Throws: under ``error`` 133020.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        if mergeType == .errorMergePolicyType { throw CoreDataErrors.merge(list, self) }
        for (context, conflicts) in Self.byContext(list, { $0.sourceObject }) {
            try RowConflictResolution(context, mergeType).resolve(conflicts)
        }
    }

    /// Resolves conflicts of values that must be unique: changes the conflicts' objects, writes nothing.
    ///
    /// Under ``mergeByPropertyObjectTrump`` and ``overwrite``, the row with the values gets the values that were set on
    /// the new object, and keeps the others; under the other policies it stays unchanged. The new object leaves the
    /// context, and references to it are redirected to the row's object. Of new objects with equal values the first one
    /// survives.
    ///
    /// - Throws: under ``error`` 133021.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        if mergeType == .errorMergePolicyType { throw CoreDataErrors.constraint(list, self) }
        for (context, conflicts) in Self.byContext(list, { $0.conflictingObjects.first ?? $0.databaseObject }) {
            try ConstraintConflictResolution(context, mergeType).resolve(conflicts)
        }
    }

    /// The conflicts of each context; most often there is one.
    private static func byContext<Conflict>(
        _ list: [Conflict], _ object: (Conflict) -> NSManagedObject?
    ) -> [(NSManagedObjectContext, [Conflict])] {
        var groups: [(context: NSManagedObjectContext, conflicts: [Conflict])] = []
        for conflict in list {
            guard let context = object(conflict)?.managedObjectContext else { continue }
            if let last = groups.indices.last, groups[last].context === context {
                groups[last].conflicts.append(conflict)
            } else if let place = groups.firstIndex(where: { $0.context === context }) {
                groups[place].conflicts.append(conflict)
            } else {
                groups.append((context, [conflict]))
            }
        }
        return groups
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
