/// SQL as segments: pieces of text with bound values between them, never a `String` that contains a value.
///
/// Text consists only of literals in the source code, identifiers (quoted if necessary) and numbers; all other values
/// are bound. Renderers make it; drivers write their own pragmas.
///
///     let text = statement.text(in: dialect)
///     text.sql        // SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ?
///     text.bindings   // [.text("Item")]
package struct SQLText: Hashable, Sendable {
    /// The pieces of text, one more than the values: `pieces[0] values[0] pieces[1] …`.
    private var pieces: [String] = [""]
    private var values: [SQLValue] = []
    private let placeholder: SQLDialect.Placeholder
    private let quoting: SQLDialect.Quoting
    private let names: SQLNames?
    /// Whether values have an explicit type: `$1::BIGINT`.
    private let typesBindings: Bool
    /// Whether a backslash in a string constant may be an escape character, which depends on the session's settings.
    private let escapesConstants: Bool

    /// Makes an empty text with `?` as placeholders, which quotes names only if necessary.
    package init() {
        placeholder = .questionMark
        quoting = .whereNeeded
        names = nil
        typesBindings = false
        escapesConstants = false
    }

    /// Makes an empty text in the dialect.
    package init(in dialect: SQLDialect) {
        placeholder = dialect.placeholder
        quoting = dialect.quoting
        names = dialect.names
        typesBindings = dialect.typesBindings
        escapesConstants = dialect.schema == .standard
    }

    /// The values of the placeholders, in order.
    package var bindings: [SQLValue] { values }

    package var isEmpty: Bool { values.isEmpty && pieces[0].isEmpty }

    /// The statement with a placeholder for each value.
    package var sql: String {
        guard pieces.count > 1 else { return pieces[0] }
        switch placeholder {
        case .questionMark:
            return pieces.joined(separator: "?")
        case .numbered:
            var text = pieces[0]
            for (index, piece) in pieces.dropFirst().enumerated() { text += "$\(index + 1)" + piece }
            return text
        }
    }

    // MARK: Appending

    /// Reserves capacity for text before the first value.
    mutating func reserveCapacity(_ byteCount: Int) { pieces[0].reserveCapacity(byteCount) }

    package mutating func append(_ literal: StaticString) {
        pieces[pieces.count - 1] += literal.description
    }

    package mutating func append(_ value: SQLValue) {
        values.append(value)
        pieces.append(typesBindings ? Self.type(of: value) : "")
    }

    /// Appends a value whose type the database would not infer: `$1::UUID`.
    mutating func append(_ value: SQLValue, as type: String) {
        values.append(value)
        pieces.append("::" + type)
    }

    /// Returns the type of a value. A value needs an explicit type where any type is allowed; the context determines
    /// the type of a parameter that is bound later.
    private static func type(of value: SQLValue) -> String {
        switch value {
        case .null: ""
        case .integer: "::BIGINT"
        case .real: "::DOUBLE PRECISION"
        case .text: "::TEXT"
        case .blob: "::BYTEA"
        }
    }

    package mutating func append(contentsOf other: SQLText) {
        pieces[pieces.count - 1] += other.pieces[0]
        pieces.append(contentsOf: other.pieces.dropFirst())
        values.append(contentsOf: other.values)
    }

    /// Appends a name, quoted if it is not plain or if the dialect quotes all names.
    package mutating func append(identifier name: String) {
        let name = names?.stored(name) ?? name
        pieces[pieces.count - 1] += quoting == .always ? SQLIdentifier.quoted(name) : SQLIdentifier.text(name)
    }

    /// Appends the name of a schema as the user wrote it.
    package mutating func append(quoted schema: String, _ end: StaticString) {
        pieces[pieces.count - 1] += SQLIdentifier.quoted(schema)
        append(end)
    }

    /// Appends names separated by `, `.
    package mutating func append(identifiers names: [String]) {
        for (index, name) in names.enumerated() {
            if index > 0 { append(", ") }
            append(identifier: name)
        }
    }

    package mutating func append(integer: Int64) {
        pieces[pieces.count - 1] += String(integer)
    }

    /// Appends a string constant, `'it''s'`, for schema statements, which cannot have bound values.
    ///
    /// Depending on a server's setting (`standard_conforming_strings = off`), a backslash may start an escape sequence.
    /// Two sessions that run the same trigger may have different settings. `E'C:\\'` has the same meaning in both.
    package mutating func append(quoted constant: String) {
        var quoted = "'"
        var hasBackslash = false
        for scalar in constant.unicodeScalars {
            if escapesConstants, scalar == "\\" {
                hasBackslash = true
                quoted.unicodeScalars.append(scalar)
            }
            if scalar == "'" { quoted.unicodeScalars.append(scalar) }
            quoted.unicodeScalars.append(scalar)
        }
        pieces[pieces.count - 1] += (hasBackslash ? "E" : "") + quoted + "'"
    }

    /// Appends text that is known to be SQL: operators, cases of an enumeration.
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
    }

    package init(stringLiteral literal: String) {
        self.init()
        append(verbatim: literal)
    }
    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.text }
}
