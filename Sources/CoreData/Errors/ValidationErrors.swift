import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Validation errors with Apple's codes, keys and sentences.
enum ValidationErrors {
    static func missing(_ key: String, of object: NSManagedObject) -> CocoaError {
        make(NSValidationMissingMandatoryPropertyError, key, object, nil)
    }

    /// A row of a batch insert, which no object stands for.
    static func missing(_ missing: MissingValue, in model: ModelRuntime, _ store: NSPersistentStore) -> CocoaError {
        let entity = model.entities[missing.entity]
        let key = entity.slots[missing.slot].name
        return CoreDataErrors.make(
            NSValidationMissingMandatoryPropertyError,
            "\(key) is a required value of entity '\(entity.name)', and row \(missing.row) of the batch insert has none. Nothing was "
                + "inserted.",
            [
                NSValidationKeyErrorKey: key, NSValidationValueErrorKey: NSNull(),
                NSAffectedStoresErrorKey: [store],
            ])
    }

    static func tooFew(_ key: String, of object: NSManagedObject, members: [NSManagedObject]) -> CocoaError {
        make(NSValidationRelationshipLacksMinimumCountError, key, object, NSSet(array: members))
    }

    static func tooMany(_ key: String, of object: NSManagedObject, members: [NSManagedObject]) -> CocoaError {
        make(NSValidationRelationshipExceedsMaximumCountError, key, object, NSSet(array: members))
    }

    static func denied(_ key: String, of object: NSManagedObject, members: [NSManagedObject]) -> CocoaError {
        make(NSValidationRelationshipDeniedDeleteError, key, object, NSSet(array: members))
    }

    /// A value that does not satisfy a predicate of the model; its warning is a code of Apple's or a text.
    static func failed(
        _ key: String, of object: NSManagedObject, value: Any?, predicate: NSPredicate, warning: String,
        type: AttributeType
    ) -> CocoaError {
        let code = Int(warning) ?? ValidationCode.derive(from: predicate.node, type: type)
        return make(code, key, object, value, predicate: predicate, text: Int(warning) == nil ? warning : "")
    }

    /// A number that the attribute's type cannot hold.
    static func outOfRange(_ key: String, of object: NSManagedObject, value: Any?, isTooLarge: Bool) -> CocoaError {
        let code = isTooLarge ? NSValidationNumberTooLargeError : NSValidationNumberTooSmallError
        return make(code, key, object, value)
    }

    /// A number that is none, and that no store keeps.
    static func notANumber(_ key: String, of object: NSManagedObject) -> CocoaError {
        // Without the value: describing such a date, as code that prints the error does, stops the program.
        make(
            NSManagedObjectValidationError, key, object, nil,
            text: "\(placeholder) is not a number (NaN); set a number or nil.")
    }

    /// A relationship to an object that cannot be saved.
    static func dangling(_ key: String, of object: NSManagedObject, to targets: [NSManagedObject]) -> CocoaError {
        let isToMany = object.runtime.slot(forKey: key).map { object.runtime.slots[$0].isToMany } ?? false
        let reason = targets.first.map { "a \($0.runtime.name) that \(whyInvalid($0, for: object))" } ?? "no object"
        return make(
            NSManagedObjectValidationError, key, object, isToMany ? NSSet(array: targets) : targets.first,
            text: "Dangling reference to an invalid object: \(placeholder) leads to \(reason).",
            [NSAffectedObjectsErrorKey: [object] + targets])
    }

    private static func whyInvalid(_ target: NSManagedObject, for object: NSManagedObject) -> String {
        if target.home.registryAddress == object.home.registryAddress {
            return target.isDeleted && !target.flags.contains(.inaccessible) ? "is deleted" : "is in no store any more"
        }
        if target.flags.contains(.new), !target.flags.contains(.inaccessible) {
            return "is in no context; insert it with insert(_:), or set another one"
        }
        return "has left the context, because it was deleted or the context was reset; set another one"
    }

    private static func make(
        _ code: Int, _ key: String, _ object: NSManagedObject, _ value: Any?, predicate: NSPredicate? = nil,
        text: String = "", _ more: [String: Any] = [:]
    ) -> CocoaError {
        var userInfo = more
        userInfo[NSValidationObjectErrorKey] = object
        userInfo[NSValidationKeyErrorKey] = key
        userInfo[NSValidationValueErrorKey] = value ?? NSNull()
        if let predicate { userInfo[NSValidationPredicateErrorKey] = predicate }
        return CoreDataErrors.make(code, sentence(text.isEmpty ? template(code) : text, key, object), userInfo)
    }

    // MARK: Sentences

    /// The place of the property's name in a sentence, as in Apple's.
    private static let placeholder = "%{PROPERTY}@"

    /// The sentence with the property's name in it, both as the model's localization dictionary has them.
    ///
    ///     name is a required value.           // without one
    ///     Name des Artikels wird gebraucht.   // "Property/name/Entity/Item", "ErrorString/%{PROPERTY}@ is a required value."
    private static func sentence(_ template: String, _ key: String, _ object: NSManagedObject) -> String {
        let name = displayName(of: key, object)
        let plain = template.replacing(placeholder, with: name)
        guard let names = object.runtime.model.localizationDictionary else { return plain }
        guard let localized = names["ErrorString/\(template)"] ?? names["ErrorString/\(plain)"] else { return plain }
        return localized.replacing(placeholder, with: name)
    }

    /// Returns the property's display name: for the object's entity, for an ancestor, for any entity; else the key.
    private static func displayName(of key: String, _ object: NSManagedObject) -> String {
        guard let names = object.runtime.model.localizationDictionary else { return key }
        var entity: NSEntityDescription? = object.entity
        while let current = entity {
            if let name = names["Property/\(key)/Entity/\(current.name ?? "")"] { return name }
            entity = current.superentity
        }
        return names["Property/\(key)"] ?? key
    }

    private static func template(_ code: Int) -> String {
        switch code {
        case NSValidationMissingMandatoryPropertyError: "\(placeholder) is a required value."
        case NSValidationRelationshipLacksMinimumCountError: "Too few items in \(placeholder)."
        case NSValidationRelationshipExceedsMaximumCountError: "Too many items in \(placeholder)."
        case NSValidationRelationshipDeniedDeleteError: "Items cannot be deleted from \(placeholder)."
        case NSValidationNumberTooLargeError: "\(placeholder) is too large."
        case NSValidationNumberTooSmallError: "\(placeholder) is too small."
        case NSValidationDateTooLateError: "\(placeholder) is too late."
        case NSValidationDateTooSoonError: "\(placeholder) is too soon."
        case NSValidationStringTooLongError: "\(placeholder) is too long."
        case NSValidationStringTooShortError: "\(placeholder) is too short."
        case NSValidationInvalidDateError, NSValidationStringPatternMatchingError, NSValidationInvalidURIError:
            "\(placeholder) is invalid."
        default: "\(placeholder) is not valid."
        }
    }
}
