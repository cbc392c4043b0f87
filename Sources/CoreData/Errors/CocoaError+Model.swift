import CoreDataPrimitives
import Foundation

extension CoreDataErrors {
    /// The error for a model that cannot be used: code 134060, with every problem in its description.
    static func modelInvalid(_ diagnostics: [Diagnostic]) -> any Error {
        CocoaError(
            CocoaError.Code(rawValue: 134060),
            userInfo: [
                NSLocalizedDescriptionKey: "The model cannot be used:\n"
                    + diagnostics.map(\.sentence).joined(separator: "\n")
            ])
    }

    /// The error for a reference to a model that is not there: code 134504.
    static func modelNotFound(_ description: String) -> any Error {
        CocoaError(CocoaError.Code(rawValue: 134504), userInfo: [NSLocalizedDescriptionKey: description])
    }
}
