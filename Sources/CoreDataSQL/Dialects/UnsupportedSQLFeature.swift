import CoreDataPrimitives

/// A feature that a statement uses and a dialect does not support.
package enum UnsupportedSQLFeature: Hashable, Sendable, CustomStringConvertible {
    case function(SQLFunction)
    case aggregate(SQLAggregate)
    case collation(SQLCollation)
    case arithmetic(SQLExpression.Arithmetic)
    case complement
    case cast
    /// A regular expression of a ``FoldedPattern``.
    case pattern
    /// A text with the character U+0000.
    case zeroCharacter
    /// A column that is not the same in all rows of a group, or of rows that DISTINCT merges.
    case looseColumn
    /// More bound values than a statement supports.
    case values

    package var description: String {
        switch self {
        case .function(let function): function.rawValue
        case .aggregate(let aggregate): aggregate.rawValue
        case .collation(let collation): collation.rawValue
        case .arithmetic(let operation): operation.rawValue
        case .complement: "~"
        case .cast: "CAST"
        case .pattern: "regular expressions"
        case .zeroCharacter: "U+0000"
        case .looseColumn: "columns of one row of many"
        case .values: "statements of so many values"
        }
    }
}

extension SQLExpression {
    /// Returns the first feature that the dialect does not support; `nil` if it supports all.
    package func unsupportedFeature(in dialect: SQLDialect) -> UnsupportedSQLFeature? {
        if dialect.hasEverything { return nil }
        switch self {
        case .bind(.text(let text)) where dialect.failsOnValues && text.utf8.contains(0): return .zeroCharacter
        case .bind, .integer, .null, .column, .countAll: return nil
        case .comparison(_, let a, let b), .matches(let a, let b):
            return a.unsupportedFeature(in: dialect) ?? b.unsupportedFeature(in: dialect)
        case .arithmetic(let operation, let a, let b):
            return dialect.arithmetic.contains(operation)
                ? a.unsupportedFeature(in: dialect) ?? b.unsupportedFeature(in: dialect) : .arithmetic(operation)
        case .onesComplement(let value):
            return dialect.arithmetic.contains(.bitAnd) ? value.unsupportedFeature(in: dialect) : .complement
        // A cast that only declares a bound value's type computes nothing.
        case .cast(.bind(let value), let type) where dialect.typesValues && type.isTypedValue:
            if case .real(let seconds) = value, seconds.isFinite, Microseconds(seconds) == nil { return .cast }
            return nil
        // The cast truncates; servers round instead.
        case .cast(let value, let type):
            return dialect.casts && (type != .integer || !dialect.failsOnValues)
                ? value.unsupportedFeature(in: dialect) : .cast
        case .negation(let value), .not(let value), .isNull(let value), .isNotNull(let value):
            return value.unsupportedFeature(in: dialect)
        case .fits(let text, _): return dialect.findsPatterns ? text.unsupportedFeature(in: dialect) : .pattern
        case .and(let terms), .or(let terms): return Self.unsupportedFeature(terms, in: dialect)
        case .between(let value, let low, let high): return Self.unsupportedFeature([value, low, high], in: dialect)
        case .inList(let value, let items):
            return value.unsupportedFeature(in: dialect) ?? Self.unsupportedFeature(items, in: dialect)
        case .inSelect(let value, let select):
            return value.unsupportedFeature(in: dialect) ?? select.unsupportedFeature(in: dialect)
        case .exists(let select), .scalar(let select): return select.unsupportedFeature(in: dialect)
        case .function(let function, let arguments):
            if !dialect.computes(function, arguments) { return .function(function) }
            return Self.unsupportedFeature(arguments, in: dialect)
        case .aggregate(let aggregate, let value, let distinct):
            switch dialect.form(of: aggregate) {
            case nil: return .aggregate(aggregate)
            case .ordered? where distinct, .template? where distinct: return .aggregate(aggregate)
            default: return value.unsupportedFeature(in: dialect)
            }
        case .collate(let value, let collation):
            return dialect.name(of: collation) == nil ? .collation(collation) : value.unsupportedFeature(in: dialect)
        case .caseWhen(let whens, let otherwise):
            return Self.unsupportedFeature(whens.flatMap { [$0.condition, $0.value] } + [otherwise], in: dialect)
        }
    }

