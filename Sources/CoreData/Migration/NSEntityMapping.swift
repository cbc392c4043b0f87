import Foundation

/// What becomes of objects with an entity mapping.
public enum NSEntityMappingType: UInt, Sendable {
    /// As the source and destination entity tell.
    case undefinedEntityMappingType = 0
    /// As a policy does it; see ``NSEntityMapping/entityMigrationPolicyClassName``.
    case customEntityMappingType = 1
    /// The destination entity is new: there are no objects.
    case addEntityMappingType = 2
    /// The source entity's objects are left behind.
    case removeEntityMappingType = 3
    /// Both entities are the same.
    case copyEntityMappingType = 4
    /// Objects get other values.
    case transformEntityMappingType = 5
}

/// How objects of one entity of the older model become objects of the newer one.
///
///     let mapping = NSEntityMapping()
///     mapping.sourceEntityName = "Book"
///     mapping.destinationEntityName = "Publication"
///     mapping.mappingType = .transformEntityMappingType
open class NSEntityMapping: NSObject {
    private var givenName: String?

    /// The name, by which other mappings refer to this one; `Book->Publication` by default.
    open var name: String! {
        get { givenName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
        set { givenName = newValue }
    }
    /// What becomes of the objects.
    open var mappingType = NSEntityMappingType.undefinedEntityMappingType
    /// The entity in the older model; `nil` for one that is added.
    open var sourceEntityName: String?
    /// The entity's version hash in the older model.
    open var sourceEntityVersionHash: Data?
    /// The entity in the newer model; `nil` for one that is removed.
    open var destinationEntityName: String?
    /// The entity's version hash in the newer model.
    open var destinationEntityVersionHash: Data?
    /// The attributes that get values; `nil` for those with the same name in both entities.
    open var attributeMappings: [NSPropertyMapping]?
    /// The relationships that get members; `nil` for none.
    open var relationshipMappings: [NSPropertyMapping]?
    /// Selects the source objects: a FETCH in the source's context. Without one all objects of the source entity are
    /// selected.
    open var sourceExpression: NSExpression?
    /// Values that the user stores with the mapping.
    open var userInfo: [AnyHashable: Any]?
    /// The name of the ``NSEntityMigrationPolicy`` subclass that does the work, with or without its module.
    open var entityMigrationPolicyClassName: String?

    /// Mappings are equal when the same becomes of the same objects.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityMapping else { return false }
        return self === other
            || (name == other.name && mappingType == other.mappingType && sourceEntityName == other.sourceEntityName
                && sourceEntityVersionHash == other.sourceEntityVersionHash
                && destinationEntityName == other.destinationEntityName
                && destinationEntityVersionHash == other.destinationEntityVersionHash
                && attributeMappings == other.attributeMappings && relationshipMappings == other.relationshipMappings
                && ContentEquality.areEqual(sourceExpression, other.sourceExpression)
                && ContentEquality.areEqual(userInfo, other.userInfo)
                && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName)
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(mappingType)
        hasher.combine(sourceEntityName)
        hasher.combine(destinationEntityName)
        return hasher.finalize()
    }

    open override var description: String { "<NSEntityMapping: \(name ?? "")>" }
}
