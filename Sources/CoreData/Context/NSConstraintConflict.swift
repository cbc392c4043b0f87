import Foundation

/// Objects that would have the same values of a uniqueness constraint.
///
/// One for each row that has the values already (``databaseObject``) and object that would have them too, or one for
/// all objects of a save that would have the same values.
open class NSConstraintConflict: NSObject {
    /// The names of the constraint's properties.
    public let constraint: [String]
    /// The values that are taken, by the names of the constraint's properties.
    public private(set) lazy var constraintValues: [String: Any] = Dictionary(
        constraint.map { ($0, conflictingObjects.first?.value(forKey: $0) ?? NSNull()) },
        uniquingKeysWith: { first, _ in first })
    /// The object of the row that has the values already; `nil` when objects of the context conflict.
    public let databaseObject: NSManagedObject?
    /// The values of the row that has them already; `nil` where new objects are in conflict with one another.
    public private(set) lazy var databaseSnapshot: [String: Any]? = databaseObject?.committedValues(
        forKeys: databaseObject?.attributeNames)
    /// The objects that would have the values too.
    public let conflictingObjects: [NSManagedObject]
    /// The values that each of these objects has of the constraint's properties.
    public private(set) lazy var conflictingSnapshots: [[AnyHashable: Any]] = conflictingObjects.map {
        $0.dictionaryWithValues(forKeys: constraint)
    }

    /// Makes a conflict of your own, to be given to a merge policy.
    public init(
        constraint contraint: [String], database databaseObject: NSManagedObject?,
        databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
        conflictingSnapshots: [Any]
    ) {
        constraint = contraint
        self.databaseObject = databaseObject
        self.conflictingObjects = conflictingObjects
        super.init()
        self.databaseSnapshot = databaseSnapshot as? [String: Any]
        self.conflictingSnapshots = conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] }
        _ = constraintValues
    }

    /// Creates a placeholder: a conflict without a constraint and objects.
    public convenience override init() { self.init(constraint: [], database: nil, conflicting: []) }

    /// The conflict of a save; its snapshots are made when they are asked for.
    init(constraint: [String], database: NSManagedObject?, conflicting: [NSManagedObject]) {
        self.constraint = constraint
        databaseObject = database
        conflictingObjects = conflicting
        super.init()
    }

    open override var description: String {
        let names = constraint.joined(separator: ", ")
        let objects = conflictingObjects.map { "\($0.objectID)" }.joined(separator: ", ")
        let row = databaseObject.map { "the row of \($0.objectID)" } ?? "no row"
        return "NSConstraintConflict for constraint (\(names)) with conflicting objects = (\(objects)) and \(row)"
    }

    /// Makes the snapshots now, before a policy changes the objects.
    final func takeSnapshots() { _ = (constraintValues, databaseSnapshot, conflictingSnapshots) }
}

extension NSManagedObject {
    fileprivate var attributeNames: [String] {
        runtime.slots.lazy.filter { $0.attribute != nil && $0.property.composite == nil }.map(\.name)
    }
}
