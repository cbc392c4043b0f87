import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// Translates a function of the predicate language.
    func function(
        _ name: String, _ arguments: [ExpressionNode], _ expression: ExpressionNode
    ) throws -> QueryTerm {
        guard let function = PredicateFunction(rawValue: name),
            function.argumentCount.contains(arguments.count)
        else { throw unsupported(expression) }
        switch function {
        case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .distinct:
            return try aggregate(function, arguments, expression)
        case .add, .subtract, .multiply, .divide, .modulus, .power, .absolute, .squareRoot, .logarithm,
            .naturalLogarithm, .exponential, .ceiling, .floor, .truncate, .bitwiseAnd, .bitwiseOr, .bitwiseXor,
            .leftShift, .rightShift, .onesComplement:
            return try arithmetic(function, arguments, expression)
        case .uppercase, .lowercase, .canonical, .length, .characters:
            return try textFunction(function, arguments[0], expression)
        case .random:
            // As in memory, an integer below 2³¹.
            let limit = SQLExpression.integer(1 << 31)
            return .scalar(QueryScalar(.function(.random, [limit]), .integer, isOptional: false))
        case .randomBelow:
            guard let limit = try scalar(term(arguments[0]), arguments[0]) else { return .constant(.null) }
            return .scalar(QueryScalar(.function(.random, [limit.sql]), .integer))
        case .noIndex:
            return try withoutIndex(arguments[0])
        case .element:
            return try indexed(arguments[0], arguments[1], expression)
        case .cast:
            return try cast(arguments[0], to: arguments[1], expression)
        case .now, .distance:
            throw unsupported(expression)
        }
    }

    func unsupported(_ expression: ExpressionNode) -> PredicateFailure {
        failure("Unsupported function expression \(text(of: expression))", expression)
    }

    // MARK: Numbers

    private func arithmetic(
        _ function: PredicateFunction, _ arguments: [ExpressionNode], _ expression: ExpressionNode
    ) throws -> QueryTerm {
        var operands: [QueryScalar] = []
        for argument in arguments {
            guard let operand = try scalar(try term(argument), argument) else { return .constant(.null) }
            operands.append(operand)
        }
        try checkNumbers(operands, expression)
        if let moment = dateArithmetic(function, operands) { return .scalar(moment) }
        for (operand, argument) in zip(operands, arguments) where !operand.kind.isNumber {
            throw failure(
                "\(operand.kind.name) is no number", argument, kind: .evaluation,
                hint: "CAST it, or take an attribute that is a number")
        }
        let kind = Self.kind(of: function, operands.map(\.kind))
        // A whole decimal is stored as an integer, but 3 / 2 must be 1.5 for decimals.
        let mayBeWhole = function == .divide && kind != .decimal && operands.contains { $0.kind == .decimal }
        let arguments = operands.map {
            mayBeWhole ? SQLExpression.cast($0.sql, to: .real) : $0.widened(context.dialect)
        }
        let exact = kind == .decimal ? function.decimalName.map { SQLExpression.function($0, arguments) } : nil
        guard var sql = exact ?? Self.arithmetic(function, arguments) else { throw unsupported(expression) }
        if function == .modulus && kind != .integer { sql = .cast(sql, to: .real) }
        let isOptional = operands.contains(where: \.isOptional) || function.mayHaveNoResult
        return .scalar(QueryScalar(sql, kind, isOptional: isOptional))
    }

    /// Rejects NaN operands: databases store NaN as NULL, so it can be compared but not used in arithmetic.
    func checkNumbers(_ operands: [QueryScalar], _ expression: ExpressionNode) throws {
        guard operands.contains(where: \.isNaN) else { return }
        throw failure("Unsupported operand: a constant that is not a number", expression)
    }

    /// A date and a number give a date; two dates give a number.
    private func dateArithmetic(_ function: PredicateFunction, _ operands: [QueryScalar]) -> QueryScalar? {
        guard function == .add || function == .subtract else { return nil }
        let dates = operands.count { $0.kind == .date }
        guard dates > 0, operands.allSatisfy({ $0.kind == .date || $0.kind.isNumber }) else { return nil }
        let isOptional = operands.contains(where: \.isOptional)
        let numbers = operands.map { operand in
            operand.kind == .date && context.dialect.typesValues ? seconds(operand) : operand.sql
        }
        guard let sql = Self.arithmetic(function, numbers) else { return nil }
        if dates == 1 { return QueryScalar(date(sql), .date, isOptional: isOptional) }
        return QueryScalar(.cast(sql, to: .real), .real, isOptional: isOptional)
    }

    /// Converts a number of seconds to a date.
    private func date(_ seconds: SQLExpression) -> SQLExpression {
        context.dialect.typesValues ? .function(.dateOfSeconds, [seconds]) : seconds
    }

    /// Returns an arithmetic expression; `nil` if the function is not arithmetic.
    private static func arithmetic(_ function: PredicateFunction, _ operands: [SQLExpression]) -> SQLExpression? {
        switch function {
        case .add: .arithmetic(.add, operands[0], operands[1])
        case .subtract: .arithmetic(.subtract, operands[0], operands[1])
        case .multiply: .arithmetic(.multiply, operands[0], operands[1])
        case .bitwiseAnd: .arithmetic(.bitAnd, operands[0], operands[1])
        case .bitwiseOr: .arithmetic(.bitOr, operands[0], operands[1])
        case .onesComplement: .onesComplement(operands[0])
        case .absolute: .function(.absolute, operands)
        case .divide, .modulus, .power, .squareRoot, .logarithm, .naturalLogarithm, .exponential, .ceiling, .floor,
            .truncate, .bitwiseXor, .leftShift, .rightShift, .sum, .count, .min, .max, .average, .median, .mode,
            .standardDeviation, .distinct, .random, .randomBelow, .uppercase, .lowercase, .canonical, .length,
            .characters, .now,
            .noIndex, .element, .cast, .distance:
            function.sqlName.map { .function($0, operands) }
        }
    }

    private static func kind(of function: PredicateFunction, _ kinds: [QueryScalar.Kind]) -> QueryScalar.Kind {
        switch function {
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement: .integer
        case .power, .squareRoot, .logarithm, .naturalLogarithm, .exponential: .real
        case .add, .subtract, .multiply, .divide, .modulus, .absolute, .ceiling, .floor, .truncate, .sum, .count, .min,
            .max, .average, .median, .mode, .standardDeviation, .distinct, .random, .randomBelow, .uppercase,
            .lowercase, .canonical, .length, .characters, .now, .noIndex, .element, .cast, .distance:
            kinds.allSatisfy { $0 == .integer } ? .integer : kinds.contains(.real) ? .real : .decimal
        }
    }

    // MARK: Text

    private func textFunction(
        _ function: PredicateFunction, _ argument: ExpressionNode, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        guard let operand = try scalar(try term(argument), argument) else { return .constant(.null) }
        guard operand.kind.isText else {
            throw failure("\(operand.kind.name) is no string", expression, kind: .evaluation)
        }
        guard let name = function.sqlName else { throw unsupported(expression) }
        let kind: QueryScalar.Kind = function == .length || function == .characters ? .integer : .string
        return .scalar(QueryScalar(.function(name, [operand.sql]), kind, isOptional: operand.isOptional))
    }

    // MARK: Hints and casts

    /// Wraps a column in a call that prevents the use of an index, and has no other effect.
    private func withoutIndex(_ argument: ExpressionNode) throws -> QueryTerm {
        let term = try term(argument)
        guard case .scalar(var scalar) = term else { return term }
        scalar.sql = .function(.coalesce, [scalar.sql, .null])
        return .scalar(scalar)
    }

    /// Translates CAST of a column; casts of constants were evaluated already.
    private func cast(
        _ argument: ExpressionNode, to type: ExpressionNode, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        guard case .constant(.value(.string(let name))) = type else { throw unsupported(expression) }
        guard var operand = try scalar(try term(argument), argument) else { return .constant(.null) }
        switch (name, operand.kind) {
        case ("NSDate", .date), ("Date", .date), ("NSString", .string), ("String", .string), ("NSURL", .link),
            ("URL", .link), ("NSUUID", .identifier), ("UUID", .identifier):
            break
        case ("NSDate", let kind), ("Date", let kind):
            guard kind.isNumber else { throw impossibleCast(operand, name, expression) }
            operand = QueryScalar(date(operand.sql), .date, isOptional: operand.isOptional)
        case ("NSNumber", let kind) where kind.isNumber:
            break
        case ("NSNumber", .date), ("Double", .date), ("Float", .date):
            operand = QueryScalar(seconds(operand), .real, isOptional: operand.isOptional)
        case ("NSDecimalNumber", let kind) where kind.isNumber, ("Decimal", let kind) where kind.isNumber:
            operand.kind = .decimal
        case ("Double", let kind) where kind.isNumber, ("Float", let kind) where kind.isNumber:
            operand = QueryScalar(.cast(operand.sql, to: .real), .real, isOptional: operand.isOptional)
        case (let name, let kind) where Self.integerTypes.contains(name) && kind.isNumber:
            operand = QueryScalar(.cast(operand.sql, to: .integer), .integer, isOptional: operand.isOptional)
        case ("NSString", .integer), ("String", .integer):
            operand = QueryScalar(.cast(operand.sql, to: .text), .string, isOptional: operand.isOptional)
        case ("NSString", .link), ("String", .link):
            operand.kind = .string
        case ("NSURL", .string), ("URL", .string):
            operand.kind = .link
        default:
            throw impossibleCast(operand, name, expression)
        }
        return .scalar(operand)
    }

    private static let integerTypes: Set<String> = ["Int", "Int64", "Int32", "Int16", "NSInteger"]

    private func impossibleCast(
        _ operand: QueryScalar, _ name: String, _ expression: ExpressionNode
    ) -> PredicateFailure {
        failure(
            "\(operand.kind.name) cannot be cast to \(name) in a store", expression,
            hint: "a constant can, and so can a number to NSDate")
    }
}

