import Foundation

// The error codes of domain NSCocoaErrorDomain that Core Data uses; see also the CocoaError.Code names.
/// A value that a rule of its own refuses: a validation predicate, a `validate…` override, or a reference to an
/// object that no longer exists.
public let NSManagedObjectValidationError = 1550
/// A uniqueness constraint that a save would violate.
public let NSManagedObjectConstraintValidationError = 1551
/// Several validation errors at once: ``NSDetailedErrorsKey`` has them.
public let NSValidationMultipleErrorsError = 1560
/// A required property that has no value.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A to-many relationship with fewer members than its minimum count.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A to-many relationship with more members than its maximum count.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// An object that cannot be deleted while a relationship whose delete rule is Deny has members.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number above the attribute's maximum, or above what its type holds.
public let NSValidationNumberTooLargeError = 1610
/// A number below the attribute's minimum, or below what its type holds.
public let NSValidationNumberTooSmallError = 1620
/// A date after the attribute's latest one.
public let NSValidationDateTooLateError = 1630
/// A date before the attribute's earliest one.
public let NSValidationDateTooSoonError = 1640
/// A value of a date attribute that is no date.
public let NSValidationInvalidDateError = 1650
/// A text longer than the attribute's maximum length.
public let NSValidationStringTooLongError = 1660
/// A text shorter than the attribute's minimum length.
public let NSValidationStringTooShortError = 1670
/// A text that does not match the attribute's regular expression.
public let NSValidationStringPatternMatchingError = 1680
/// A URI that is none.
public let NSValidationInvalidURIError = 1690
/// A context that could not be locked. Never thrown here: contexts have queues.
public let NSManagedObjectContextLockingError = 132000
/// A coordinator that could not be locked. Never thrown here.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// An object, requested by its ID, whose row was deleted.
public let NSManagedObjectReferentialIntegrityError = 133000
/// A relationship to an object that this store cannot refer to: one of another store, or one that is not saved.
public let NSManagedObjectExternalRelationshipError = 133010
/// Rows that another writer has changed or deleted since they were read: ``NSPersistentStoreSaveConflictsErrorKey`` has
/// an ``NSMergeConflict`` for each.
public let NSManagedObjectMergeError = 133020
/// Values that are taken already, by a uniqueness constraint: ``NSPersistentStoreSaveConflictsErrorKey`` has an
/// ``NSConstraintConflict`` for each.
public let NSManagedObjectConstraintMergeError = 133021
/// An unknown store type, or a file that is no store.
public let NSPersistentStoreInvalidTypeError = 134000
/// A store of another type than the requested one.
public let NSPersistentStoreTypeMismatchError = 134010
/// A store whose tables lack something that the model needs.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// A save that has no store to write to.
public let NSPersistentStoreSaveError = 134030
/// A save that wrote to some stores and failed at another: ``NSAffectedStoresErrorKey`` has those that failed.
public let NSPersistentStoreIncompleteSaveError = 134040
/// Conflicts that a merge policy left unresolved.
public let NSPersistentStoreSaveConflictsError = 134050
/// A request that cannot be executed, such as one with a predicate that no store supports; the message names the cause.
public let NSCoreDataError = 134060
/// An operation that the store does not support.
public let NSPersistentStoreOperationError = 134070
/// A store that cannot be opened; the message says why.
public let NSPersistentStoreOpenError = 134080
/// A store that could not be connected to in time.
public let NSPersistentStoreTimeoutError = 134090
/// A kind of request that the store does not know.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// A store that was made with another version of the model; the message and the user info say what differs.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// A migration that failed.
public let NSMigrationError = 134110
/// A migration whose result would violate a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// A migration that was cancelled.
public let NSMigrationCancelledError = 134120
/// A migration without the model that the store was made with.
public let NSMigrationMissingSourceModelError = 134130
/// A migration without a mapping from the store's model to the wanted one.
public let NSMigrationMissingMappingModelError = 134140
/// A migration that could not read the store that it comes from.
public let NSMigrationManagerSourceStoreError = 134150
/// A migration that could not write the store that it makes.
public let NSMigrationManagerDestinationStoreError = 134160
/// A migration whose entity policy failed.
public let NSEntityMigrationPolicyError = 134170
/// An error of the database: ``NSSQLiteErrorDomain`` in the user info has SQLite's code.
public let NSSQLiteError = 134180
/// A mapping that cannot be inferred from two models.
public let NSInferredMappingModelError = 134190
/// A record that could not be imported. Never thrown here.
public let NSExternalRecordImportError = 134200
/// A history token whose transactions have been deleted.
public let NSPersistentHistoryTokenExpiredError = 134301
/// A model reference that finds no model.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// A staged migration of another version of the framework.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// A staged migration that would lead back to an older version.
public let NSStagedMigrationBackwardMigrationError = 134506

/// `[any Error]`: the errors that a 1560 stands for.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The object that is not valid.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The name of the property that is not valid.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The predicate that the value does not satisfy.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The value that is not valid.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The stores that the error is about.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The objects that the error is about.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// `[NSMergeConflict]` or `[NSConstraintConflict]`.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The domain of SQLite's codes, and the user-info key of one.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

