import CoreDataPrimitives

/// The changes that one save writes to one store: old and new rows.
package struct ChangeSet: Sendable {
    /// A new row; its key was allocated, its version is 1. A deleted row that is restored has its old key and another
    /// version.
    package struct Insertion: Sendable {
        package var row: RowSnapshot

        package init(row: RowSnapshot) { self.row = row }
    }

    /// A changed row; `new` has the version `old.version + 1`. Equal rows differ only in version.
    package struct Update: Sendable {
        package var old: RowSnapshot
        package var new: RowSnapshot
        /// The columns that differ, if the caller knows them.
        package var columns: IndexMask?

        package init(old: RowSnapshot, new: RowSnapshot, columns: IndexMask? = nil) {
            self.old = old
            self.new = new
            self.columns = columns
        }
    }

    package struct Deletion: Sendable {
        package var key: RowKey
        /// The version that the context has read.
        package var version: Int32

        package init(key: RowKey, version: Int32) {
            self.key = key
            self.version = version
        }
    }

    /// A row that must be unchanged since the context read it, although the save does not change it.
    package struct Check: Sendable {
        package var key: RowKey
        package var version: Int32

        package init(key: RowKey, version: Int32) {
            self.key = key
            self.version = version
        }
    }

    /// A pair that is added to or removed from a many-to-many relationship.
    ///
    /// A pair represents both directions: pass it once, from either side. Inserting an existing pair with another order
    /// changes only the order.
    package struct Link: Sendable {
        package enum Kind: Sendable {
            case insert
            case remove
        }

        package var kind: Kind
        /// The entity that declares the relationship, and its slot there.
        package var entity: Int
        package var slot: Int
        package var owner: Int64
        package var destination: Int64
        /// The destination's position in the owner's ordered relationship.
        package var order: Int64?
        /// The owner's position in the destination's ordered inverse.
        package var inverseOrder: Int64?

        package init(
            _ kind: Kind, entity: Int, slot: Int, owner: Int64, destination: Int64, order: Int64? = nil,
            inverseOrder: Int64? = nil
        ) {
            self.kind = kind
            self.entity = entity
            self.slot = slot
            self.owner = owner
            self.destination = destination
            self.order = order
            self.inverseOrder = inverseOrder
        }
    }

    package var insertions: [Insertion] = []
    /// For each insertion, the columns whose values go to an existing row with its unique values. Then the new row is
    /// not inserted, and causes no violation. `nil` means that such an insertion is a violation; empty if all are. See
    /// ``RowSource/absorbs(entity:)``.
    package var absorptions: [IndexMask?] = []
    package var updates: [Update] = []
    package var deletions: [Deletion] = []
    package var links: [Link] = []
    package var checks: [Check] = []
    /// The origin of the changes, which a history records.
    package var origin: ChangeOrigin?
    /// By row, the slots of the to-many relationships whose members were added, removed or reordered in an update, for
    /// rows with a history.
    package var changedMembers: [RowKey: IndexMask] = [:]
    /// The metadata to write with the rows; `nil` keeps them unchanged. Keys and values are property list objects.
    package var metadata: StoreMetadata?
    /// A note that is written in the same transaction, in a store that keeps notes.
    package var note: SaveNote?

    package init() {}

    /// Whether it writes, and not only checks.
    package var writesAnything: Bool {
        !insertions.isEmpty || !updates.isEmpty || !deletions.isEmpty || !links.isEmpty || metadata != nil
    }
}

/// The reason why a save wrote nothing.
package enum SaveFailure: EngineFailure {
    /// Rows that another writer has changed (`persisted` is the current row) or deleted (`persisted` is nil) meanwhile.
    case conflicts([Conflict])
    /// Uniqueness constraints that the changes would violate.
    case constraints([ConstraintViolation])

    package struct Conflict: Sendable {
        package var key: RowKey
        package var expectedVersion: Int32
        package var persisted: RowSnapshot?
        /// The row in the cache. It has the expected version if another coordinator or process is the other writer;
        /// otherwise it is newer or missing.
        package var cached: RowSnapshot?

        package init(key: RowKey, expectedVersion: Int32, persisted: RowSnapshot?) {
            self.key = key
            self.expectedVersion = expectedVersion
            self.persisted = persisted
        }
    }

    package struct ConstraintViolation: Sendable {
        /// The entity that declares the constraint, and the slots of its properties.
        package var entity: Int
        package var slots: [Int]
        /// The row of the change set that violates it.
        package var changed: RowKey
        /// The row that already has the values.
        package var existing: RowKey
        /// Whether that row is in the store and not changed by the save; otherwise it is another row of the change set.
        package var isExistingStored = false
        /// The indexes among the change set's insertions, if the rows are new.
        package var changedInsertion: Int?
        package var existingInsertion: Int?

        package init(entity: Int, slots: [Int], changed: RowKey, existing: RowKey) {
            self.entity = entity
            self.slots = slots
            self.changed = changed
            self.existing = existing
        }
    }
}
