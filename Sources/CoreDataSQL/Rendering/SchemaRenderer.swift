/// Writes the statements of a schema, to the space as Apple's Core Data writes them.
///
/// SQLite keeps the text of these statements in the file, so it is part of the format (store-format §3–§6).
package struct SchemaRenderer {
    private var text = ""

    package static func text(_ statement: SchemaStatement) -> String {
        var renderer = SchemaRenderer()
        switch statement {
        case .table(let table): renderer.table(table)
        case .index(let index): renderer.index(index)
        case .trigger(let trigger): renderer.trigger(trigger)
        }
        return renderer.text
    }

    private mutating func table(_ table: CreateTable) {
        text += "CREATE TABLE \(Self.identifier(table.name)) (\(table.hasInnerSpaces ? " " : "")"
        var parts = table.columns.map { "\(Self.identifier($0.name)) \($0.type)" }
        if !table.primaryKey.isEmpty { parts.append("PRIMARY KEY (\(Self.identifiers(table.primaryKey)))") }
        text += parts.joined(separator: ", ")
        text += table.hasInnerSpaces ? " )" : ")"
    }

    private mutating func index(_ index: CreateIndex) {
        text += index.isUnique ? "CREATE UNIQUE INDEX " : "CREATE INDEX "
        text += "\(Self.identifier(index.name)) ON \(Self.identifier(index.table)) ("
        let columns = index.columns.map { column in
            switch column.isAscending {
            case nil: Self.identifier(column.name)
            case true?: "\(Self.identifier(column.name)) COLLATE BINARY ASC"
            case false?: "\(Self.identifier(column.name)) COLLATE BINARY DESC"
            }
        }
        text += columns.joined(separator: ", ") + ")"
        if let condition = index.condition {
            text += " WHERE "
            expression(condition)
        }
    }

    private mutating func trigger(_ trigger: CreateTrigger) {
        text += "CREATE TRIGGER \(Self.identifier(trigger.name)) AFTER "
        switch trigger.event {
        case .insert: text += "INSERT"
        case .delete: text += "DELETE"
        case .update(let columns):
            text += columns.isEmpty ? "UPDATE" : "UPDATE OF \(Self.identifiers(columns))"
        }
        text += " ON \(Self.identifier(trigger.table)) FOR EACH ROW"
        if let column = trigger.requiredColumn {
            text += " WHEN ("
            expression(column)
            text += " NOT NULL)"
        }
        text += " BEGIN "
        for step in trigger.steps { self.step(step) }
        text += "END"
    }

    private mutating func step(_ step: CreateTrigger.Step) {
        switch step {
        case .update(let table, let column, let value, let condition):
            text += "UPDATE \(Self.identifier(table)) SET \(Self.identifier(column)) = "
            expression(value)
            text += " WHERE "
            expression(condition)
        case .select(let value, let table, let condition):
            text += "SELECT "
            expression(value)
            text += " FROM \(Self.identifier(table)) WHERE "
            expression(condition)
        }
        text += "; "
    }
}

// MARK: - Expressions with constants

extension SchemaRenderer {
    /// What schemas use of the language; anything else has no business in one.
    private mutating func expression(_ expression: SQLExpression) {
        switch expression {
        case .bind(let value): text += Self.constant(value)
        case .integer(let value): text += String(value)
        case .null: text += "NULL"
        case .column(let row, let name):
            text += row.map { Self.identifier($0) + "." } ?? ""
            text += Self.identifier(name)
        case .comparison(let comparison, let left, let right): infix(left, comparison.rawValue, right)
        case .arithmetic(let operation, let left, let right): infix(left, operation.rawValue, right)
        case .and(let terms): junction(terms, " AND ", empty: "1 = 1")
        case .or(let terms): junction(terms, " OR ", empty: "1 = 0")
        case .not(let term):
            text += "NOT ("
            self.expression(term)
            text += ")"
        case .isNull(let value):
            self.expression(value)
            text += " IS NULL"
        case .isNotNull(let value):
            self.expression(value)
            text += " IS NOT NULL"
        case .function(let name, let arguments):
            text += Self.identifier(name)
            list(arguments)
        case .aggregate(let name, let value, _):
            text += Self.identifier(name)
            list([value])
        case .inList(let value, let values):
            self.expression(value)
            text += " IN "
            list(values)
        case .countAll: text += "COUNT(*)"
        case .scalar(let select): subselect(select)
        default:
            assertionFailure("an expression that schema statements do not use: \(expression)")
            text += "NULL"
        }
    }

    private mutating func infix(_ left: SQLExpression, _ operation: String, _ right: SQLExpression) {
        expression(left)
        text += " \(operation) "
        expression(right)
    }

    private mutating func junction(_ terms: [SQLExpression], _ operation: String, empty: String) {
        if terms.isEmpty { return text += empty }
        if terms.count == 1 { return expression(terms[0]) }
        text += "("
        for (index, term) in terms.enumerated() {
            if index > 0 { text += operation }
            expression(term)
        }
        text += ")"
    }

    private mutating func list(_ values: [SQLExpression]) {
        text += "("
        for (index, value) in values.enumerated() {
            if index > 0 { text += ", " }
            expression(value)
        }
        text += ")"
    }

    /// `(SELECT value FROM table WHERE condition)`: one table and one value.
    private mutating func subselect(_ select: SelectStatement) {
        text += "(SELECT "
        for (index, column) in select.columns.enumerated() {
            if index > 0 { text += ", " }
            expression(column.expression)
        }
        text += " FROM \(Self.identifier(select.source.table))"
        if let condition = select.condition {
            text += " WHERE "
            expression(condition)
        }
        text += ")"
    }

    /// A value as SQL writes it.
    private static func constant(_ value: SQLValue) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value) where value.isInfinite: value < 0 ? "-9e999" : "9e999"
        case .real(let value): value.isNaN ? "NULL" : "\(value)"
        case .text(let value): "'" + value.replacing("'", with: "''") + "'"
        case .blob(let value):
            "X'" + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined() + "'"
        }
    }

    private static func identifiers(_ names: [String]) -> String {
        names.map(identifier).joined(separator: ", ")
    }

    /// Apple never quotes, and the text is part of the format, so letters beyond ASCII stay bare too: SQLite takes
    /// them for letters. Names of properties are words; names of indexes need not be.
    private static func identifier(_ name: String) -> String {
        let isWord = name.utf8.enumerated().allSatisfy { position, byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"),
                0x80...:
                true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): position > 0
            default: false
            }
        }
        return isWord && !name.isEmpty && !SQLIdentifier.isKeyword(name) ? name : SQLIdentifier.text(name)
    }
}
