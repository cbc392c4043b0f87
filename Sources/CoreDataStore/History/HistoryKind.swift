/// What became of a row, by the numbers in `ZCHANGETYPE`.
package enum HistoryKind: Int64, Sendable {
    case insertion = 0
    case update = 1
    case deletion = 2
}
