import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// Translates `collection.@operator.rest`.
    func collectionOperator(
        _ name: String, _ term: QueryTerm, _ rest: ArraySlice<String>, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        switch name {
        case "@count":
            return try aggregate(.count, name, of: term, rest, expression)
        case "@sum":
            return try aggregate(.sum, name, of: term, rest, expression)
        case "@avg":
            return try aggregate(.average, name, of: term, rest, expression)
        case "@min":
            return try aggregate(.min, name, of: term, rest, expression)
        case "@max":
            return try aggregate(.max, name, of: term, rest, expression)
        case "@unionOfObjects", "@unionOfArrays", "@unionOfSets":
            try checkPath(rest, of: name, expression)
            return try union(of: term, rest, isDistinct: false, expression)
        case "@distinctUnionOfObjects", "@distinctUnionOfArrays", "@distinctUnionOfSets":
            try checkPath(rest, of: name, expression)
            return try union(of: term, rest, isDistinct: true, expression)
        default:
            throw unsupported(expression)
        }
    }

    /// Returns the members' values that are not nil, without duplicates if `isDistinct`.
    private func union(
        of term: QueryTerm, _ keys: ArraySlice<String>, isDistinct: Bool, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        let end = keys.firstIndex { $0.hasPrefix("@") } ?? keys.endIndex
        guard case .collection(var collection) = try follow(keys[..<end], from: term, of: expression) else {
            throw unsupported(expression)
        }
        collection.scope.require(null(try memberScalar(collection.element, expression), negated: true))
        collection.isDistinct = isDistinct
        collection.optionalOwner = nil
        return try follow(keys[end...], from: .collection(collection), of: expression)
    }

    private func aggregate(
        _ function: PredicateFunction, _ name: String, of term: QueryTerm, _ rest: ArraySlice<String>,
        _ expression: ExpressionNode
    ) throws -> QueryTerm {
        switch term {
        case .collection, .list, .constant(.null): break
        // A column: @sum.price.
        case .row where aggregatesRows, .scalar where aggregatesRows:
            return try aggregate(function, of: try follow(rest, from: term, of: expression), expression)
        case .row, .scalar, .key, .entity, .constant:
            throw failure("'\(name)' needs a collection", expression, kind: .evaluation)
        }
        // As in key-value coding, @count ignores the rest of the path.
        if function == .count { return try aggregate(function, of: term, expression) }
        try checkPath(rest, of: name, expression)
        guard rest.contains(where: { $0.hasPrefix("@") }), case .collection(var collection) = term else {
            return try aggregate(function, of: try follow(rest, from: term, of: expression), expression)
        }
        // Operators further right apply to each member: @max.tags.@count.
        collection.element = try follow(rest, from: collection.element, of: expression)
        return try aggregate(function, of: .collection(collection), expression)
    }

    private func checkPath(_ rest: ArraySlice<String>, of name: String, _ expression: ExpressionNode) throws {
        guard rest.first.map({ !$0.hasPrefix("@") }) ?? false else {
            throw failure(
                "'\(name)' needs a key path to its right, such as '\(name).self'", expression, kind: .evaluation)
        }
    }

    /// Translates `sum:(items.price)`, or `max:(a, b)` with several arguments.
    func aggregate(
        _ function: PredicateFunction, _ arguments: [ExpressionNode], _ expression: ExpressionNode
    ) throws -> QueryTerm {
        if aggregatesRows, arguments.count == 1, case .function("distinct:", let inner) = arguments[0], inner.count == 1
        {
            return try aggregate(function, ofDistinct: try term(inner[0]), expression)
        }
        guard arguments.count > 1 else { return try aggregate(function, of: try term(arguments[0]), expression) }
        let members = try arguments.compactMap { try scalar(term($0), $0) }
        return try aggregate(function, over: members, expression, of: arguments.count)
    }

    /// Aggregates distinct values: for a column those of all rows, for a collection its own.
    ///
    ///     count:(distinct:(pages))   // COUNT(DISTINCT t0.ZPAGES)
    private func aggregate(
        _ function: PredicateFunction, ofDistinct term: QueryTerm, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        switch term {
        case .scalar, .row:
            return .scalar(
                try aggregated(function, try memberScalar(term, expression), true, expression, isOfRows: true))
        default: return try aggregate(function, of: try aggregate(.distinct, of: term, expression), expression)
        }
    }

    /// Translates the least or greatest of several values, ignoring nil, or their sum.
    ///
    ///     max:(a, b)   // MAX(COALESCE(t0.ZA, t0.ZB), COALESCE(t0.ZB, t0.ZA))
    private func aggregate(
        _ function: PredicateFunction, over members: [QueryScalar], _ expression: ExpressionNode, of count: Int = 1
    ) throws -> QueryTerm {
        if function == .count { return .constant(.integer(Int64(count))) }
        guard let first = members.first else { return try aggregate(function, of: .constant(.null), expression) }
        try checkNumbers(members, expression)
        let isNumeric = members.allSatisfy { $0.kind.isNumber }
        let kind = Self.common(members.map(\.kind)) ?? .real
        let isOptional = members.allSatisfy(\.isOptional)
        switch function {
        case .sum where isNumeric:
            let terms = members.map { member in
                let number = member.widened(context.dialect)
                return member.isOptional ? SQLExpression.function(.coalesce, [number, .integer(0)]) : number
            }
            // If one is a double, decimals are converted to doubles.
            let kinds = members.map(\.kind)
            let isExact = kinds.contains(.decimal) && !kinds.contains(.real)
            let sum = terms.dropFirst().reduce(terms[0]) {
                isExact ? .function(.decimalAdd, [$0, $1]) : .arithmetic(.add, $0, $1)
            }
            return .scalar(QueryScalar(sum, kind == .decimal && !isExact ? .real : kind, isOptional: false))
        case .min where isNumeric || members.allSatisfy { $0.kind == kind && $0.kind != .opaque },
            .max where isNumeric || members.allSatisfy { $0.kind == kind && $0.kind != .opaque }:
            guard members.count > 1 else { return .scalar(first) }
            let all = members.map(\.sql)
            // Each argument falls back to the others, since SQL's MIN and MAX are NULL if an argument is.
            let arguments = all.indices.map { index in
                SQLExpression.function(.coalesce, Array(all[index...] + all[..<index]))
            }
            let name = function == .min ? SQLFunction.least : .greatest
            return .scalar(QueryScalar(.function(name, arguments), kind, isOptional: isOptional))
        case .sum, .min, .max, .count, .average, .median, .mode, .standardDeviation, .distinct, .add, .subtract,
            .multiply, .divide, .modulus, .power, .absolute, .squareRoot, .logarithm, .naturalLogarithm, .exponential,
            .ceiling, .floor, .truncate, .random, .randomBelow, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
            .rightShift, .onesComplement, .uppercase, .lowercase, .canonical, .length, .characters, .now, .noIndex,
            .element,
            .cast, .distance:
            throw unsupported(expression)
        }
    }

    private func aggregate(
        _ function: PredicateFunction, of term: QueryTerm, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        switch term {
        case .collection(var collection):
            if function == .distinct {
                collection.isDistinct = true
                return .collection(collection)
            }
            return .scalar(try subselect(function, collection, expression))
        case .scalar(let scalar) where !aggregatesRows:
            // In memory, a column of a row is one value.
            return try aggregate(function, over: [scalar], expression)
        case .list(let members):
            let scalars = try members.compactMap { try self.scalar($0, expression) }
            return try aggregate(function, over: scalars, expression, of: members.count)
        case .scalar, .row:
            guard aggregatesRows else { throw unsupported(expression) }
            let member = try memberScalar(term, expression)
            // A to-one that is nil is not counted.
            let countsRows = if case .row(let row) = term { function == .count && !row.isOptional } else { false }
            return .scalar(
                try aggregated(function, countsRows ? nil : member, false, expression, isOfRows: true))
        case .constant(.null):
            // nil counts as an empty collection.
            switch function {
            case .sum, .count, .average: return .constant(.integer(0))
            case .min, .max, .median, .standardDeviation: return .constant(.null)
            case .mode, .distinct: return .list([])
            case .add, .subtract, .multiply, .divide, .modulus, .power,
                .absolute, .squareRoot, .logarithm, .naturalLogarithm, .exponential, .ceiling, .floor, .truncate,
                .random, .randomBelow, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement,
                .uppercase, .lowercase, .canonical, .length, .characters, .now, .noIndex, .element, .cast, .distance:
                throw unsupported(expression)
            }
        case .constant, .key, .entity:
            throw unsupported(expression)
        }
    }

    /// Returns the common kind of several values; decimals win, since whole decimals look like integers.
    static func common(_ kinds: [QueryScalar.Kind]) -> QueryScalar.Kind? {
        guard let first = kinds.first else { return nil }
        if kinds.allSatisfy({ $0 == first }) { return first }
        guard kinds.allSatisfy(\.isNumber) else { return kinds.allSatisfy(\.isText) ? .string : nil }
        return kinds.contains(.decimal) ? .decimal : .real
    }

    /// Returns a scalar subselect over the collection's members.
    private func subselect(
        _ function: PredicateFunction, _ collection: QueryCollection, _ expression: ExpressionNode
    ) throws -> QueryScalar {
        let member = try memberScalar(collection.element, expression)
        if case .row = collection.element, function != .count {
            throw failure("objects have neither an order nor a sum", expression, kind: .evaluation)
        }
        let counted = function == .count && !collection.isDistinct ? nil : member
        var result = try aggregated(function, counted, collection.isDistinct, expression)
        result.sql = .scalar(collection.scope.select([result.sql]))
        return result
    }

    private func memberScalar(_ term: QueryTerm, _ expression: ExpressionNode) throws -> QueryScalar {
        if let row = rowScalar(term) { return row.scalar }
        guard let scalar = try scalar(term, expression) else { throw unsupported(expression) }
        return scalar
    }

    /// Returns the aggregate over rows; without a member, of the rows themselves.
    private func aggregated(
        _ function: PredicateFunction, _ member: QueryScalar?, _ isDistinct: Bool, _ expression: ExpressionNode,
        isOfRows: Bool = false
    ) throws -> QueryScalar {
        guard let member else { return QueryScalar(.countAll, .integer, isOptional: false) }
        if function == .count {
            return QueryScalar(
                .aggregate(.count, member.sql, distinct: isDistinct), .integer, isOptional: false)
        }
        if function == .min || function == .max {
            guard member.kind != .opaque else { throw unsupported(expression) }
            let hasOrderOnly = member.kind == .identifier || member.kind == .data
            let name: SQLAggregate =
                hasOrderOnly ? (function == .min ? .first : .last) : function == .min ? .minimum : .maximum
            return QueryScalar(.aggregate(name, member.sql, distinct: false), member.kind)
        }
        guard member.kind.isNumber else {
            throw failure("\(member.kind.name) is no number", expression, kind: .evaluation)
        }
        switch function {
        case .sum:
            let name = member.kind == .decimal ? SQLAggregate.decimalSum : .sum
            let sum = SQLExpression.aggregate(name, member.sql, distinct: isDistinct)
            return QueryScalar(.function(.coalesce, [sum, .integer(0)]), member.kind, isOptional: false)
        case .average:
            let name = member.kind == .decimal ? SQLAggregate.decimalAverage : .average
            let average = SQLExpression.aggregate(name, member.sql, distinct: isDistinct)
            let kind = member.kind == .decimal ? QueryScalar.Kind.decimal : .real
            // For an empty collection it is 0, as in key-value coding; for no rows it is nil.
            if isOfRows { return QueryScalar(average, kind) }
            return QueryScalar(.function(.coalesce, [average, .integer(0)]), kind, isOptional: false)
        // In memory, the mode is the list of all equally frequent values.
        case .mode where !aggregatesRows:
            throw unsupported(expression)
        case .median:
            return QueryScalar(.aggregate(.median, member.sql, distinct: isDistinct), .real)
        case .mode:
            let mode = SQLExpression.aggregate(.mode, member.sql, distinct: isDistinct)
            // A function of ours returns a double.
            let isWhole = member.kind == .integer && !context.dialect.typesValues
            return QueryScalar(isWhole ? .cast(mode, to: .integer) : mode, member.kind)
        case .standardDeviation:
            return QueryScalar(.aggregate(.standardDeviation, member.sql, distinct: isDistinct), .real)
        case .count, .min, .max, .distinct, .add, .subtract, .multiply, .divide, .modulus, .power, .absolute,
            .squareRoot, .logarithm, .naturalLogarithm, .exponential, .ceiling, .floor, .truncate, .random,
            .randomBelow, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement, .uppercase,
            .lowercase, .canonical, .length, .characters, .now, .noIndex, .element, .cast, .distance:
            throw unsupported(expression)
        }
    }

    // MARK: Members by position

    /// Translates `[FIRST]`, `[LAST]`, `[n]` of an ordered relationship, and `[SIZE]` of any.
    ///
    ///     steps[FIRST].title   // joins on (SELECT t1.Z_PK FROM ZSTEP t1 WHERE … ORDER BY t1.Z_FOK_RECIPE LIMIT 1)
    func indexed(
        _ source: ExpressionNode, _ index: ExpressionNode, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        guard case .collection(let collection) = try term(source) else { throw unsupported(expression) }
        if case .constant(.symbol("SIZE")) = index {
            var size = try subselect(.count, collection, expression)
            if let owner = collection.optionalOwner {
                size = QueryScalar(.caseWhen([.init(.isNotNull(owner), size.sql)], otherwise: .null), .integer)
            }
            return .scalar(size)
        }
        guard let order = collection.order, case .row(let member) = collection.element else {
            throw failure(
                "Unsupported function expression \(text(of: expression))", expression,
                hint: "only members of an ordered relationship have a position")
        }
        var isAscending = true
        var offset = 0
        switch index {
        case .constant(.symbol("FIRST")): break
        case .constant(.symbol("LAST")): isAscending = false
        case .constant(.value(.integer(let number))) where number >= 0 && number < Int64(Int32.max):
            offset = Int(number)
        default: throw unsupported(expression)
        }
        var select = collection.scope.select([member.key])
        select.orders = order.map { .init($0, isAscending: isAscending) }
        select.limit = 1
        select.offset = offset
        return .row(
            RowReference(collection.ownerScope, entity: member.entity, key: .scalar(select), isOptional: true))
    }
}
