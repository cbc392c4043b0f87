import CoreDataPrimitives
import Synchronization

/// What updating rows takes whose changed columns are the same, whichever rows they are: made once, for a small save costs
/// as much to plan as to write.
final class UpdateForm: Sendable {
    let table: SaveTables.Table
    let mask: IndexMask
    /// The row's columns that are written, and those of them in external storage.
    let columns: [Int]
    let externalColumns: [Int]
    /// `UPDATE ZITEM SET Z_OPT = ?, … WHERE Z_PK = ? AND …`; bound: version, columns, key, old version.
    let sql: String

    init(_ table: SaveTables.Table, _ mask: IndexMask, sql: String) {
        self.table = table
        self.mask = mask
        columns = Array(mask)
        externalColumns = table.externalColumns.filter(mask.contains)
        self.sql = sql
    }
}

extension UpdateForm: Hashable {
    static func == (a: UpdateForm, b: UpdateForm) -> Bool { a === b }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The forms of one entity.
final class UpdateForms: Sendable {
    /// Guards the forms, those that were made last at the end.
    private let forms = Mutex<[UpdateForm]>([])
    /// An app changes a few sets of columns again and again; whoever changes more than these begins anew.
    private static let capacity = 64

    func form(_ mask: IndexMask, make: () -> UpdateForm) -> UpdateForm {
        forms.withLock { forms in
            for index in forms.indices.reversed() where forms[index].mask.isSame(as: mask) { return forms[index] }
            if forms.count == Self.capacity { forms.removeAll(keepingCapacity: true) }
            let form = make()
            forms.append(form)
            return form
        }
    }
}
