import CoreDataModel
import CoreDataPrimitives
import CoreDataStore

/// Puts hidden values into the rows of a save, whose context has NULL in their place.
///
/// The statements of a save write only changed columns. But the store shares the new rows with other contexts, so they
/// must be whole.
struct HiddenValues {
    private let access: CompiledAccess
    private let store: any SecuredSource

    init(_ access: CompiledAccess, _ store: any SecuredSource) {
        self.access = access
        self.store = store
    }

    /// A row whose version is not the stored one stays as it is: its save fails as a conflict.
    func restore(in changes: inout ChangeSet) throws {
        var places: [Int: [Int]] = [:]
        for (index, update) in changes.updates.enumerated() where access.security.masksRows(of: update.old.entity) {
            places[access.model.entities[update.old.entity].root, default: []].append(index)
        }
        for (root, places) in places {
            let keys = places.map { changes.updates[$0].old.primaryKey }
            let rows = try store.heldRows(keys, root: root, staleness: 0)
            for (index, place) in zip(rows.indices, places) where rows.hasRow(index) {
                let update = changes.updates[place]
                let whole = rows[index]
                guard whole.version == update.old.version, whole.entity == update.old.entity else { continue }
                changes.updates[place] = restored(update, whole)
            }
        }
    }

    private func restored(_ update: ChangeSet.Update, _ whole: RowSnapshot) -> ChangeSet.Update {
        let kinds = access.model.entities[whole.entity].rowLayout.kinds
        let columns = update.changedColumns(kinds)
        let builder = RowBuilder(columnCount: kinds.count)
        for (column, kind) in kinds.enumerated() {
            builder.copy(column, kind: kind, from: columns.contains(column) ? update.new : whole)
        }
        let new = builder.finish(
            primaryKey: update.new.primaryKey, version: update.new.version, entity: update.new.entity)
        return ChangeSet.Update(old: whole, new: new, columns: columns)
    }
}

extension ChangeSet.Update {
    /// The columns that differ.
    func changedColumns(_ kinds: [ColumnKind]) -> IndexMask {
        if let columns { return columns }
        var differing = IndexMask()
        for (column, kind) in kinds.enumerated() where !old.isEqual(to: new, at: column, kind: kind) {
            differing.insert(column)
        }
        return differing
    }
}
