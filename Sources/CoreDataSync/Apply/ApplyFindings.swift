import CoreDataSyncEngine

/// Why another attempt to apply states is needed.
enum ApplyRetry: Error {
    /// A row changed between its fetch and the save.
    case changedMeanwhile
    /// What the store does not take, and what becomes of it.
    case found(ApplyFindings)
}

/// What attempts to save found: the next one heeds it.
struct ApplyFindings: Equatable {
    /// Objects that have equal unique values, each with the one that stands for both.
    var twins: [GlobalID: GlobalID] = [:]
    /// Objects that the store does not take, with the reason: they wait.
    var refused: [GlobalID: String] = [:]
    /// Objects that the app's closure is to repair.
    var repaired: Set<GlobalID> = []
    /// Objects that cannot be deleted here: they exist again on all devices.
    var kept: Set<GlobalID> = []
    /// Objects of which an edit of this device is later than the refused values of others: it wins.
    var reverted: Set<GlobalID> = []
    /// Relationships that have too many members, or too few.
    var counted: Set<CountedList> = []

    struct CountedList: Hashable {
        var owner: GlobalID
        var relationship: String
    }

    /// The objects that the next attempt has to know.
    var objects: Set<GlobalID> {
        repaired.union(kept).union(counted.map(\.owner)).union(twins.keys).union(twins.values)
    }

    /// - Returns: whether the next attempt will differ.
    mutating func add(_ other: Self) -> Bool {
        let before = self
        twins.merge(other.twins) { $1 }
        refused.merge(other.refused) { $1 }
        repaired.formUnion(other.repaired)
        kept.formUnion(other.kept)
        reverted.formUnion(other.reverted)
        counted.formUnion(other.counted)
        return self != before
    }
}
