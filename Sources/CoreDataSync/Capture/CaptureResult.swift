import CoreDataSyncEngine
import Foundation

/// What a capture did.
package struct CaptureResult: Sendable {
    /// The numbers of the segments that wait to be sent now.
    package var segments: [UInt64] = []
    /// The number of objects whose states changed.
    package var changedObjects = 0
    package var insertedObjects = 0
    package var deletedObjects = 0
    /// The number of transactions that were read.
    package var transactions = 0
    /// Why the history does not tell what changed, so that `compareAll` has to find out; nothing was captured then.
    package var needsComparison: ComparisonReason?
    /// Whether a limit ended the capture before the end of the history.
    package var isPartial = false
    /// Objects whose values in the store are not those of their states: of a minimum, for example, a greater value was
    /// set. Apply writes the state's values.
    package var differing: Set<GlobalID> = []
    /// References and members whose objects could not be found in the store: they are left out.
    package var danglingReferences = 0

    package enum ComparisonReason: String, Sendable {
        /// The store was never captured.
        case firstTime
        /// The store keeps no history: every capture compares.
        case noHistory
        /// A part of the history after the token was deleted.
        case purged
        /// The store is not the one that was captured, or an older copy of it.
        case otherStore
    }

    package init() {}
}
