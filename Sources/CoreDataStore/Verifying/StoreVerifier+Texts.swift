import CoreDataModel
import CoreDataSQL

extension StoreVerifier {
    /// Checks that texts are valid UTF-8: SQLite stores any bytes as a text, and invalid ones are read as replacement
    /// characters.
    mutating func checkTexts() throws {
        // Typed columns contain no other values.
        guard !connection.dialect.typesValues else { return }
        for stored in storedAttributes where stored.kind == .text {
            try checkTexts(
                in: stored.column, of: stored.table, stored.property.declaringEntity, stored.property.name)
        }
    }

    private mutating func checkTexts(
        in column: String, of table: String, _ entity: Int, _ property: String
    ) throws {
        let value = SQLExpression.column(nil, column)
        var query = SelectStatement([.init(.column(nil, "Z_PK")), .init(.cast(value, to: .bytes))], from: .init(table))
        query.condition = .comparison(.equal, .function(.storageClass, [value]), .bind(.text("text")))
        query.orders = [.init(.column(nil, "Z_PK"))]
        let statement = try connection.statement(query.text(in: connection.dialect))
        defer { statement.reset() }
        let hint = "set it anew: what is read, and written by an export, has other characters"
        var count = 0
        while try statement.step() {
            guard case .blob(let bytes) = statement.value(1), String(validating: bytes, as: UTF8.self) == nil else {
                continue
            }
            count += 1
            guard count <= Self.rowLimit else { continue }
            report(.warning, entity, property, row: statement.integer(0), "has a text that is not UTF-8", hint: hint)
        }
        if count > Self.rowLimit {
            report(.warning, entity, property, "the same in \(count - Self.rowLimit) more rows", hint: hint)
        }
    }
}
