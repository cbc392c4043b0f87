import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Validation errors with Apple's codes and keys (G3, G4).
enum ValidationErrors {
    static func missing(_ key: String, of object: NSManagedObject) -> CocoaError {
        make(NSValidationMissingMandatoryPropertyError, "\(name(key, object)) is a required value.", key, object, nil)
    }

    static func tooFew(_ key: String, of object: NSManagedObject, count: Int, minimum: Int) -> CocoaError {
        make(
            NSValidationRelationshipLacksMinimumCountError,
            "\(name(key, object)) has \(count) objects; it needs at least \(minimum).", key, object, nil)
    }

    static func tooMany(_ key: String, of object: NSManagedObject, count: Int, maximum: Int) -> CocoaError {
        make(
            NSValidationRelationshipExceedsMaximumCountError,
            "\(name(key, object)) has \(count) objects; it may have at most \(maximum).", key, object, nil)
    }

    static func denied(_ key: String, of object: NSManagedObject, count: Int) -> CocoaError {
        make(
            NSValidationRelationshipDeniedDeleteError,
            "\(object.runtime.name) cannot be deleted: its \(key) still has \(count) objects.", key, object, nil)
    }

    /// A value that does not satisfy a predicate of the model; its warning is a code of Apple's or a text.
    static func failed(
        _ key: String, of object: NSManagedObject, value: Any?, predicate: NSPredicate, warning: String,
        type: AttributeType
    ) -> CocoaError {
        let code = Int(warning) ?? ValidationCode.derive(from: predicate.node, type: type)
        let text = Int(warning) == nil && !warning.isEmpty ? warning : description(code)
        return make(
            code, "\(name(key, object)): \(text) (\(predicate.node.predicateFormat)).", key, object, value,
            predicate: predicate)
    }

    /// A number that is beyond what the attribute's type holds.
    static func outOfRange(_ key: String, of object: NSManagedObject, value: Any?, isTooLarge: Bool) -> CocoaError {
        let code = isTooLarge ? NSValidationNumberTooLargeError : NSValidationNumberTooSmallError
        return make(code, "\(name(key, object)): \(description(code)).", key, object, value)
    }

    private static func make(
        _ code: Int, _ message: String, _ key: String, _ object: NSManagedObject, _ value: Any?,
        predicate: NSPredicate? = nil
    ) -> CocoaError {
        var userInfo: [String: Any] = [
            NSValidationObjectErrorKey: object,
            NSValidationKeyErrorKey: key,
        ]
        if let value { userInfo[NSValidationValueErrorKey] = value }
        if let predicate { userInfo[NSValidationPredicateErrorKey] = predicate }
        return CoreDataErrors.make(code, localized(message, object), userInfo)
    }

    private static func name(_ key: String, _ object: NSManagedObject) -> String {
        let names = object.runtime.model.localizationDictionary ?? [:]
        let property =
            names["Property/\(key)/Entity/\(object.runtime.name)"] ?? names["Property/\(key)"] ?? key
        return "\(names["Entity/\(object.runtime.name)"] ?? object.runtime.name).\(property)"
    }

    private static func localized(_ message: String, _ object: NSManagedObject) -> String {
        object.runtime.model.localizationDictionary?["ErrorString/\(message)"] ?? message
    }

    private static func description(_ code: Int) -> String {
        switch code {
        case NSValidationNumberTooLargeError: "the number is too large"
        case NSValidationNumberTooSmallError: "the number is too small"
        case NSValidationDateTooLateError: "the date is too late"
        case NSValidationDateTooSoonError: "the date is too soon"
        case NSValidationStringTooLongError: "the text is too long"
        case NSValidationStringTooShortError: "the text is too short"
        case NSValidationStringPatternMatchingError: "the text does not match the pattern"
        default: "the value is not valid"
        }
    }
}
