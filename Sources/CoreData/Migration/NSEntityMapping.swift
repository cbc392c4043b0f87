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

    /// The name, by which other mappings refer to this one; `Book->Publication` unless set.
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
    /// The attributes that get values; `nil` for those that have the same name in both entities.
    open var attributeMappings: [NSPropertyMapping]?
    /// The relationships that get members; `nil` for none.
    open var relationshipMappings: [NSPropertyMapping]?
    /// Tells the objects: a FETCH of the source's context. Without one it is all objects of the source entity.
    open var sourceExpression: NSExpression?
    /// What the user keeps with the mapping.
    open var userInfo: [AnyHashable: Any]?
    /// The name of the ``NSEntityMigrationPolicy`` subclass that does the work, with or without its module.
    open var entityMigrationPolicyClassName: String?

    open override var description: String { "<NSEntityMapping: \(name ?? "")>" }
}
