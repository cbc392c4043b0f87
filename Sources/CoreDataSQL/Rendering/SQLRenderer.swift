/// A value that can be rendered as SQL text.
package protocol SQLRenderable {
    func render(with renderer: inout SQLRenderer)
}

extension SQLRenderable {
    /// A capacity in bytes that suffices for most statements.
    private static var usualLength: Int { 240 }

    /// Returns the SQL text with its bound values.
    ///
    ///     let text = statement.text(in: connection.dialect)
    ///     let prepared = try connection.statement(text.sql)
    ///     try prepared.bind(text.bindings, at: 0)
    package func text(in dialect: SQLDialect) -> SQLText {
        var renderer = SQLRenderer(dialect)
        renderer.text.reserveCapacity(Self.usualLength)
        render(with: &renderer)
        return renderer.text
    }
}

/// Renders expressions and statements as text of a dialect. SQL text is made nowhere else.
///
/// It writes parentheses where the parser needs them, and where a reader would otherwise have to know the precedences.
package struct SQLRenderer {
    package var text: SQLText
    let dialect: SQLDialect
    /// Whether values are written as constants, because the text cannot have bound values.
    var writesConstants = false
    /// The table of unqualified columns, where their names could have another meaning.
    var ownTable: String?

    package init(_ dialect: SQLDialect) {
        self.dialect = dialect
        text = SQLText(in: dialect)
    }

    /// The precedence of an expression's outermost operator.
    enum Precedence: Int, Comparable {
        case or, and, not, comparison, bitwise, sum, product, concatenation, unary, operand

        static func < (a: Precedence, b: Precedence) -> Bool { a.rawValue < b.rawValue }
    }

    package mutating func expression(_ expression: SQLExpression) {
        switch expression {
        case .bind(let value) where writesConstants: constant(value)
        case .bind(let value): text.append(value)
        case .integer(let value): text.append(integer: value)
        case .null: text.append("NULL")
        case .column(let alias, let name): column(alias, name)
        case .countAll: text.append("COUNT(*)")
        case .comparison(let comparison, let left, let right):
            operand(left, above: .comparison)
            self.comparison(comparison)
            operand(right, above: .comparison)
        case .arithmetic(let operation, let left, let right):
            arithmetic(operation, left, right)
        case .negation(let value): prefix("-", value)
        case .onesComplement(let value): prefix("~", value)
        case .and(let terms): conjunction(terms, " AND ", empty: "1 = 1")
        case .or(let terms): conjunction(terms, " OR ", empty: "1 = 0")
        case .not(let term):
            text.append("NOT ")
            operand(term, above: .unary)
        case .isNull(let value):
            operand(value, above: .comparison)
            text.append(" IS NULL")
        case .isNotNull(let value):
            operand(value, above: .comparison)
            text.append(" IS NOT NULL")
        case .between(let value, let low, let high):
            operand(value, above: .comparison)
            text.append(" BETWEEN ")
            operand(low, above: .comparison)
            text.append(" AND ")
            operand(high, above: .comparison)
        case .inList(_, let items) where items.isEmpty:
            text.append("1 = 0")
        case .inList(let value, let items):
            operand(value, above: .comparison)
            text.append(" IN ")
            list(items)
        case .inSelect(let value, let statement):
            operand(value, above: .comparison)
            text.append(" IN ")
            subselect(statement)
        case .exists(let statement):
            text.append("EXISTS ")
            subselect(statement)
        case .scalar(let statement):
            subselect(statement)
        case .matches(let column, let query):
            operand(column, above: .comparison)
            text.append(" MATCH ")
            operand(query, above: .comparison)
        case .fits(let value, let pattern):
            operand(value, above: .comparison)
            text.append(" ~ ")
            self.expression(.bind(.text(pattern.regularExpression)))
        case .function(let function, let arguments):
            self.function(function, arguments)
        case .aggregate(let aggregate, let value, let distinct):
            self.aggregate(aggregate, value, distinct)
        case .cast(.bind(let value), let type) where dialect.typesValues && type.isTypedValue:
            typed(value, as: type)
        case .cast(let value, let type):
            text.append("CAST(")
            self.expression(value)
            text.append(" AS ")
            text.append(verbatim: dialect.castTypes[type] ?? "")
            text.append(")")
        case .collate(let value, let collation):
            operand(value, above: .unary)
            text.append(" COLLATE ")
            text.append(identifier: dialect.name(of: collation) ?? collation.rawValue)
        case .caseWhen(let whens, let otherwise):
            caseWhen(whens, otherwise: otherwise)
        }
    }

    /// `(a, b, …)`.
    mutating func list(_ items: [SQLExpression]) {
        text.append("(")
        for (index, item) in items.enumerated() {
            if index > 0 { text.append(", ") }
            expression(item)
        }
        text.append(")")
    }

    // MARK: Parts

    /// Writes an operand, in parentheses unless it binds tighter than `limit`.
    mutating func operand(_ operand: SQLExpression, above limit: Precedence) {
        if operand.precedence > limit {
            expression(operand)
        } else {
            text.append("(")
            expression(operand)
            text.append(")")
        }
    }

    private mutating func arithmetic(
        _ operation: SQLExpression.Arithmetic, _ left: SQLExpression, _ right: SQLExpression
    ) {
        let precedence = operation.precedence
        // a - b - c is (a - b) - c. Bit operators keep parentheses, since few readers know the precedence of | and <<.
        if case .arithmetic(let inner, _, _) = left, inner.precedence == precedence, precedence != .bitwise {
            expression(left)
        } else {
            operand(left, above: precedence)
        }
        text.append(verbatim: " \(operation.rawValue) ")
        operand(right, above: precedence)
    }

    private mutating func prefix(_ sign: StaticString, _ value: SQLExpression) {
        text.append(sign)
        // Two minus signs would start a comment.
        let isNegative =
            switch value {
            case .integer(let number): number < 0
            case .bind(.integer(let number)): writesConstants && number < 0
            case .bind(.real(let number)): writesConstants && number.sign == .minus
            default: false
            }
        if isNegative {
            text.append("(")
            expression(value)
            text.append(")")
        } else {
            operand(value, above: .unary)
        }
    }

    private mutating func conjunction(_ terms: [SQLExpression], _ word: StaticString, empty: StaticString) {
        guard terms.count != 1 else { return expression(terms[0]) }
        if terms.isEmpty { text.append(empty) }
        // Parsers read a chain as deep as it is long, and databases limit the depth of expressions.
        guard terms.count > Self.longestChain else { return chain(terms, word) }
        var size = Self.longestChain
        while terms.count > size * Self.longestChain { size *= Self.longestChain }
        for start in stride(from: 0, to: terms.count, by: size) {
            if start > 0 { text.append(word) }
            text.append("(")
            conjunction(Array(terms[start..<min(start + size, terms.count)]), word, empty: empty)
            text.append(")")
        }
    }

    private static let longestChain = 250

    private mutating func chain(_ terms: [SQLExpression], _ word: StaticString) {
        for (index, term) in terms.enumerated() {
            if index > 0 { text.append(word) }
            operand(term, above: .and)
        }
    }

    private mutating func comparison(_ comparison: SQLExpression.Comparison) {
        switch (comparison, dialect.identity) {
        case (.identical, .distinctFrom): text.append(" IS NOT DISTINCT FROM ")
        case (.notIdentical, .distinctFrom): text.append(" IS DISTINCT FROM ")
        default: text.append(verbatim: " \(comparison.rawValue) ")
        }
    }

    private mutating func column(_ alias: String?, _ name: String) {
        if let alias = alias ?? ownTable, !alias.isEmpty {
            // The rows of a trigger are not names of the schema.
            if writesConstants, alias == "NEW" || alias == "OLD" {
                text.append(verbatim: alias)
            } else {
                text.append(identifier: alias)
            }
            text.append(".")
        }
        text.append(identifier: name)
    }

    private mutating func subselect(_ statement: SelectStatement) {
        let outer = ownTable
        if outer != nil { ownTable = statement.source.alias.isEmpty ? statement.source.table : statement.source.alias }
        text.append("(")
        select(statement)
        text.append(")")
        ownTable = outer
    }

    private mutating func caseWhen(_ whens: [SQLExpression.When], otherwise: SQLExpression) {
        guard !whens.isEmpty else {
            return operand(otherwise, above: .unary)
        }
        text.append("CASE")
        for when in whens {
            text.append(" WHEN ")
            expression(when.condition)
            text.append(" THEN ")
            expression(when.value)
        }
        text.append(" ELSE ")
        expression(otherwise)
        text.append(" END")
    }
}

