/// Writes expressions and statements as text; the one place where SQL comes into being.
///
/// Parentheses stand where the parser needs them, and where a reader would have to know a table of precedences.
package struct SQLRenderer {
    package var text = SQLText()

    package init() {}

    /// How tightly an expression's outermost operator binds.
    enum Precedence: Int, Comparable {
        case or, and, not, comparison, bitwise, sum, product, concatenation, unary, operand

        static func < (a: Precedence, b: Precedence) -> Bool { a.rawValue < b.rawValue }
    }

    package mutating func expression(_ expression: SQLExpression) {
        switch expression {
        case .bind(let value): text.append(value)
        case .integer(let value): text.append(integer: value)
        case .null: text.append("NULL")
        case .column(let alias, let name): column(alias, name)
        case .countAll: text.append("COUNT(*)")
        case .comparison(let comparison, let left, let right):
            operand(left, above: .comparison)
            text.append(verbatim: " \(comparison.rawValue) ")
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
        case .function(let name, let arguments):
            function(name)
            list(arguments)
        case .aggregate(let name, let value, let distinct):
            function(name)
            text.append(distinct ? "(DISTINCT " : "(")
            self.expression(value)
            text.append(")")
        case .cast(let value, let type):
            text.append("CAST(")
            self.expression(value)
            text.append(" AS ")
            for (index, word) in type.split(separator: " ").enumerated() {
                if index > 0 { text.append(" ") }
                text.append(identifier: String(word))
            }
            text.append(")")
        case .collate(let value, let collation):
            operand(value, above: .unary)
            text.append(" COLLATE ")
            text.append(identifier: collation)
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
    private mutating func operand(_ operand: SQLExpression, above limit: Precedence) {
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
        // a - b - c is (a - b) - c. Bits are rare enough that nobody knows how | and << bind.
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
        // Two minus signs would begin a comment.
        if case .integer(let number) = value, number < 0 {
            text.append("(")
            text.append(integer: number)
            text.append(")")
        } else {
            operand(value, above: .unary)
        }
    }

    private mutating func conjunction(_ terms: [SQLExpression], _ word: StaticString, empty: StaticString) {
        guard terms.count != 1 else { return expression(terms[0]) }
        if terms.isEmpty { text.append(empty) }
        for (index, term) in terms.enumerated() {
            if index > 0 { text.append(word) }
            operand(term, above: .and)
        }
    }

    private mutating func column(_ alias: String?, _ name: String) {
        if let alias, !alias.isEmpty {
            text.append(identifier: alias)
            text.append(".")
        }
        text.append(identifier: name)
    }

    /// A function may bear a keyword's name (`replace`, `like`), so only what is not plain is quoted.
    private mutating func function(_ name: String) {
        if SQLIdentifier.isPlain(name) {
            text.append(verbatim: name)
        } else {
            text.append(identifier: name)
        }
    }

    private mutating func subselect(_ statement: SelectStatement) {
        text.append("(")
        select(statement)
        text.append(")")
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

extension SQLExpression {
    /// A placeholder of a statement that is prepared once and bound for each row.
    package static var parameter: SQLExpression { .bind(.null) }

    /// The expression alone, for use inside other text.
    package var text: SQLText {
        var renderer = SQLRenderer()
        renderer.expression(self)
        return renderer.text
    }

    fileprivate var precedence: SQLRenderer.Precedence {
        switch self {
        case .bind, .null, .column, .countAll, .scalar, .function, .aggregate, .cast: .operand
        case .integer(let value): value < 0 ? .unary : .operand
        case .caseWhen: .operand
        // `EXISTS (…)` reads as an operand; NOT EXISTS needs no parentheses.
        case .exists: .operand
        case .collate: .unary
        case .negation, .onesComplement: .unary
        case .arithmetic(let operation, _, _): operation.precedence
        case .comparison, .isNull, .isNotNull, .between, .inList, .inSelect: .comparison
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
