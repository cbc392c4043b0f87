/// In a mapping's expressions: the ``NSMigrationManager``, `$manager`.
public let NSMigrationManagerKey = "manager"
/// In a mapping's expressions: the object that is migrated, `$source`.
public let NSMigrationSourceObjectKey = "source"
/// In a mapping's expressions: the object that it becomes, `$destination`.
public let NSMigrationDestinationObjectKey = "destination"
/// In a mapping's expressions: the ``NSEntityMapping``, `$entityMapping`.
public let NSMigrationEntityMappingKey = "entityMapping"
/// In a mapping's expressions: the ``NSPropertyMapping``, `$propertyMapping`.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// In a mapping's expressions: the ``NSEntityMigrationPolicy``, `$entityPolicy`.
public let NSMigrationEntityPolicyKey = "entityPolicy"
