import Foundation

extension SQLRenderer {
    /// Writes a function. A function that the dialect lacks is written by its name and the database refuses it:
    /// planners check before.
    mutating func function(_ function: SQLFunction, _ arguments: [SQLExpression]) {
        switch dialect.form(of: function) ?? .call(function.rawValue) {
        case .call(let name), .ordered(let name):
            text.append(verbatim: name)
            list(arguments)
        case .infix(let sign):
            text.append("(")
            for (index, argument) in arguments.enumerated() {
                if index > 0 { text.append(verbatim: " \(sign) ") }
                operand(argument, above: .unary)
            }
            text.append(")")
        case .template(let template), .plainTemplate(let template):
            self.template(template, arguments)
        case .collated(let collations):
            collatedEquality(arguments, collations)
        }
    }

    mutating func aggregate(_ aggregate: SQLAggregate, _ value: SQLExpression, _ distinct: Bool) {
        switch dialect.form(of: aggregate) ?? .call(aggregate.rawValue) {
        case .ordered(let name):
            text.append(verbatim: name)
            text.append(" WITHIN GROUP (ORDER BY ")
            expression(value)
            text.append(")")
        case .template(let template), .plainTemplate(let template): self.template(template, [value])
        case .call(let name), .infix(let name):
            text.append(verbatim: name)
            text.append(distinct ? "(DISTINCT " : "(")
            expression(value)
            text.append(")")
        case .collated: list([value])
        }
    }

    /// Writes a text in which `{0}`, `{1}`, … are replaced by the arguments.
    private mutating func template(_ template: String, _ arguments: [SQLExpression]) {
        for (index, piece) in template.split(separator: "{", omittingEmptySubsequences: false).enumerated() {
            guard index > 0, let end = piece.firstIndex(of: "}"), let number = Int(piece[..<end]),
                arguments.indices.contains(number)
            else {
                text.append(verbatim: String(piece))
                continue
            }
            operand(arguments[number], above: .unary)
            text.append(verbatim: String(piece[piece.index(after: end)...]))
        }
    }

    /// Writes `(a COLLATE c = b)`.
    private mutating func collatedEquality(_ arguments: [SQLExpression], _ collations: [String]) {
        text.append("(")
        operand(arguments[0], above: .unary)
        if case .integer(let options)? = arguments.last, options > 0, options <= collations.count {
            text.append(" COLLATE ")
            text.append(identifier: collations[Int(options) - 1])
        }
        text.append(" = ")
        operand(arguments[1], above: .unary)
        text.append(")")
    }

    /// Writes a value of a type that is neither number, text nor bytes.
    mutating func typed(_ value: SQLValue, as type: SQLType) {
        let name = dialect.castTypes[type] ?? ""
        guard writesConstants else { return text.append(value, as: name) }
        switch (type, value) {
        case (.date, .real(let seconds)): text.append(quoted: TimestampText.text(seconds))
        case (.boolean, .integer(let truth)): text.append(quoted: truth == 0 ? "false" : "true")
        case (.identifier, .blob(let bytes)):
            text.append(quoted: bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        default: constant(value)
        }
        text.append(verbatim: "::" + name)
    }

    /// Writes a value as a constant of a standard SQL schema.
    mutating func constant(_ value: SQLValue) {
        switch value {
        case .null: text.append("NULL")
        case .integer(let value): text.append(integer: value)
        case .real(let value) where value.isFinite: text.append(verbatim: "\(value)")
        case .real(let value):
            text.append(quoted: value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
            text.append("::DOUBLE PRECISION")
        case .text(let value): text.append(quoted: value)
        case .blob(let value):
            let digits = value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            text.append(quoted: "\\x" + digits)
            text.append("::BYTEA")
        }
    }
}
