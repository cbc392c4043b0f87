import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// Translates a comparison of two terms.
    func condition(
        _ left: QueryTerm, _ leaf: Leaf, _ right: QueryTerm, negated: Bool
    ) throws -> SQLExpression {
        switch leaf.comparator {
        case .equalTo:
            return try equality(left, leaf, right, negated: negated)
        case .notEqualTo:
            return try equality(left, leaf, right, negated: !negated)
        case .lessThan:
            return try ordering(left, .less, leaf, right, negated: negated)
        case .lessThanOrEqualTo:
            return try ordering(left, .lessOrEqual, leaf, right, negated: negated)
        case .greaterThan:
            return try ordering(left, .greater, leaf, right, negated: negated)
        case .greaterThanOrEqualTo:
            return try ordering(left, .greaterOrEqual, leaf, right, negated: negated)
        case .between:
            return try between(left, leaf, right, negated: negated)
        case .in:
            return try membership(of: left, in: right, leaf, negated: negated)
        case .contains:
            return try membership(of: right, in: left, leaf, negated: negated)
        case .beginsWith, .endsWith, .like, .matches:
            return try textMatch(left, leaf, right, negated: negated)
        case .customSelector:
            throw failure("unimplemented SQL generation for predicate", leaf.predicate)
        }
    }

    // MARK: Equality

    /// Translates equality in which nil equals nil, or its exact negation.
    ///
    ///     name == "a"     // t0.ZNAME = ?            NOT: (t0.ZNAME <> ? OR t0.ZNAME IS NULL)
    ///     name == nil     // t0.ZNAME IS NULL        NOT: t0.ZNAME IS NOT NULL
    ///     name == title   // t0.ZNAME IS t0.ZTITLE   NOT: t0.ZNAME IS NOT t0.ZTITLE
    func equality(
        _ left: QueryTerm, _ leaf: Leaf, _ right: QueryTerm, negated: Bool
    ) throws -> SQLExpression {
        switch (left, right) {
        case (.collection, _), (_, .collection):
            throw toManyNotAllowed(leaf)
        case (.list, _), (_, .list):
            throw failure("unimplemented SQL generation for predicate", leaf.predicate)
        case (.entity(let row), let other), (let other, .entity(let row)):
            return try entityEquality(row, other, leaf, negated: negated)
        case (.row, _), (.key, _), (_, .row), (_, .key):
            return try rowEquality(left, right, leaf, negated: negated)
        case (.constant, _), (.scalar, _):
            return try scalarEquality(scalar(left, leaf.left), scalar(right, leaf.right), leaf, negated: negated)
        }
    }

    private func toManyNotAllowed(_ leaf: Leaf) -> PredicateFailure {
        failure(
            "to-many key not allowed here", leaf.predicate,
            hint: "say which members are meant: ANY, ALL, NONE, @count or SUBQUERY")
    }

    private func scalarEquality(
        _ left: QueryScalar?, _ right: QueryScalar?, _ leaf: Leaf, negated: Bool
    ) throws -> SQLExpression {
        guard let left else { return right.map { null($0, negated: negated) } ?? .boolean(!negated) }
        guard let right else { return null(left, negated: negated) }
        guard left.kind.isComparable(to: right.kind), left.kind != .opaque else {
            if left.kind == .opaque || right.kind == .opaque {
                throw failure(
                    "unimplemented SQL generation for predicate", leaf.predicate,
                    hint: "\(QueryScalar.Kind.opaque.name) can only be compared with nil in a store")
            }
            // Values of two types are never equal, but two nils are.
            let nulls = SQLExpression.all([null(left, negated: false), null(right, negated: false)])
            if !negated { return nulls }
            return .any([null(left, negated: true), null(right, negated: true)])
        }
        if left.isNaN || right.isNaN { return .boolean(negated) }
        if left.kind.isText, leaf.folding != 0 {
            return foldedEquality(left, right, leaf.folding, negated: negated)
        }
        if !context.dialect.mixesNumbers, left.isMixed(with: right) {
            return mixedEquality(left, right, negated: negated)
        }
        return equality(left.matching(right), right.matching(left), negated: negated)
    }

    /// Translates equality of a double and another kind of number, for a database that would round one of them.
    private func mixedEquality(_ left: QueryScalar, _ right: QueryScalar, negated: Bool) -> SQLExpression {
        for (constant, other) in [(left, right), (right, left)] {
            guard let place = constant.place(among: other.kind) else { continue }
            return place.side == .at ? equality(other, place.number, negated: negated) : .boolean(negated)
        }
        guard let order = numberOrder(left, right) else { return equality(left, right, negated: negated) }
        return equality(of: .comparison(.equal, order, .integer(0)), left, right, negated: negated)
    }

    /// Returns an expression with the sign of the comparison of an integer and a double, in either order.
    private func numberOrder(_ left: QueryScalar, _ right: QueryScalar) -> SQLExpression? {
        switch (left.kind, right.kind) {
        case (.integer, .real): .function(.numberOrder, [left.sql, right.sql])
        case (.real, .integer): .negation(.function(.numberOrder, [right.sql, left.sql]))
        default: nil
        }
    }

    /// Translates equality of two values that databases compare as this framework does.
    private func equality(_ left: QueryScalar, _ right: QueryScalar, negated: Bool) -> SQLExpression {
        if let short = existence(left.sql, negated ? .notEqual : .equal, right.sql) { return short }
        let (a, b) = left.comparable(to: right)
        if left.isOptional && right.isOptional {
            return .comparison(negated ? .notIdentical : .identical, a, b)
        }
        if !negated { return .comparison(.equal, a, b) }
        let differs = SQLExpression.comparison(.notEqual, a, b)
        return .any([differs] + nulls(left) + nulls(right))
    }

    private func foldedEquality(
        _ left: QueryScalar, _ right: QueryScalar, _ folding: UInt, negated: Bool
    ) -> SQLExpression {
        if narrows, !negated {
            let superset = superset(left, .equalTo, right, folding) ?? superset(right, .equalTo, left, folding)
            if let superset { return superset }
        }
        let equal = SQLExpression.function(
            .textEqual, [left.sql, right.sql, .integer(Int64(folding))])
        if !negated, !left.isOptional || !right.isOptional {
            let candidates = candidates(left, right, folding) ?? candidates(right, left, folding)
            return .all([candidates].compactMap { $0 } + [equal])
        }
        return equality(of: equal, left, right, negated: negated)
    }

    /// Translates equality in which nil equals nil, or its exact negation, given a condition for values that are not
    /// nil.
    private func equality(
        of equal: SQLExpression, _ left: QueryScalar, _ right: QueryScalar, negated: Bool
    ) -> SQLExpression {
        let bothOptional = left.isOptional && right.isOptional
        if !negated { return bothOptional ? .any([equal, .all(nulls(left) + nulls(right))]) : equal }
        if !bothOptional { return .any([.not(equal)] + nulls(left) + nulls(right)) }
        // Either exactly one is nil, or none is and they differ.
        return .any([
            .not(equal),
            .all([.isNull(left.sql), .isNotNull(right.sql)]),
            .all([.isNotNull(left.sql), .isNull(right.sql)]),
        ])
    }

    /// Returns `IS NULL` or `IS NOT NULL`; a constant if the value is never NULL.
    func null(_ scalar: QueryScalar, negated: Bool) -> SQLExpression {
        guard scalar.isOptional else { return .boolean(negated) }
        if scalar.sql == .null { return .boolean(!negated) }
        return negated ? .isNotNull(scalar.sql) : .isNull(scalar.sql)
    }

    /// Returns the condition that the value is NULL; empty if it never is.
    func nulls(_ scalar: QueryScalar) -> [SQLExpression] {
        scalar.isOptional ? [null(scalar, negated: false)] : []
    }

    // MARK: Rows

    /// Translates equality of two rows by their keys, which are unique within an inheritance tree.
    private func rowEquality(
        _ left: QueryTerm, _ right: QueryTerm, _ leaf: Leaf, negated: Bool
    ) throws -> SQLExpression {
        // An object without a row equals nothing, not even nil.
        if case .key(nil) = left { return .boolean(negated) }
        if case .key(nil) = right { return .boolean(negated) }
        let a = rowScalar(left)
        let b = rowScalar(right)
        if case .constant(.null) = left, let b { return null(b.scalar, negated: negated) }
        if case .constant(.null) = right, let a { return null(a.scalar, negated: negated) }
        guard let a, let b else {
            // A row and a value of another type are equal only if both are nil.
            let other = a == nil ? left : right
            guard let row = a ?? b, let scalar = try scalar(other, leaf.left) else { return .boolean(negated) }
            let nulls = [null(row.scalar, negated: negated), null(scalar, negated: negated)]
            return negated ? .any(nulls) : .all(nulls)
        }
        guard a.root == b.root else {
            let nulls = [null(a.scalar, negated: negated), null(b.scalar, negated: negated)]
            return negated ? .any(nulls) : .all(nulls)
        }
        return equality(a.scalar, b.scalar, negated: negated)
    }

    /// Returns a row's key as a value, with the root of its inheritance tree.
    func rowScalar(_ term: QueryTerm) -> (scalar: QueryScalar, root: Int)? {
        switch term {
        case .row(let row):
            let scalar = QueryScalar(row.key, .integer, isOptional: row.isOptional)
            return (scalar, context.model.entities[row.entity].root)
        case .key(let key?):
            let scalar = QueryScalar(.bind(.integer(key.primaryKey)), .integer, isOptional: false)
            return (scalar, context.model.entities[key.entity].root)
        default:
            return nil
        }
    }

    // MARK: Order

    /// Translates `<` and similar operators. They are false if a side is nil, so their negation is then true.
    private func ordering(
        _ left: QueryTerm, _ comparison: SQLExpression.Comparison, _ leaf: Leaf, _ right: QueryTerm,
        negated: Bool
    ) throws -> SQLExpression {
        if case .collection = left { throw toManyNotAllowed(leaf) }
        if case .collection = right { throw toManyNotAllowed(leaf) }
        if case .entity(let row) = left { return try entityMatch(row, leaf, right, negated: negated) }
        guard let a = try scalar(left, leaf.left), let b = try scalar(right, leaf.right) else {
            return .boolean(negated)
        }
        try checkOrder(a, b, leaf)
        if a.isNaN || b.isNaN { return notANumber(a, comparison, b, negated: negated) }
        let (x, comparison, y) = ordered(a, comparison, b, leaf)
        if !negated {
            if let short = existence(x, comparison, y) { return short }
            return .comparison(comparison, x, y)
        }
        if let short = existence(x, comparison.opposite, y) { return short }
        return .any([.comparison(comparison.opposite, x, y)] + nulls(a) + nulls(b))
    }

    /// NaN sorts before every number.
    private func notANumber(
        _ a: QueryScalar, _ comparison: SQLExpression.Comparison, _ b: QueryScalar, negated: Bool
    ) -> SQLExpression {
        if a.isNaN && b.isNaN {
            return .boolean((comparison == .lessOrEqual || comparison == .greaterOrEqual) != negated)
        }
        let isGreater = comparison == .greater || comparison == .greaterOrEqual
        return isGreater == b.isNaN ? null(a.isNaN ? b : a, negated: !negated) : .boolean(negated)
    }

    private func checkOrder(_ a: QueryScalar, _ b: QueryScalar, _ leaf: Leaf) throws {
        guard a.kind.isComparable(to: b.kind), a.kind != .opaque else {
            throw failure(
                "\(a.kind.name) cannot be ordered against \(b.kind.name)", leaf.predicate, kind: .evaluation,
                hint: "CAST one of them, or compare values of one type")
        }
    }

    /// Returns the two expressions, and the comparison in SQL's order.
    private func ordered(
        _ a: QueryScalar, _ comparison: SQLExpression.Comparison, _ b: QueryScalar, _ leaf: Leaf
    ) -> (SQLExpression, SQLExpression.Comparison, SQLExpression) {
        if !context.dialect.mixesNumbers, a.isMixed(with: b) {
            if let place = b.place(among: a.kind) { return (a.sql, place.comparison(comparison), place.number.sql) }
            if let place = a.place(among: b.kind) {
                return (place.number.sql, place.comparison(comparison.mirrored).mirrored, b.sql)
            }
            if let order = numberOrder(a, b) { return (order, comparison, .integer(0)) }
        }
        guard a.kind.isText, leaf.ordering != 0 else { return (a.matching(b).sql, comparison, b.matching(a).sql) }
        let compare = SQLExpression.function(
            .textCompare, [a.sql, b.sql, .integer(Int64(leaf.ordering))])
        return (compare, comparison, .integer(0))
    }

    /// Translates a comparison of a count with 0 to the existence of a row.
    ///
    ///     items.@count > 0    // EXISTS (SELECT 1 FROM ZITEM t1 WHERE t1.ZUNIT = t0.Z_PK)
    private func existence(
        _ left: SQLExpression, _ comparison: SQLExpression.Comparison, _ right: SQLExpression
    ) -> SQLExpression? {
        guard case .scalar(var select) = left, select.columns == [.init(.countAll)],
            case .bind(.integer(let limit)) = right
        else { return nil }
        let wantsRow: Bool
        switch (comparison, limit) {
        case (.greater, 0), (.greaterOrEqual, 1), (.notEqual, 0): wantsRow = true
        case (.less, 1), (.lessOrEqual, 0), (.equal, 0): wantsRow = false
        default: return nil
        }
        select.columns = [.init(.integer(1))]
        return wantsRow ? .exists(select) : .not(.exists(select))
    }

    // MARK: BETWEEN

    private func between(
        _ value: QueryTerm, _ leaf: Leaf, _ bounds: QueryTerm, negated: Bool
    ) throws -> SQLExpression {
        guard case .list(let members) = bounds, members.count == 2 else {
            throw failure(
                "BETWEEN needs a lower and an upper bound", leaf.predicate, kind: .evaluation,
                hint: "write BETWEEN {1, 10}")
        }
        let low = try ordering(value, .greaterOrEqual, leaf, members[0], negated: negated)
        let high = try ordering(value, .lessOrEqual, leaf, members[1], negated: negated)
        if case .comparison(.greaterOrEqual, let x, let a) = low,
            case .comparison(.lessOrEqual, let y, let b) = high, x == y, leaf.ordering == 0
        {
            return .between(x, a, b)
        }
        return negated ? .any([low, high]) : .all([low, high])
    }

    // MARK: Entities

    /// Translates `entity == …` and comparisons of `entity.name`, which are evaluated now for every possible entity of
    /// the row.
    func entityMatch(
        _ row: RowReference, _ leaf: Leaf, _ other: QueryTerm, negated: Bool
    ) throws -> SQLExpression {
        guard case .constant(.string(let text)) = other else {
            throw failure("unimplemented SQL generation for predicate", leaf.predicate)
        }
        return try entities(of: row, negated: negated) { name in
            try matches(name, leaf, text)
        }
    }

    private func entityEquality(
        _ row: RowReference, _ other: QueryTerm, _ leaf: Leaf, negated: Bool
    ) throws -> SQLExpression {
        switch other {
        case .constant(.string(let text)):
            return try entities(of: row, negated: negated) {
                TextComparison.equal($0, text, options: leaf.folding)
            }
        case .constant(.null):
            let key = QueryScalar(row.key, .integer, isOptional: row.isOptional)
            return null(key, negated: negated)
        case .constant:
            return .boolean(negated)
        default:
            throw failure("unimplemented SQL generation for predicate", leaf.predicate)
        }
    }

    /// Returns the rows whose entity's name passes the test: `t0.Z_ENT IN (…)`.
    func entities(
        of row: RowReference, negated: Bool, where passes: (String) throws -> Bool
    ) throws -> SQLExpression {
        let candidates = context.rowEntities(of: row.entity)
        let chosen = try candidates.filter { try passes(context.model.entities[$0].name) != negated }
        let absent = QueryScalar(row.key, .integer, isOptional: row.isOptional)
        if chosen.isEmpty && !negated { return .alwaysFalse }
        if chosen.count == candidates.count {
            return negated ? .alwaysTrue : null(absent, negated: true)
        }
        let column = SQLExpression.column(try row.scope.alias(of: row), "Z_ENT")
        let numbers = try chosen.map { SQLExpression.bind(.integer(try context.number(of: $0))) }
        let isOne: SQLExpression =
            numbers.count == 1 ? .comparison(.equal, column, numbers[0]) : .inList(column, numbers)
        return negated && row.isOptional ? .any([isOne, .isNull(row.key)]) : isOne
    }
}

extension SQLExpression.Comparison {
    /// The comparison that holds between two values that are not NULL if this one does not.
    var opposite: Self {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        case .identical: .notIdentical
        case .notIdentical: .identical
        }
    }
}
