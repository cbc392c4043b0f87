/// Writes the statements of a schema.
package struct SchemaRenderer {
    private var text = ""
    private let dialect: SQLDialect

    private init(_ dialect: SQLDialect) { self.dialect = dialect }

    /// Returns the statements that create a part of a schema, in order.
    ///
    /// If the dialect requires it, they are identical to those of Apple's Core Data, including spaces: SQLite stores
    /// the text of these statements in the file, so it is part of the format.
    ///
    /// - Throws: a failure for an expression that schemas do not use, because Apple's text for it is unknown; for other
    ///   dialects, for a function that the dialect lacks.
    package static func texts(
        of statement: SchemaStatement, in dialect: SQLDialect
    ) throws(SQLFailure) -> [String] {
        switch dialect.schema {
        case .standard: return try StandardSchemaRenderer(dialect: dialect).texts(of: statement)
        case .apples:
            var renderer = SchemaRenderer(dialect)
            switch statement {
            case .table(let table): renderer.table(table)
            case .index(let index): try renderer.index(index)
            case .trigger(let trigger): try renderer.trigger(trigger)
            case .searchTable(let table): renderer.searchTable(table)
            case .rTree(let tree): return Self.texts(of: tree)
            }
            return [renderer.text]
        }
    }

    /// Returns the same statements as texts without bound values.
    package static func statements(
        of statement: SchemaStatement, in dialect: SQLDialect
    ) throws(SQLFailure) -> [SQLText] {
        try texts(of: statement, in: dialect).map { text in
            var result = SQLText(in: dialect)
            result.append(verbatim: text)
            return result
        }
    }

    private mutating func table(_ table: CreateTable) {
        text += "CREATE TABLE \(Self.identifier(table.name)) (\(table.hasInnerSpaces ? " " : "")"
        var parts = table.columns.map { "\(Self.identifier($0.name)) \(dialect.columnTypes[$0.type] ?? "")" }
        if !table.primaryKey.isEmpty { parts.append("PRIMARY KEY (\(Self.identifiers(table.primaryKey)))") }
        text += parts.joined(separator: ", ")
        text += table.hasInnerSpaces ? " )" : ")"
    }

    private mutating func searchTable(_ table: CreateSearchTable) {
        text += "CREATE VIRTUAL TABLE \(Self.identifier(table.name)) USING fts5"
        text += "(\(Self.identifiers(table.columns)), tokenize = '"
        switch table.tokens {
        case .trigrams: text += "trigram case_sensitive 1"
        case .words: text += "unicode61 remove_diacritics 2"
        }
        text += "')"
    }

    private mutating func index(_ index: CreateIndex) throws(SQLFailure) {
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
            try expression(condition)
        }
    }

    private mutating func trigger(_ trigger: CreateTrigger) throws(SQLFailure) {
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
            try expression(column)
            text += " NOT NULL)"
        }
        text += " BEGIN "
        for step in trigger.steps { try self.step(step) }
        text += "END"
    }

    private mutating func step(_ step: CreateTrigger.Step) throws(SQLFailure) {
        switch step {
        case .update(let table, let column, let value, let condition):
            text += "UPDATE \(Self.identifier(table)) SET \(Self.identifier(column)) = "
            try expression(value)
            text += " WHERE "
            try expression(condition)
        case .select(let value, let table, let condition):
            text += "SELECT "
            try expression(value)
            text += " FROM \(Self.identifier(table)) WHERE "
            try expression(condition)
        case .note(let value, let table, let column):
            let names = (table: Self.identifier(table), column: Self.identifier(column))
            text += "INSERT INTO \(names.table) (\(names.column)) SELECT "
            try expression(value)
            text += " WHERE NOT EXISTS (SELECT 1 FROM \(names.table) WHERE \(names.column) = "
            try expression(value)
            text += ")"
        }
        text += "; "
    }
}

// MARK: - Expressions with constants

