import CoreDataPrimitives
import Synchronization

/// The data for updating rows with the same changed columns. It is cached, because planning a small save costs as much
/// as writing it.
final class UpdateForm: Sendable {
    let table: SaveTables.Table
    let mask: IndexMask
    /// The row's columns that are written, and those of them with external storage.
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

/// The update forms of one entity.
final class UpdateForms: Sendable {
    /// Guards the forms, the most recent last.
    private let forms = Mutex<[UpdateForm]>([])
    /// The maximum number of forms: most apps change a few sets of columns; beyond that, the cache is cleared.
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
