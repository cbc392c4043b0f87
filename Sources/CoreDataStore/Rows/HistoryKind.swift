/// The kind of a change of a row, with the numbers in `ZCHANGETYPE`.
package enum HistoryKind: Int64, Sendable {
    case insertion = 0
    case update = 1
    case deletion = 2
}
