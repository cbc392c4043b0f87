import CoreData
import Foundation

/// Converts any error to one message for users.
package enum ErrorMessage {
    /// Returns the message of the error, with each nested error on its own line.
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
