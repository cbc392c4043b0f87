import CoreData
import CoreDataRemoteSync
import Foundation

/// Makes errors with Core Data's codes.
enum ServiceErrors {
    static func make(_ code: Int, _ message: String, _ userInfo: [String: Any] = [:]) -> CocoaError {
        CocoaError(
            CocoaError.Code(rawValue: code),
            userInfo: userInfo.merging([NSLocalizedDescriptionKey: message]) { _, new in new })
    }

    /// The error of a request that did not change anything.
    static func error(_ failure: ServiceFailure) -> CocoaError {
        var userInfo: [String: Any] = [NSUnderlyingErrorKey: failure.serviceError]
        userInfo["entity"] = failure.entity
        userInfo["property"] = failure.property
        let code = failure.type == "timeout" ? NSPersistentStoreTimeoutError : NSPersistentStoreOperationError
        return make(code, failure.message, userInfo)
    }

    static func missing(_ entity: String, _ id: UUID) -> CocoaError {
        make(
            NSManagedObjectReferentialIntegrityError,
            "The service has no \(entity) \(id.uuidString) (any more), or the account may not read it.")
    }

    /// Runs the body, and makes failures of the service errors with Core Data's codes.
    static func converting<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let failure as ServiceFailure { throw error(failure) }
    }
}

extension ServiceFailure {
    /// What users of the session know.
    var serviceError: ServiceError { ServiceError(status: status, type: type, message: message) }
}
