import CoreDataPrimitives

/// What one save writes to one store: rows as they were and as they shall be.
package struct ChangeSet: Sendable {
    /// A row that is new; its key has been allocated, its version is 1. A row that was deleted and shall be there again has its key,
    /// and another version.
    package struct Insertion: Sendable {
        package var row: RowSnapshot

        package init(row: RowSnapshot) { self.row = row }
    }

    /// A row that changes; `new` has the version `old.version + 1`. Equal rows differ in version alone.
    package struct Update: Sendable {
        package var old: RowSnapshot
        package var new: RowSnapshot
        /// The columns that differ, where whoever made the update knows them.
        var columns: IndexMask?

        package init(old: RowSnapshot, new: RowSnapshot, columns: IndexMask? = nil) {
            self.old = old
            self.new = new
            self.columns = columns
        }
    }

    package struct Deletion: Sendable {
        package var key: RowKey
        /// The version that the context saw.
        package var version: Int32

        package init(key: RowKey, version: Int32) {
            self.key = key
            self.version = version
        }
    }

    /// A row that must still be as the context saw it, though nothing of it changes.
    package struct Check: Sendable {
        package var key: RowKey
        package var version: Int32

        package init(key: RowKey, version: Int32) {
            self.key = key
            self.version = version
        }
    }

    /// A pair that enters or leaves a many-to-many relationship.
    ///
    /// A pair stands for both directions: give it once, from either side. When it is inserted again with
    /// another order, only the order changes.
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
    /// Of each insertion the columns whose values go to the row that has its unique values already: then the new row does not come, and
    /// violates nothing. `nil` for one that is a violation; empty where all are. See ``RowSource/absorbs(entity:)``.
    package var absorptions: [IndexMask?] = []
    package var updates: [Update] = []
    package var deletions: [Deletion] = []
    package var links: [Link] = []
    package var checks: [Check] = []
    /// Who makes the changes; a history records it.
    package var origin: ChangeOrigin?
    /// The to-many relationships, by slot, whose members came, went or moved with an update: of rows of which a history
    /// records it.
    package var changedMembers: [RowKey: IndexMask] = [:]
    /// Metadata to write with the rows; `nil` leaves it as it is. Keys and values are property-list objects.
    package var metadata: StoreMetadata?

    package init() {}

    /// Whether it does more than check.
    package var writesAnything: Bool {
        !insertions.isEmpty || !updates.isEmpty || !deletions.isEmpty || !links.isEmpty || metadata != nil
    }
}

/// Why a save wrote nothing.
package enum SaveFailure: EngineFailure {
    /// Rows that another writer changed (`persisted` is the row now) or deleted (`persisted` is nil) meanwhile.
    case conflicts([Conflict])
    /// Uniqueness constraints that the changes would violate.
    case constraints([ConstraintViolation])

    package struct Conflict: Sendable {
        package var key: RowKey
        package var expectedVersion: Int32
        package var persisted: RowSnapshot?
        /// What the row cache had: a row at the expected version where another coordinator or process is the other writer,
        /// else a newer one or none.
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
        /// The row that has the values already.
        package var existing: RowKey
        /// Whether that one is in the store, and the save does not touch it; else it is another row of the change set.
        package var isExistingStored = false
        /// Which of the change set's insertions they are, where they are new rows.
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
