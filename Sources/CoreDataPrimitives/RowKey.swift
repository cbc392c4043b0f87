/// Identifies a row within one store: the entity's ordinal in the model and the primary key.
///
/// The entity is the row's own (leaf) entity. Keys are unique within an inheritance tree, so two keys of one
/// tree with equal primary keys name the same row.
@usableFromInline
package struct RowKey: Hashable, Sendable {
    @usableFromInline package var entity: Int
    @usableFromInline package var primaryKey: Int64

    @inlinable package init(entity: Int, primaryKey: Int64) {
        self.entity = entity
        self.primaryKey = primaryKey
    }
}