extension CocoaError.Code {
    /// A value that a rule of its own refuses: a validation predicate, a `validate…` override, or a reference to an
    /// object that no longer exists.
    public static let managedObjectValidation = CocoaError.Code(rawValue: 1550)
    /// Several validation errors at once: ``NSDetailedErrorsKey`` has them.
    public static let validationMultipleErrors = CocoaError.Code(rawValue: 1560)
    /// A required property that has no value.
    public static let validationMissingMandatoryProperty = CocoaError.Code(rawValue: 1570)
    /// A to-many relationship with fewer members than its minimum count.
    public static let validationRelationshipLacksMinimumCount = CocoaError.Code(rawValue: 1580)
    /// A to-many relationship with more members than its maximum count.
    public static let validationRelationshipExceedsMaximumCount = CocoaError.Code(rawValue: 1590)
    /// An object that cannot be deleted while a relationship whose delete rule is Deny has members.
    public static let validationRelationshipDeniedDelete = CocoaError.Code(rawValue: 1600)
    /// A number above the attribute's maximum, or above what its type holds.
    public static let validationNumberTooLarge = CocoaError.Code(rawValue: 1610)
    /// A number below the attribute's minimum, or below what its type holds.
    public static let validationNumberTooSmall = CocoaError.Code(rawValue: 1620)
    /// A date after the attribute's latest one.
    public static let validationDateTooLate = CocoaError.Code(rawValue: 1630)
    /// A date before the attribute's earliest one.
    public static let validationDateTooSoon = CocoaError.Code(rawValue: 1640)
    /// A value of a date attribute that is no date.
    public static let validationInvalidDate = CocoaError.Code(rawValue: 1650)
    /// A text longer than the attribute's maximum length.
    public static let validationStringTooLong = CocoaError.Code(rawValue: 1660)
    /// A text shorter than the attribute's minimum length.
    public static let validationStringTooShort = CocoaError.Code(rawValue: 1670)
    /// A text that does not match the attribute's regular expression.
    public static let validationStringPatternMatching = CocoaError.Code(rawValue: 1680)
    /// A context that could not be locked. Never thrown here: contexts have queues.
    public static let managedObjectContextLocking = CocoaError.Code(rawValue: 132000)
    /// A coordinator that could not be locked. Never thrown here.
    public static let persistentStoreCoordinatorLocking = CocoaError.Code(rawValue: 132010)
    /// An object, requested by its ID, whose row was deleted.
    public static let managedObjectReferentialIntegrity = CocoaError.Code(rawValue: 133000)
    /// A relationship to an object that this store cannot refer to: one of another store, or one that is not saved.
    public static let managedObjectExternalRelationship = CocoaError.Code(rawValue: 133010)
    /// Rows that another writer has changed or deleted since they were read: ``NSPersistentStoreSaveConflictsErrorKey``
    /// has an ``NSMergeConflict`` for each.
    public static let managedObjectMerge = CocoaError.Code(rawValue: 133020)
    /// Values that are taken already, by a uniqueness constraint: ``NSPersistentStoreSaveConflictsErrorKey`` has an
    /// ``NSConstraintConflict`` for each.
    public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: 133021)
    /// An unknown store type, or a file that is no store.
    public static let persistentStoreInvalidType = CocoaError.Code(rawValue: 134000)
    /// A store of another type than the requested one.
    public static let persistentStoreTypeMismatch = CocoaError.Code(rawValue: 134010)
    /// A store whose tables lack something that the model needs.
    public static let persistentStoreIncompatibleSchema = CocoaError.Code(rawValue: 134020)
    /// A save that has no store to write to.
    public static let persistentStoreSave = CocoaError.Code(rawValue: 134030)
    /// A save that wrote to some stores and failed at another: ``NSAffectedStoresErrorKey`` has those that failed.
    public static let persistentStoreIncompleteSave = CocoaError.Code(rawValue: 134040)
    /// Conflicts that a merge policy left unresolved.
    public static let persistentStoreSaveConflicts = CocoaError.Code(rawValue: 134050)
    /// A request that cannot be executed, such as one with a predicate that no store supports; the message names the
    /// cause.
    public static let coreData = CocoaError.Code(rawValue: 134060)
    /// An operation that the store does not support.
    public static let persistentStoreOperation = CocoaError.Code(rawValue: 134070)
    /// A store that cannot be opened; the message says why.
    public static let persistentStoreOpen = CocoaError.Code(rawValue: 134080)
    /// A store that could not be connected to in time.
    public static let persistentStoreTimeout = CocoaError.Code(rawValue: 134090)
    /// A kind of request that the store does not know.
    public static let persistentStoreUnsupportedRequestType = CocoaError.Code(rawValue: 134091)
    /// A store that was made with another version of the model; the message and the user info say what differs.
    public static let persistentStoreIncompatibleVersionHash = CocoaError.Code(rawValue: 134100)
    /// A migration that failed.
    public static let migration = CocoaError.Code(rawValue: 134110)
    /// A migration that was cancelled.
    public static let migrationCancelled = CocoaError.Code(rawValue: 134120)
    /// A migration without the model that the store was made with.
    public static let migrationMissingSourceModel = CocoaError.Code(rawValue: 134130)
    /// A migration without a mapping from the store's model to the wanted one.
    public static let migrationMissingMappingModel = CocoaError.Code(rawValue: 134140)
    /// A migration that could not read the store that it comes from.
    public static let migrationManagerSourceStore = CocoaError.Code(rawValue: 134150)
    /// A migration that could not write the store that it makes.
    public static let migrationManagerDestinationStore = CocoaError.Code(rawValue: 134160)
    /// A migration whose entity policy failed.
    public static let entityMigrationPolicy = CocoaError.Code(rawValue: 134170)
    /// An error of the database: ``NSSQLiteErrorDomain`` in the user info has SQLite's code.
    public static let sqlite = CocoaError.Code(rawValue: 134180)
    /// A mapping that cannot be inferred from two models.
    public static let inferredMappingModel = CocoaError.Code(rawValue: 134190)
    /// A record that could not be imported. Never thrown here.
    public static let externalRecordImport = CocoaError.Code(rawValue: 134200)
}

