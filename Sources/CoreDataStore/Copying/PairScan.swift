import CoreDataModel
import CoreDataSQL

/// Reads the pairs of a many-to-many relationship by scanning the table, because its index is damaged.
struct PairScan {
    struct Pair {
        var owner: Int64
        var destination: Int64
        var order: Int64
    }

    private(set) var pairs: [Pair] = []
    /// Whether parts of the table are unreadable too.
    private(set) var isIncomplete = false
    private let table: StoreLayout.JoinTable
    private let engine: StoreEngine

    /// - Parameter owners: the owners whose pairs are needed.
    init(_ table: StoreLayout.JoinTable, of owners: Set<Int64>, in engine: StoreEngine) {
        self.table = table
        self.engine = engine
        let highest = engine.highestNumber("rowid", in: table.name) ?? Int64((FileSize.of(engine.path) ?? 0) / 8)
        var start: Int64 = 1
        while start <= highest {
            let end = min(highest, start + 511)
            read(start...end, owners)
            start = end + 1
        }
        pairs.sort { ($0.owner, $0.order, $0.destination) < ($1.owner, $1.order, $1.destination) }
    }

    /// Reads a range of rows; an unreadable range is halved.
    private mutating func read(_ range: ClosedRange<Int64>, _ owners: Set<Int64>) {
        let rowid = SQLExpression.column("l", "rowid")
        var query = SelectStatement(
            [table.ownerColumn, table.destinationColumn].map { .init(.column("l", $0)) }
                + [.init(table.orderColumn.map { .column("l", $0) } ?? .null)], from: .init(table.name, as: "l"))
        query.condition = .between(rowid, .bind(.integer(range.lowerBound)), .bind(.integer(range.upperBound)))
        query.orders = [.init(rowid)]
        do {
            for row in try engine.database.read({ try $0.rows(query) }) {
                guard case .integer(let owner) = row[0], owners.contains(owner), case .integer(let destination) = row[1]
                else { continue }
                var order: Int64 = 0
                if case .integer(let number) = row[2] { order = number }
                pairs.append(Pair(owner: owner, destination: destination, order: order))
            }
        } catch {
            guard range.count > 1 else { return isIncomplete = true }
            let middle = range.lowerBound + Int64(range.count) / 2
            read(range.lowerBound...(middle - 1), owners)
            read(middle...range.upperBound, owners)
        }
    }
}
