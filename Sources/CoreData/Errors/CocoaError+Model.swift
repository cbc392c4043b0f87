import CoreDataPrimitives
import Foundation

/// Makes the errors that the framework throws.
enum CoreDataErrors {
    /// The error for a model that cannot be used: code 134060, with every problem in its description.
    static func modelInvalid(_ diagnostics: [Diagnostic]) -> any Error {
        CocoaError(
            CocoaError.Code(rawValue: 134060),
            userInfo: [
                NSLocalizedDescriptionKey: "The model cannot be used:\n\(diagnostics.rendered)"
            ])
    }
}