extension SQLExpression: SQLRenderable {
    package func render(with renderer: inout SQLRenderer) { renderer.expression(self) }

    fileprivate var precedence: SQLRenderer.Precedence {
        switch self {
        case .bind, .null, .column, .countAll, .scalar, .function, .aggregate, .cast: .operand
        case .integer(let value): value < 0 ? .unary : .operand
        case .caseWhen: .operand
        // `EXISTS (…)` is an operand; NOT EXISTS needs no parentheses.
        case .exists: .operand
        case .collate: .unary
        case .negation, .onesComplement: .unary
        case .arithmetic(let operation, _, _): operation.precedence
        case .comparison, .isNull, .isNotNull, .between, .inList, .inSelect, .matches, .fits: .comparison
        case .not: .not
        case .and(let terms): terms.count == 1 ? terms[0].precedence : terms.isEmpty ? .comparison : .and
        case .or(let terms): terms.count == 1 ? terms[0].precedence : terms.isEmpty ? .comparison : .or
        }
    }
}

extension SQLExpression.Arithmetic {
    fileprivate var precedence: SQLRenderer.Precedence {
        switch self {
        case .concatenate: .concatenation
        case .multiply, .divide, .remainder: .product
        case .add, .subtract: .sum
        case .bitAnd, .bitOr, .shiftLeft, .shiftRight: .bitwise
        }
    }
}