extension SchemaRenderer {
    /// Writes the expressions that schemas use.
    private mutating func expression(_ expression: SQLExpression) throws(SQLFailure) {
        switch expression {
        case .bind(let value): text += try Self.constant(value)
        case .integer(let value): text += String(value)
        case .null: text += "NULL"
        case .column(let row, let name):
            text += row.map { Self.identifier($0) + "." } ?? ""
            text += Self.identifier(name)
        case .comparison(let comparison, let left, let right): try infix(left, comparison.rawValue, right)
        case .arithmetic(let operation, let left, let right): try infix(left, operation.rawValue, right)
        case .and(let terms): try junction(terms, " AND ", empty: "1 = 1")
        case .or(let terms): try junction(terms, " OR ", empty: "1 = 0")
        case .not(let term):
            text += "NOT ("
            try self.expression(term)
            text += ")"
        case .isNull(let value):
            try operand(value)
            text += " IS NULL"
        case .isNotNull(let value):
            try operand(value)
            text += " IS NOT NULL"
        case .function(let function, let arguments):
            let form = dialect.form(of: function)
            // For a dialect with untyped columns.
            if form == .template("{0}"), let argument = arguments.first { return try self.expression(argument) }
            guard case .call(let name)? = form else { throw Self.unknown(function.rawValue) }
            text += Self.identifier(name)
            try list(arguments)
        case .aggregate(let aggregate, let value, distinct: false):
            guard case .call(let name)? = dialect.form(of: aggregate) else { throw Self.unknown(aggregate.rawValue) }
            text += Self.identifier(name)
            try list([value])
        case .inList(let value, let values):
            try operand(value)
            text += " IN "
            try list(values)
        case .countAll: text += "COUNT(*)"
        case .scalar(let select): try subselect(select)
        case .negation: throw Self.unknown("a negation")
        case .onesComplement: throw Self.unknown("a complement of bits")
        case .between: throw Self.unknown("BETWEEN")
        case .fits: throw Self.unknown("a regular expression")
        case .inSelect: throw Self.unknown("IN of a SELECT")
        case .exists: throw Self.unknown("EXISTS")
        case .matches: throw Self.unknown("MATCH")
        case .aggregate(_, _, distinct: true): throw Self.unknown("an aggregate of distinct values")
        // The file's columns are untyped.
        case .cast(.bind(let value), _): text += try Self.constant(value)
        case .cast: throw Self.unknown("CAST")
        case .collate: throw Self.unknown("COLLATE")
        case .caseWhen: throw Self.unknown("CASE")
        }
    }

    private static func unknown(_ what: String) -> SQLFailure {
        SQLFailure(kind: .other, code: 0, message: "\(what) has no place in the statements of a schema")
    }

    private mutating func infix(
        _ left: SQLExpression, _ operation: String, _ right: SQLExpression
    ) throws(SQLFailure) {
        try operand(left)
        text += " \(operation) "
        try operand(right)
    }

    /// Writes an operand. Apple's statements have no parentheses around operands, so an operand that needs them is
    /// refused.
    private mutating func operand(_ operand: SQLExpression) throws(SQLFailure) {
        switch operand {
        case .comparison, .arithmetic, .isNull, .isNotNull, .inList, .not, .matches, .fits:
            throw Self.unknown("an operation as the operand of another")
        case .bind, .integer, .null, .column, .countAll, .negation, .onesComplement, .and, .or, .between, .inSelect,
            .exists, .scalar, .function, .aggregate, .cast, .collate, .caseWhen:
            try expression(operand)
        }
    }

    private mutating func junction(
        _ terms: [SQLExpression], _ operation: String, empty: String
    ) throws(SQLFailure) {
        if terms.isEmpty { return text += empty }
        if terms.count == 1 { return try expression(terms[0]) }
        text += "("
        for (index, term) in terms.enumerated() {
            if index > 0 { text += operation }
            try expression(term)
        }
        text += ")"
    }

    private mutating func list(_ values: [SQLExpression]) throws(SQLFailure) {
        text += "("
        for (index, value) in values.enumerated() {
            if index > 0 { text += ", " }
            try expression(value)
        }
        text += ")"
    }

    /// Writes `(SELECT value FROM table WHERE condition)`, with one table and one value.
    private mutating func subselect(_ select: SelectStatement) throws(SQLFailure) {
        var simple = SelectStatement(
            select.columns.map { .init($0.expression) }, from: .init(select.source.table, as: select.source.alias))
        simple.condition = select.condition
        guard simple == select, !select.source.table.isEmpty else {
            throw Self.unknown("a SELECT of more than columns, a table and a condition")
        }
        text += "(SELECT "
        for (index, column) in select.columns.enumerated() {
            if index > 0 { text += ", " }
            try expression(column.expression)
        }
        text += " FROM \(Self.identifier(select.source.table))"
        if let condition = select.condition {
            text += " WHERE "
            try expression(condition)
        }
        text += ")"
    }

    /// Returns a value as an SQL constant.
    private static func constant(_ value: SQLValue) throws(SQLFailure) -> String {
        switch value {
        case .null: return "NULL"
        case .integer(let value): return String(value)
        case .real(let value) where value.isNaN: throw unknown("what is not a number")
        case .real(let value) where value.isInfinite: return value < 0 ? "-9e999" : "9e999"
        case .real(let value): return "\(value)"
        case .text(let value): return "'" + value.replacing("'", with: "''") + "'"
        case .blob(let value):
            return "X'" + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined() + "'"
        }
    }

    private static func identifiers(_ names: [String]) -> String {
        names.map(identifier).joined(separator: ", ")
    }

    /// Apple never quotes names, and the text is part of the format, so non-ASCII letters are unquoted too: SQLite
    /// accepts them as letters. Names of properties are identifiers; names of indexes need not be.
    static func identifier(_ name: String) -> String {
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
