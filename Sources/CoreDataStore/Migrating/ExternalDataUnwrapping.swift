import CoreDataSQL
import Foundation

/// Reads values of a column from their external files to the rows, one at a time.
struct ExternalDataUnwrapping {
    let table: String
    let column: String

    /// Returns the query for the next row whose value may be in a file.
    func query(after key: Int64) -> SelectStatement {
        let value = SQLExpression.column(nil, column)
        let primary = SQLExpression.column(nil, "Z_PK")
        var query = SelectStatement([.init(primary), .init(value)], from: .init(table))
        query.condition = .and([
            .comparison(.greater, primary, .bind(.integer(key))),
            .comparison(.equal, .function(.byteLength, [value]), .integer(38)),
        ])
        query.orders = [.init(primary)]
        query.limit = 1
        return query
    }

    func run(_ connection: any SQLConnection, _ external: ExternalData) throws {
        var last = Int64.min
        while let row = try connection.rows(query(after: last)).first, case .integer(let key) = row[0] {
            last = key
            guard case .blob(let stored) = row[1], stored.withUnsafeBytes(ExternalData.fileName) != nil else {
                continue
            }
            let data = try stored.withUnsafeBytes { try external.data(of: $0) }
            let update = UpdateStatement(
                table, set: [.init(column, .bind(.blob(Data([ExternalData.Mark.inline]) + data)))],
                where: .comparison(.equal, .column(nil, "Z_PK"), .bind(.integer(key))))
            try connection.run(update)
        }
    }
}
