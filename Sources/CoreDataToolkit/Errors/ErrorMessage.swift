import CoreData
import Foundation

/// Errors of others as the one message that a user reads.
package enum ErrorMessage {
    /// The message of the error, and of every error inside it on a line of its own.
    package static func text(of error: any Error) -> String {
        if let failure = error as? ToolkitError { return failure.message }
        if let failure = error as? RecordFailure { return failure.description }
        let error = error as NSError
        let details = error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []
        guard details.isEmpty else { return details.map(text).joined(separator: "\n") }
        let message = error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription
        return error.domain == NSCocoaErrorDomain ? "\(message) (error \(error.code))" : message
    }
}
