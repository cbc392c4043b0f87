import CoreDataPrimitives
import Foundation

/// The conflicts of a save: rows that other writers changed, unique values that are taken.
///
/// Empty lists with stores mean that the conflict has ended meanwhile: saving again succeeds.
struct SaveConflicts: EngineFailure, @unchecked Sendable {
    // Safe because it goes from the attempt to save to the rounds of conflicts, on the context's queue.

    private(set) var rows: [NSMergeConflict] = []
    private(set) var values: [NSConstraintConflict] = []
    /// The stores with conflicts.
    private(set) var stores: [AttachedStore] = []

    init() {}

    init(rows: [NSMergeConflict] = [], values: [NSConstraintConflict] = [], in store: AttachedStore) {
        self.rows = rows
        self.values = values
        stores = [store]
    }

    var unlessNone: SaveConflicts? { stores.isEmpty ? nil : self }

    /// As merge policies and errors have them.
    var list: [NSObject] { rows + values }

    mutating func add(_ other: SaveConflicts) {
        rows += other.rows
        values += other.values
        stores += other.stores
    }

    /// The error of a save that they end.
    func error(under policy: NSMergePolicy, _ remark: String = "") -> any Error {
        if rows.isEmpty, values.isEmpty { return CoreDataErrors.overtaken(stores.map(\.store)) }
        return rows.isEmpty
            ? CoreDataErrors.constraint(values, policy, remark) : CoreDataErrors.merge(rows, policy, remark)
    }
}
