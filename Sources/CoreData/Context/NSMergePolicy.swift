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
///     try context.save()      // a row that others changed meanwhile gets what was set here, and keeps what only they set
///
/// A save that meets conflicts shows them to the context's policy. The policy changes the context's objects, and the save
/// is tried again, without calling `willSave` once more, until nothing is in the way. What a policy changed is validated again, since
/// merged values can contradict one another. Where the policy or validation throws, or the save fails for another reason, store and
/// context are as they were before the save.
///
/// | | changed here only | there only | here and there | deleted there | deleted here, changed there |
/// | --- | --- | --- | --- | --- | --- |
/// | ``mergeByPropertyStoreTrump`` | here | there | there | deleted | not deleted |
/// | ``mergeByPropertyObjectTrump`` | here | there | here | inserted again | deleted |
/// | ``overwrite`` | here | here | here | inserted again | deleted |
/// | ``rollback`` | there | there | there | deleted | not deleted |
///
/// To-many relationships are merged member by member under each of them: what was added or removed here or there is added or
/// removed; of an ordered one that was reordered here and there the winner's order is kept. Under ``rollback`` what was done here to a
/// many-to-many relationship of an object in conflict is taken back.
///
/// To make a policy of your own, override one of the `resolve` methods, and change objects before or after calling `super`:
///
///     final class Newest: NSMergePolicy {
///         override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
///             try super.resolve(optimisticLockingConflicts: list)
///             for conflict in list { conflict.sourceObject.setValue(Date(), forKey: "mergedAt") }
///         }
///     }
///     context.mergePolicy = Newest(merge: .mergeByPropertyObjectTrumpMergePolicyType)
///
/// Whoever overrides one without `super` has to resolve all of the conflicts: e.g. `refresh(_:mergeChanges:)` takes the store's row
/// under the object's changes. What he leaves is error 133020 or 133021.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    // Safe because it has no state but the type, set once.

    private static let errorPolicy = NSMergePolicy(merge: .errorMergePolicyType)
    private static let storeTrumpPolicy = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    private static let objectTrumpPolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    private static let overwritePolicy = NSMergePolicy(merge: .overwriteMergePolicyType)
    private static let rollbackPolicy = NSMergePolicy(merge: .rollbackMergePolicyType)

    /// Throws error 133020 (or 133021 for a uniqueness constraint) with the conflicts in `conflictList`.
    public class var error: NSMergePolicy { errorPolicy }
    /// Property by property, what others changed wins; what only this context changed is saved.
    public class var mergeByPropertyStoreTrump: NSMergePolicy { storeTrumpPolicy }
    /// Property by property, what this context changed wins; what only others changed stays.
    public class var mergeByPropertyObjectTrump: NSMergePolicy { objectTrumpPolicy }
    /// The object as the context has it wins, also where only others changed it.
    public class var overwrite: NSMergePolicy { overwritePolicy }
    /// What the store has wins: changes of objects in conflict are given up, the others are saved.
    public class var rollback: NSMergePolicy { rollbackPolicy }

    private let type: NSMergePolicyType

    /// Whether it is no subclass's, and what the context has wins over what the store has.
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

    /// Makes a stand-in, where one is wanted: a policy of the error type.
    public convenience override init() { self.init(merge: .errorMergePolicyType) }

    /// Resolves conflicts of both kinds, or throws the error that the save shall throw.
    ///
    /// Calls ``resolve(optimisticLockingConflicts:)``, then ``resolve(constraintConflicts:)``, each where there are conflicts of
    /// that kind. A save shows those of the first kind until none is left, then those of the second.
    open func resolve(mergeConflicts list: [Any]) throws {
        let rows = list.compactMap { $0 as? NSMergeConflict }
        if !rows.isEmpty { try resolve(optimisticLockingConflicts: rows) }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Resolves conflicts over rows that somebody else changed: changes the conflicts' objects, writes nothing.
    ///
    /// - Throws: under ``error`` 133020.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        if mergeType == .errorMergePolicyType { throw CoreDataErrors.merge(list, self) }
        for (context, conflicts) in Self.byContext(list, { $0.sourceObject }) {
            try RowConflictResolution(context, mergeType).resolve(conflicts)
        }
    }

    /// Resolves conflicts over values that must be unique: changes the conflicts' objects, writes nothing.
    ///
    /// Under ``mergeByPropertyObjectTrump`` and ``overwrite`` the row that has the values takes what was set on the new object, and
    /// keeps the rest; under the others it stays as it is. The new object leaves the context, and whoever referred to it refers to
    /// the row's object. Of new objects with the same values the first one stays, as the row's would.
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
