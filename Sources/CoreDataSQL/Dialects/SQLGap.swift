import CoreDataPrimitives

/// Something that a statement asks for and a dialect lacks.
package enum SQLGap: Hashable, Sendable, CustomStringConvertible {
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
    /// A column that not all rows of a group, or of those that are one, share.
    case looseColumn
    /// More values than a statement takes.
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
    /// The first thing in it that the dialect lacks; `nil` where it has all.
    package func gap(in dialect: SQLDialect) -> SQLGap? {
        if dialect.hasEverything { return nil }
        switch self {
        case .bind(.text(let text)) where dialect.failsOnValues && text.utf8.contains(0): return .zeroCharacter
        case .bind, .integer, .null, .column, .countAll: return nil
        case .comparison(_, let a, let b), .matches(let a, let b): return a.gap(in: dialect) ?? b.gap(in: dialect)
        case .arithmetic(let operation, let a, let b):
            return dialect.arithmetic.contains(operation)
                ? a.gap(in: dialect) ?? b.gap(in: dialect) : .arithmetic(operation)
        case .onesComplement(let value):
            return dialect.arithmetic.contains(.bitAnd) ? value.gap(in: dialect) : .complement
        // A value that says of what type it is computes nothing.
        case .cast(.bind(let value), let type) where dialect.typesValues && type.isTypedValue:
            if case .real(let seconds) = value, seconds.isFinite, Microseconds(seconds) == nil { return .cast }
            return nil
        // A fraction is cut off, where servers round it.
        case .cast(let value, let type):
            return dialect.casts && (type != .integer || !dialect.failsOnValues) ? value.gap(in: dialect) : .cast
        case .negation(let value), .not(let value), .isNull(let value), .isNotNull(let value):
            return value.gap(in: dialect)
        case .fits(let text, _): return dialect.findsPatterns ? text.gap(in: dialect) : .pattern
        case .and(let terms), .or(let terms): return Self.gap(terms, in: dialect)
        case .between(let value, let low, let high): return Self.gap([value, low, high], in: dialect)
        case .inList(let value, let items): return value.gap(in: dialect) ?? Self.gap(items, in: dialect)
        case .inSelect(let value, let select): return value.gap(in: dialect) ?? select.gap(in: dialect)
        case .exists(let select), .scalar(let select): return select.gap(in: dialect)
        case .function(let function, let arguments):
            if !dialect.computes(function, arguments) { return .function(function) }
            return Self.gap(arguments, in: dialect)
        case .aggregate(let aggregate, let value, let distinct):
            switch dialect.form(of: aggregate) {
            case nil: return .aggregate(aggregate)
            case .ordered? where distinct, .template? where distinct: return .aggregate(aggregate)
            default: return value.gap(in: dialect)
            }
        case .collate(let value, let collation):
            return dialect.name(of: collation) == nil ? .collation(collation) : value.gap(in: dialect)
        case .caseWhen(let whens, let otherwise):
            return Self.gap(whens.flatMap { [$0.condition, $0.value] } + [otherwise], in: dialect)
        }
    }

    private static func gap(_ expressions: [SQLExpression], in dialect: SQLDialect) -> SQLGap? {
        for expression in expressions {
            if let gap = expression.gap(in: dialect) { return gap }
        }
        return nil
    }
}

extension SQLType {
    /// Whether values of it are neither numbers, text nor bytes where ``SQLDialect/typesValues``.
    var isTypedValue: Bool { self == .date || self == .boolean || self == .identifier }
}

extension SelectStatement {
    /// The first thing in it that the dialect lacks; `nil` where it has all.
    package func gap(in dialect: SQLDialect) -> SQLGap? {
        if dialect.hasEverything { return nil }
        if !dialect.groupsLoosely, hasLooseColumn { return .looseColumn }
        for case let gap? in others.lazy.map({ $0.gap(in: dialect) }) { return gap }
        for source in [source] + joins.map(\.source) {
            if let gap = source.members?.array.gap(in: dialect) { return gap }
            for case let gap? in source.rows.joined().lazy.map({ $0.gap(in: dialect) }) { return gap }
        }
        let expressions =
            columns.map(\.expression) + joins.map(\.condition) + [condition].compactMap { $0 } + groups
            + [having].compactMap { $0 } + orders.map(\.expression)
        for expression in expressions {
            if let gap = expression.gap(in: dialect) { return gap }
        }
        return nil
    }
}

extension SelectStatement {
    /// Whether it selects, or sorts by, what is not the same for all rows that become one.
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
    /// Whether it has something of a row that is neither one of the groups nor in an aggregate. A group with a bound value counts as none:
    /// nobody knows that the two are the same.
    fileprivate func isLoose(beside groups: [SQLExpression]) -> Bool {
        if groups.contains(self), !hasBinding { return false }
        switch self {
        case .column, .scalar, .exists: return true
        case .aggregate: return false
        default: return operands.contains { $0.isLoose(beside: groups) }
        }
    }

    /// How many values are bound in it; in other statements that it has none are counted.
    package var bindingCount: Int {
        if case .bind = self { return 1 }
        if case .fits(let text, _) = self { return text.bindingCount + 1 }
        return operands.reduce(0) { $0 + $1.bindingCount }
    }

    /// Whether other rows are looked at.
    package var hasSubquery: Bool {
        switch self {
        case .exists, .scalar, .inSelect: true
        default: operands.contains(where: \.hasSubquery)
        }
    }

    /// Whether it computes something of all rows of a group.
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

    /// What it is made of, in the same SELECT.
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
