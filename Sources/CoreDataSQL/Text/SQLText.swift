/// SQL as segments: pieces of text with bound values between them, never a `String` with a value in it.
///
/// Text comes in only as literals of the source code, identifiers (quoted where they must be) and numbers;
/// everything else is bound.
///
///     let name: SQLText = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = \(bind: .text(entity))"
///     name.sql        // SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ?
///     name.bindings   // [.text("Item")]
package struct SQLText: Hashable, Sendable {
    /// Always one more than the values: `pieces[0] values[0] pieces[1] …`.
    private var pieces: [String] = [""]
    private var values: [SQLValue] = []

    package init() {}

    /// The values of the placeholders, in order.
    package var bindings: [SQLValue] { values }

    package var isEmpty: Bool { values.isEmpty && pieces[0].isEmpty }

    /// The statement with `?` for each value, as SQLite reads it.
    package var sql: String { sql(in: .sqlite) }

    /// The statement with the dialect's placeholders.
    package func sql(in dialect: SQLDialect) -> String {
        guard pieces.count > 1 else { return pieces[0] }
        switch dialect.placeholder {
        case .questionMark:
            return pieces.joined(separator: "?")
        case .numbered:
            var text = pieces[0]
            for (index, piece) in pieces.dropFirst().enumerated() { text += "$\(index + 1)" + piece }
            return text
        }
    }

    // MARK: Appending

    package mutating func append(_ literal: StaticString) {
        pieces[pieces.count - 1] += literal.description
    }

    package mutating func append(_ value: SQLValue) {
        values.append(value)
        pieces.append("")
    }

    package mutating func append(contentsOf other: SQLText) {
        pieces[pieces.count - 1] += other.pieces[0]
        pieces.append(contentsOf: other.pieces.dropFirst())
        values.append(contentsOf: other.values)
    }

    /// Appends a name, quoted where it is not a plain one.
    package mutating func append(identifier name: String) {
        pieces[pieces.count - 1] += SQLIdentifier.text(name)
    }

    /// Appends names with `, ` between them.
    package mutating func append(identifiers names: [String]) {
        for (index, name) in names.enumerated() {
            if index > 0 { append(", ") }
            append(identifier: name)
        }
    }

    package mutating func append(integer: Int64) {
        pieces[pieces.count - 1] += String(integer)
    }

    /// Appends a string constant, `'it''s'`: for schema statements, which cannot bind.
    package mutating func append(quoted constant: String) {
        pieces[pieces.count - 1] +=
            "'"
            + constant.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''") + "'"
    }

    /// Appends text that is known to be SQL: operators, words of an enumeration.
    mutating func append(verbatim text: String) {
        pieces[pieces.count - 1] += text
    }
}

extension SQLText: ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        var text = SQLText()

        package init(literalCapacity: Int, interpolationCount: Int) {}

        // Only the compiler calls this, with parts of a literal.
        package mutating func appendLiteral(_ literal: String) { text.append(verbatim: literal) }

        package mutating func appendInterpolation(_ other: SQLText) { text.append(contentsOf: other) }
        package mutating func appendInterpolation(bind value: SQLValue) { text.append(value) }
        package mutating func appendInterpolation(identifier name: String) { text.append(identifier: name) }
        package mutating func appendInterpolation(identifiers names: [String]) { text.append(identifiers: names) }
        package mutating func appendInterpolation(integer: Int64) { text.append(integer: integer) }
        package mutating func appendInterpolation(quoted constant: String) { text.append(quoted: constant) }
        package mutating func appendInterpolation(_ part: SQLExpression) { text.append(contentsOf: part.text) }
        package mutating func appendInterpolation(_ part: SelectStatement) { text.append(contentsOf: part.text) }
    }

    package init(stringLiteral literal: String) { append(verbatim: literal) }
    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.text }
}
