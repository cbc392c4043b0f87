import CoreData
import CoreDataJSON
import Foundation

/// An error as RFC 9457 describes it: what failed, on which entity and property, why, and what to do.
///
///     {"type":"urn:coredata:problem:validation","title":"The object is not valid","status":422,
///      "detail":"Item.name: a required value is missing","entity":"Item","property":"name","code":1570}
package struct Problem: Error, Sendable, Equatable {
    /// One of several mistakes.
    package struct Part: Sendable, Equatable {
        /// The place in the request's JSON, as RFC 6901 writes it.
        package var pointer: String?
        package var entity: String?
        package var property: String?
        /// Core Data's code.
        package var code: Int?
        package var detail: String
    }

    package var status: Int
    /// A name that does not change, for programs: `validation`, `conflict`.
    package var type: String
    package var title: String
    package var detail: String
    package var entity: String?
    package var property: String?
    package var code: Int?
    /// The position of the mistake in a query, in characters from 1.
    package var position: Int?
    package var errors: [Part] = []
    package var headers: [String: String] = [:]

    package init(
        _ status: Int, _ type: String, _ title: String, _ detail: String, entity: String? = nil,
        property: String? = nil,
        code: Int? = nil, position: Int? = nil, errors: [Part] = [], headers: [String: String] = [:]
    ) {
        self.status = status
        self.type = type
        self.title = title
        self.detail = detail
        self.entity = entity
        self.property = property
        self.code = code
        self.position = position
        self.errors = errors
        self.headers = headers
    }

    package func json(requestID: String?) -> JSONValue {
        .members([
            ("type", .string("urn:coredata:problem:" + type)), ("title", .string(title)), ("status", .integer(status)),
            ("detail", .string(detail)), ("instance", requestID.map { .string("urn:request:" + $0) }),
            ("entity", entity.map { .string($0) }), ("property", property.map { .string($0) }),
            ("code", code.map { .integer($0) }), ("position", position.map { .integer($0) }),
            (
                "errors",
                errors.isEmpty
                    ? nil
                    : .array(
                        errors.map { part in
                            .members([
                                ("pointer", part.pointer.map { .string($0) }),
                                ("entity", part.entity.map { .string($0) }),
                                ("property", part.property.map { .string($0) }),
                                ("code", part.code.map { .integer($0) }), ("detail", .string(part.detail)),
                            ])
                        })
            ),
        ])
    }
}

// MARK: The problems

extension Problem {
    /// The same text, whether the object never existed, was deleted, or is hidden from the account.
    package static func missing(_ entity: String) -> Problem {
        Problem(
            404, "not-found", "There is no such object", "There is no such object, or you may not read it.",
            entity: entity)
    }

    package static let noPage = Problem(
        404, "not-found", "There is no such page", "See /openapi.json for what there is.")

    package static func query(_ detail: String, position: Int? = nil, property: String? = nil) -> Problem {
        Problem(400, "query", "The query cannot be understood", detail, property: property, position: position)
    }

    package static func body(_ detail: String) -> Problem {
        Problem(400, "body", "The body cannot be understood", detail)
    }

    package static func invalid(_ parts: [Part]) -> Problem {
        let first = parts.first
        let more = parts.count > 1 ? " (\(parts.count) mistakes)" : ""
        return Problem(
            422, "validation", "The object is not valid", (first?.detail ?? "") + more, entity: first?.entity,
            property: first?.property, code: first?.code, errors: parts)
    }

    package static func tooLarge(_ what: String, limit: Int) -> Problem {
        Problem(413, "too-large", "The request is too large", "\(what) may have at most \(limit) bytes.")
    }

    package static let changed = Problem(
        412, "changed", "The object has changed", "Its ETag is not the one of If-Match: read it again.")

    package static let weakTag = Problem(
        412, "changed", "The tag is weak",
        "A weak tag in If-Match never matches: send the _version of the object in quotes. A proxy that compresses answers "
            + "makes their tags weak.")

    package static let exists = Problem(
        412, "exists", "The value exists", "If-None-Match excludes it: send If-Match with its ETag to replace it.")

    package static let storeMoved = Problem(
        503, "store", "The store cannot be reached",
        "Its file was moved or replaced while the service ran. Nothing was changed.", headers: ["Retry-After": "10"])

