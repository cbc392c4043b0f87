import CoreDataSQL
import Foundation

/// The new positions of an entity's bits in the history's updates, after its properties have changed positions.
package struct HistoryBits: Hashable, Sendable {
    /// By the old bit, the new one; -1 for a removed property.
    var places: [Int]
    var byteCount: Int

    /// Returns the bits of the same properties at their new positions.
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

    /// Returns the query for the distinct values of the entity's updates.
    func query(of entity: Int64) -> SelectStatement {
        let column = SQLExpression.column(nil, "ZCOLUMNS")
        var query = SelectStatement([.init(column)], from: .init(BookkeepingSchema.changeTable))
        query.isDistinct = true
        query.condition = .and([
            .comparison(.equal, .column(nil, "ZENTITY"), .integer(entity)), .isNotNull(column),
        ])
        return query
    }

    /// Returns an update that writes all new values in one pass, so that no new value is mistaken for an old one.
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
