import CoreDataModel
import CoreDataStore
import Foundation

// Why a store was not migrated.
extension CoreDataErrors {
    static func migration(_ failure: MigrationFailure, url: URL, model: NSManagedObjectModel) -> CocoaError {
        var userInfo: [String: Any] = [NSFilePathErrorKey: ServerStores.name(url), "destinationModel": model]
        if let metadata = failure.metadata { userInfo["metadata"] = metadata.dictionary }
        switch failure.kind {
        case .missingSourceModel:
            userInfo["reason"] = "Can't find model for source store"
            return make(NSMigrationMissingSourceModelError, failure.message, userInfo)
        case .unknownVersion:
            userInfo["reason"] = "Can't find model for source store"
            userInfo[NSMigrationLossesErrorKey] = failure.losses.map(\.name)
            return make(
                NSMigrationMissingSourceModelError,
                "The store '\(place(url))' was not migrated: \(failure.message)", details(of: failure, adding: userInfo)
            )
        case .notInferrable:
            userInfo["reason"] = "Can't find or automatically infer mapping model for migration"
            userInfo[NSUnderlyingErrorKey] = inference(failure)
            return make(
                NSMigrationMissingMappingModelError, "The store '\(place(url))' was not migrated. \(failure.message)",
                userInfo)
        case .constraint:
            return make(
                NSMigrationConstraintViolationError, failure.message, details(of: failure, adding: userInfo))
        case .cancelled:
            userInfo[NSUnderlyingErrorKey] = failure.underlying
            return make(NSMigrationCancelledError, failure.message, userInfo)
        case .refused, .database, .readOnly:
            return make(NSMigrationError, failure.message, details(of: failure, adding: userInfo))
        }
    }

    /// What keeps a mapping from being inferred; `reason` has a line for each obstacle.
    private static func inference(_ failure: MigrationFailure) -> CocoaError {
        let reasons = failure.obstacles.map { obstacle in
            "\(obstacle.subject) \(obstacle.message)" + (obstacle.remedy.map { " (\($0))" } ?? "")
        }
        return make(
            NSInferredMappingModelError, failure.message,
            details(of: failure, adding: ["reason": reasons.joined(separator: "\n")]))
    }

    /// The error of a mapping that cannot be inferred.
    static func inference(_ failure: ModelMapping.InferenceFailure) -> CocoaError {
        var migration = MigrationFailure(.notInferrable, "No mapping can be inferred: \(failure.message).")
        migration.obstacles = failure.obstacles
        let parts = (failure.obstacles.first?.subject ?? "").split(separator: ".").map(String.init)
        (migration.entity, migration.property) = (parts.first, parts.count > 1 ? parts[1] : nil)
        return inference(migration)
    }

    /// A policy, or an expression of a mapping, fails.
    static func policy(_ message: String) -> CocoaError { make(NSEntityMigrationPolicyError, message) }

    /// The error of a mapping's policy, as the cause.
    static func policy(
        _ error: any Error, of policy: NSEntityMigrationPolicy, _ mapping: NSEntityMapping, in method: String
    ) -> any Error {
        // Errors that say it already, and cancellations, are passed unchanged.
        if let known = error as? CocoaError,
            [NSEntityMigrationPolicyError, NSMigrationCancelledError].contains(known.errorCode)
        {
            return error
        }
        let entities = [mapping.sourceEntityName, mapping.destinationEntityName].compactMap { $0 }
            .map { "'\($0)'" }.joined(separator: " to ")
        return make(
            NSEntityMigrationPolicyError,
            "The policy \(type(of: policy)) of the mapping '\(mapping.name ?? "")' (\(entities)) failed in \(method): \(error.localizedDescription)",
            [NSUnderlyingErrorKey: error, "entity": mapping.destinationEntityName ?? mapping.sourceEntityName ?? ""])
    }

    /// There is no mapping model, and none is to be inferred.
    static func missingMapping(url: URL, model: NSManagedObjectModel, mismatch: String) -> CocoaError {
        make(
            NSMigrationMissingMappingModelError,
            """
            The store '\(place(url))' was not migrated: there is no mapping model for it, and none may be inferred. Set \
            \(NSInferMappingModelAutomaticallyOption) to have it inferred. \(mismatch)
            """,
            [
                NSFilePathErrorKey: ServerStores.name(url), "destinationModel": model,
                "reason": "Can't find mapping model for migration",
            ])
    }

    private static func place(_ url: URL) -> String { url.isFileURL ? url.path : url.absoluteString }

    private static func details(of failure: MigrationFailure, adding userInfo: [String: Any]) -> [String: Any] {
        var userInfo = userInfo
        userInfo["entity"] = failure.entity
        userInfo["attribute"] = failure.property
        if failure.rowCount > 0 { userInfo["count"] = failure.rowCount }
        if failure.lacksValues {
            userInfo["reason"] = "Validation error missing attribute values on mandatory destination attribute"
        }
        if let underlying = failure.underlying { userInfo[NSUnderlyingErrorKey] = underlying }
        if let cause = failure.cause {
            userInfo[NSUnderlyingErrorKey] = sql(cause, store: nil)
            userInfo[NSSQLiteErrorDomain] = cause.code
        }
        return userInfo
    }
}
