import CoreDataModel
import CoreDataSQL

extension DerivedAttribute {
    /// Returns an update that computes the values of all rows of some entities, by number, with the triggers' result.
    ///
    ///     UPDATE ZBOOK AS t SET ZPAGESCOUNT = (SELECT IFNULL(COUNT(d.ZBOOK), 0) FROM ZPAGE d WHERE d.ZBOOK = t.Z_PK) WHERE …
    func update(ofRowsWith numbers: [Int64]) -> UpdateStatement {
        UpdateStatement(
            table, as: "t", set: [.init(column, value)],
            where: .inList(.column("t", "Z_ENT"), numbers.map(SQLExpression.integer)))
    }

    private var value: SQLExpression {
        switch source {
        case .now: .function(.now, [])
        case .own(let column): wrapped(.column("t", column))
        case .destination(let table, let column, let key):
            select(wrapped(.column("d", column)), from: table, where: "Z_PK", key)
        case .count(let table, let key):
            select(
                .function(.ifNull, [.aggregate(.count, .column("d", key), distinct: false), .integer(0)]), from: table,
                where: key, "Z_PK")
        case .linkCount(let table, let owner): select(.countAll, from: table, where: owner, "Z_PK")
        case .aggregate(let name, let table, let read, let key):
            select(total(name, .column("d", read)), from: table, where: key, "Z_PK")
        }
    }

    private func select(
        _ value: SQLExpression, from other: String, where key: String, _ own: String
    ) -> SQLExpression {
        var statement = SelectStatement([.init(value)], from: .init(other, as: "d"))
        statement.condition = .comparison(.equal, .column("d", key), .column("t", own))
        return .scalar(statement)
    }
}