    package static let busy = Problem(
        503, "busy", "The service is busy", "Nothing was changed. Try again in some seconds.",
        headers: ["Retry-After": "2"])

    package static let tooExpensive = Problem(
        422, "too-expensive", "The query takes too long",
        "It was stopped. Filter and sort by attributes that have an index, or ask for fewer objects.")

    package static func method(_ allowed: String) -> Problem {
        Problem(405, "method", "The method is not allowed", "Allowed: \(allowed).", headers: ["Allow": allowed])
    }
}

// MARK: Errors of Core Data

extension Problem {
    /// Returns the problem that describes an error of Core Data; `nil` for one whose reason is for the log alone.
    ///
    /// - Parameter isConditional: whether the request had an `If-Match`.
    package init?(_ error: any Error, isConditional: Bool = false) {
        if let problem = error as? Problem {
            self = problem
            return
        }
        guard let error = error as? CocoaError else { return nil }
        switch error.code.rawValue {
        case NSValidationRelationshipDeniedDeleteError:
            let part = Self.part(error)
            self.init(
                409, "denied", "The object cannot be deleted", part.detail, entity: part.entity,
                property: part.property,
                code: part.code)
        case NSManagedObjectConstraintValidationError, NSManagedObjectConstraintMergeError:
            let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
            let entity = conflict?.conflictingObjects.first?.entity.name
            self.init(
                409, "conflict", "A unique value is taken",
                "Another object has the same " + (conflict?.constraint.joined(separator: ", ") ?? "unique values")
                    + ".",
                entity: entity, property: conflict?.constraint.first, code: error.code.rawValue)
        case NSValidationMultipleErrorsError:
            let all = (error.userInfo[NSDetailedErrorsKey] as? [any Error]) ?? []
            self = .invalid(all.compactMap { ($0 as? CocoaError).map(Self.part) })
        case 1550...1699: self = .invalid([Self.part(error)])
        case NSManagedObjectMergeError, NSPersistentStoreSaveConflictsError:
            self =
                isConditional
                ? .changed
                : Problem(
                    409, "conflict", "The object has changed",
                    "Another request changed it at the same time: try again.",
                    code: error.code.rawValue)
        case NSManagedObjectReferentialIntegrityError:
            self.init(
                409, "conflict", "An object has been deleted", "Another request deleted an object that this one needs.",
                code: error.code.rawValue)
        case NSPersistentStoreTimeoutError: self = .busy
        case CocoaError.Code.userCancelled.rawValue: self = .tooExpensive
        case CocoaError.Code.fileWriteOutOfSpace.rawValue:
            self.init(507, "full", "There is no space left", "Nothing was changed.", code: error.code.rawValue)
        default: return nil
        }
    }

    private static func part(_ error: CocoaError) -> Part {
        let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
        let entity = object?.entity.name
        let property = error.userInfo[NSValidationKeyErrorKey] as? String
        let code = error.code.rawValue
        return Part(
            pointer: property.map { "/" + $0 }, entity: entity, property: property, code: code,
            detail: [entity, property].compactMap { $0 }.joined(separator: ".") + ": " + words(of: code))
    }

    /// The reasons in words, since the error's own text may contain the value.
    private static func words(of code: Int) -> String {
        switch code {
        case NSValidationMissingMandatoryPropertyError: "a required value is missing"
        case NSValidationRelationshipLacksMinimumCountError: "there are too few objects"
        case NSValidationRelationshipExceedsMaximumCountError: "there are too many objects"
        case NSValidationRelationshipDeniedDeleteError: "other objects refer to it: change or delete them first"
        case NSValidationNumberTooLargeError: "the number is too large"
        case NSValidationNumberTooSmallError: "the number is too small"
        case NSValidationDateTooLateError: "the date is too late"
        case NSValidationDateTooSoonError: "the date is too early"
        case NSValidationInvalidDateError: "the value is not a date"
        case NSValidationStringTooLongError: "the text is too long"
        case NSValidationStringTooShortError: "the text is too short"
        case NSValidationStringPatternMatchingError: "the text does not match the pattern of the attribute"
        case NSValidationInvalidURIError: "the value is not a URI"
        default: "the value does not satisfy the rule of the attribute"
        }
    }
}
