import CoreDataSQL
import Foundation

/// Where the bits of updates in a history go when the properties of their entity change places.
package struct HistoryBits: Hashable, Sendable {
    /// By the old bit, the new one; -1 for what is gone.
    var places: [Int]
    var byteCount: Int

    /// The bits of the same properties, at their new places.
    func moved(_ bits: Data) -> Data {
        var result = [UInt8](repeating: 0, count: byteCount)
        for (index, byte) in bits.enumerated() where byte != 0 {
            for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
                let old = index * 8 + bit
                guard old < places.count, places[old] >= 0 else { continue }
                result[places[old] >> 3] |= 0x80 >> UInt8(places[old] & 7)
            }
        }
        return Data(result)
    }

    /// Each value that updates of the entity have.
    func query(of entity: Int64) -> SelectStatement {
        let column = SQLExpression.column(nil, "ZCOLUMNS")
        var query = SelectStatement([.init(column)], from: .init(BookkeepingSchema.changeTable))
        query.isDistinct = true
        query.condition = .and([
            .comparison(.equal, .column(nil, "ZENTITY"), .integer(entity)), .isNotNull(column),
        ])
        return query
    }

    /// Writes all new values by one pass over the changes, so that no value is taken for another's old one.
    func update(of entity: Int64, _ values: [Data]) -> UpdateStatement {
        let column = SQLExpression.column(nil, "ZCOLUMNS")
        let isOne = SQLExpression.inList(column, values.map { .bind(.blob($0)) })
        let new = SQLExpression.caseWhen(
            values.map { .init(.comparison(.equal, column, .bind(.blob($0))), .bind(.blob(moved($0)))) },
            otherwise: column)
        return UpdateStatement(
            BookkeepingSchema.changeTable, set: [.init("ZCOLUMNS", new)],
            where: .and([.comparison(.equal, .column(nil, "ZENTITY"), .integer(entity)), isOne]))
    }
}