extension PredicateFunction {
    /// The database's function of a value; `nil` if there is none.
    fileprivate var sqlName: SQLFunction? {
        switch self {
        case .divide: .divide
        case .modulus: .modulus
        case .power: .power
        case .squareRoot: .squareRoot
        case .logarithm: .logarithm
        case .naturalLogarithm: .naturalLogarithm
        case .exponential: .exponential
        case .ceiling: .ceiling
        case .floor: .floor
        case .truncate: .truncate
        case .bitwiseXor: .bitwiseXor
        case .leftShift: .leftShift
        case .rightShift: .rightShift
        case .uppercase: .uppercase
        case .lowercase: .lowercase
        case .canonical: .canonical
        case .length: .textLength
        case .characters: .characterCount
        case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .distinct, .add, .subtract,
            .multiply, .absolute, .random, .randomBelow, .bitwiseAnd, .bitwiseOr, .onesComplement, .now, .noIndex,
            .element, .cast, .distance:
            nil
        }
    }

    /// The database's function for decimals; `nil` if the one for other numbers suffices.
    fileprivate var decimalName: SQLFunction? {
        switch self {
        case .add: .decimalAdd
        case .subtract: .decimalSubtract
        case .multiply: .decimalMultiply
        case .divide: .decimalDivide
        default: nil
        }
    }

    /// Whether the result may be undefined for some numbers: division by zero, the root of a negative number.
    fileprivate var mayHaveNoResult: Bool {
        switch self {
        case .divide, .modulus, .squareRoot, .logarithm, .naturalLogarithm, .power, .exponential: true
        case .add, .subtract, .multiply, .absolute, .ceiling, .floor, .truncate, .bitwiseAnd, .bitwiseOr, .bitwiseXor,
            .leftShift, .rightShift, .onesComplement, .sum, .count, .min, .max, .average, .median, .mode,
            .standardDeviation, .distinct, .random, .randomBelow, .uppercase, .lowercase, .canonical, .length,
            .characters, .now,
            .noIndex, .element, .cast, .distance:
            false
        }
    }
}