extension CocoaError {
    /// A value that a rule of its own refuses: a validation predicate, a `validate…` override, or a reference to an
    /// object that no longer exists.
    public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
    /// Several validation errors at once: ``NSDetailedErrorsKey`` has them.
    public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
    /// A required property that has no value.
    public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }
    /// A to-many relationship with fewer members than its minimum count.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        .validationRelationshipLacksMinimumCount
    }
    /// A to-many relationship with more members than its maximum count.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        .validationRelationshipExceedsMaximumCount
    }
    /// An object that cannot be deleted while a relationship whose delete rule is Deny has members.
    public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }
    /// A number above the attribute's maximum, or above what its type holds.
    public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
    /// A number below the attribute's minimum, or below what its type holds.
    public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
    /// A date after the attribute's latest one.
    public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
    /// A date before the attribute's earliest one.
    public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
    /// A value of a date attribute that is no date.
    public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
    /// A text longer than the attribute's maximum length.
    public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
    /// A text shorter than the attribute's minimum length.
    public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
    /// A text that does not match the attribute's regular expression.
    public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
    /// A context that could not be locked. Never thrown here: contexts have queues.
    public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
    /// A coordinator that could not be locked. Never thrown here.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }
    /// An object, requested by its ID, whose row was deleted.
    public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
    /// A relationship to an object that this store cannot refer to: one of another store, or one that is not saved.
    public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }
    /// Rows that another writer has changed or deleted since they were read: ``NSPersistentStoreSaveConflictsErrorKey``
    /// has an ``NSMergeConflict`` for each.
    public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
    /// Values that are taken already, by a uniqueness constraint: ``NSPersistentStoreSaveConflictsErrorKey`` has an
    /// ``NSConstraintConflict`` for each.
    public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
    /// An unknown store type, or a file that is no store.
    public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
    /// A store of another type than the requested one.
    public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
    /// A store whose tables lack something that the model needs.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }
    /// A save that has no store to write to.
    public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
    /// A save that wrote to some stores and failed at another: ``NSAffectedStoresErrorKey`` has those that failed.
    public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }
    /// Conflicts that a merge policy left unresolved.
    public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
    /// A request that cannot be executed, such as one with a predicate that no store supports; the message names the
    /// cause.
    public static var coreData: CocoaError.Code { .coreData }
    /// An operation that the store does not support.
    public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
    /// A store that cannot be opened; the message says why.
    public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
    /// A store that could not be connected to in time.
    public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
    /// A kind of request that the store does not know.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code { .persistentStoreUnsupportedRequestType }
    /// A store that was made with another version of the model; the message and the user info say what differs.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        .persistentStoreIncompatibleVersionHash
    }
    /// A migration that failed.
    public static var migration: CocoaError.Code { .migration }
    /// A migration that was cancelled.
    public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
    /// A migration without the model that the store was made with.
    public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
    /// A migration without a mapping from the store's model to the wanted one.
    public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }
    /// A migration that could not read the store that it comes from.
    public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
    /// A migration that could not write the store that it makes.
    public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }
    /// A migration whose entity policy failed.
    public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
    /// An error of the database: ``NSSQLiteErrorDomain`` in the user info has SQLite's code.
    public static var sqlite: CocoaError.Code { .sqlite }
    /// A mapping that cannot be inferred from two models.
    public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
    /// A record that could not be imported. Never thrown here.
    public static var externalRecordImport: CocoaError.Code { .externalRecordImport }

    /// The object that is not valid, in a validation error.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
    /// The name of the property that is not valid.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
    /// The predicate that the value does not satisfy.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }
    /// The value that is not valid.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
    /// The stores that the error is about.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }
    /// The objects that the error is about.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
}
