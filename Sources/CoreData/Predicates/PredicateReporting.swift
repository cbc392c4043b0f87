import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import Synchronization

/// Where predicates tell what went wrong when their caller cannot be thrown an error.
package enum PredicateReporting {
    /// Guards the listener; without one, messages go to standard error.
    private static let listener = Mutex<(@Sendable (Diagnostic, _ subexpression: String?) -> Void)?>(nil)

    /// Sends messages to `listener` instead of standard error.
    package static func setListener(_ newListener: (@Sendable (Diagnostic, _ subexpression: String?) -> Void)?) {
        listener.withLock { $0 = newListener }
    }

    package static func report(_ error: any Error) {
        let failure = error as? PredicateFailure
        let diagnostic = failure?.diagnostic ?? Diagnostic(.error, "\(error)")
        if let listener = listener.withLock({ $0 }) {
            listener(diagnostic, failure?.subexpression)
        } else {
            let place = failure?.subexpression.map { " in \($0)" } ?? ""
            FileHandle.standardError.write(Data("CoreData: \(diagnostic.rendered)\(place)\n".utf8))
        }
    }
}

extension CocoaError {
    /// The user's view of a wrong predicate.
    package init(predicateFailure failure: PredicateFailure) {
        self.init(
            .formatting,
            userInfo: [
                NSLocalizedDescriptionKey: "Unable to parse the format string \"\(failure.subexpression ?? "")\"\n"
                    + failure.diagnostic.rendered,
                "NSDebugDescription": failure.diagnostic.message,
            ])
    }
}
