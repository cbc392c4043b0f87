import CoreDataPrimitives

/// The columns of the ``RowSnapshot``s of an entity; a pure function of the model.
///
/// Every stored attribute has one column. A to-one relationship has a key, an entity number if its destination
/// has subentities, and an order value if its inverse is an ordered to-many. A to-many without inverse is stored in its
/// destination rows, so they have a column for the owner. Many-to-many pairs are not in rows.
///
/// Entity numbers in a row are the store's own (`Z_ENT`), not ordinals; only the row's header has an ordinal.
///
///     Item: name, quantity, unit → Unit          // columns: name, quantity, unit's key
package struct RowLayout: Sendable {
    package enum Role: Hashable, Sendable, BitwiseCopyable {
        /// An attribute's value.
        case attribute(slot: Int)
        /// The primary key of a to-one's destination row.
        case destinationKey(slot: Int)
        /// The entity number of a to-one's destination row.
        case destinationEntity(slot: Int)
        /// The position in the ordered to-many that is the to-one's inverse.
        case order(slot: Int)
        /// The primary key of the row whose one-way to-many (declared in `entity` at `slot`) contains this row.
        case ownerKey(entity: Int, slot: Int)
        /// The position in that one-way to-many, if it is ordered.
        case ownerOrder(entity: Int, slot: Int)
    }

    package struct Column: Sendable {
        package var role: Role
        package var kind: ColumnKind

        package init(role: Role, kind: ColumnKind) {
            self.role = role
            self.kind = kind
        }
    }

    package let columns: [Column]
    package let kinds: [ColumnKind]
    /// The column of each slot: an attribute's value or a to-one's destination key; -1 if the slot has no column.
    package let columnOfSlot: [Int]
    /// The column of each to-one's destination entity number; -1 if there is none.
    package let entityColumnOfSlot: [Int]
    /// The column of each to-one's order value; -1 if there is none.
    package let orderColumnOfSlot: [Int]

    package init(columns: [Column], slotCount: Int) {
        self.columns = columns
        kinds = columns.map(\.kind)
        var values = [Int](repeating: -1, count: slotCount)
        var entities = values
        var orders = values
        for (index, column) in columns.enumerated() {
            switch column.role {
            case .attribute(let slot), .destinationKey(let slot): values[slot] = index
            case .destinationEntity(let slot): entities[slot] = index
            case .order(let slot): orders[slot] = index
            case .ownerKey, .ownerOrder: break
            }
        }
        columnOfSlot = values
        entityColumnOfSlot = entities
        orderColumnOfSlot = orders
    }

    /// The column with that role, if the layout has one.
    package func column(of role: Role) -> Int? { columns.firstIndex { $0.role == role } }
}