    private static func unsupportedFeature(
        _ expressions: [SQLExpression], in dialect: SQLDialect
    ) -> UnsupportedSQLFeature? {
        for expression in expressions {
            if let feature = expression.unsupportedFeature(in: dialect) { return feature }
        }
        return nil
    }
}

extension SQLType {
    /// Whether its values are neither numbers, text nor bytes if ``SQLDialect/typesValues`` is true.
    var isTypedValue: Bool { self == .date || self == .boolean || self == .identifier }
}

extension SelectStatement {
    /// Returns the first feature that the dialect does not support; `nil` if it supports all.
    package func unsupportedFeature(in dialect: SQLDialect) -> UnsupportedSQLFeature? {
        if dialect.hasEverything { return nil }
        if !dialect.groupsLoosely, hasLooseColumn { return .looseColumn }
        for case let feature? in others.lazy.map({ $0.unsupportedFeature(in: dialect) }) { return feature }
        for source in [source] + joins.map(\.source) {
            if let feature = source.members?.array.unsupportedFeature(in: dialect) { return feature }
            for case let feature? in source.rows.joined().lazy.map({ $0.unsupportedFeature(in: dialect) }) {
                return feature
            }
        }
        let expressions =
            columns.map(\.expression) + joins.map(\.condition) + [condition].compactMap { $0 } + groups
            + [having].compactMap { $0 } + orders.map(\.expression)
        for expression in expressions {
            if let feature = expression.unsupportedFeature(in: dialect) { return feature }
        }
        return nil
    }
}

extension SelectStatement {
    /// Whether it selects, or sorts by, a value that may differ among the rows of a group or of a DISTINCT.
    private var hasLooseColumn: Bool {
        let selected = columns.map(\.expression)
        let sorted = orders.map(\.expression)
        if isDistinct, !sorted.allSatisfy({ selected.contains($0) && !$0.hasBinding }) { return true }
        let shown = selected + sorted + [having].compactMap { $0 }
        guard !groups.isEmpty || having != nil || shown.contains(where: \.hasAggregate) else { return false }
        return shown.contains { $0.isLoose(beside: groups) }
    }
}

extension SQLExpression {
    /// Returns whether the expression has a column that is neither in the groups nor in an aggregate. Groups with bound
    /// values do not count: it is unknown whether the values are equal.
    fileprivate func isLoose(beside groups: [SQLExpression]) -> Bool {
        if groups.contains(self), !hasBinding { return false }
        switch self {
        case .column, .scalar, .exists: return true
        case .aggregate: return false
        default: return operands.contains { $0.isLoose(beside: groups) }
        }
    }

    /// The number of bound values, without those of nested SELECTs.
    package var bindingCount: Int {
        if case .bind = self { return 1 }
        if case .fits(let text, _) = self { return text.bindingCount + 1 }
        return operands.reduce(0) { $0 + $1.bindingCount }
    }

    /// Whether the expression reads other rows.
    package var hasSubquery: Bool {
        switch self {
        case .exists, .scalar, .inSelect: true
        default: operands.contains(where: \.hasSubquery)
        }
    }

    /// Whether the expression contains an aggregate.
    package var hasAggregate: Bool {
        switch self {
        case .aggregate, .countAll: true
        default: operands.contains(where: \.hasAggregate)
        }
    }

    fileprivate var hasBinding: Bool {
        switch self {
        case .bind, .fits, .scalar, .exists, .inSelect: true
        default: operands.contains(where: \.hasBinding)
        }
    }

    /// The operands of the expression in the same SELECT.
    private var operands: [SQLExpression] {
        switch self {
        case .bind, .integer, .null, .column, .countAll, .exists, .scalar: []
        case .comparison(_, let a, let b), .arithmetic(_, let a, let b), .matches(let a, let b): [a, b]
        case .negation(let value), .onesComplement(let value), .not(let value), .isNull(let value),
            .isNotNull(let value), .inSelect(let value, _), .aggregate(_, let value, _), .cast(let value, _),
            .collate(let value, _), .fits(let value, _):
            [value]
        case .and(let terms), .or(let terms), .function(_, let terms): terms
        case .between(let value, let low, let high): [value, low, high]
        case .inList(let value, let items): [value] + items
        case .caseWhen(let whens, let otherwise): whens.flatMap { [$0.condition, $0.value] } + [otherwise]
        }
    }
}
