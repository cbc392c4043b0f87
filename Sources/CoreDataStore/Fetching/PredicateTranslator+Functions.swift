import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// A function of the predicate language as SQL.
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
        case .uppercase, .lowercase, .canonical, .length:
            return try textFunction(function, arguments[0], expression)
        case .random:
            return .scalar(QueryScalar(.function(SQLFunctionName.random, []), .real, isOptional: false))
        case .randomBelow:
            guard let limit = try scalar(term(arguments[0]), arguments[0]) else { return .constant(.null) }
            return .scalar(QueryScalar(.function(SQLFunctionName.random, [limit.sql]), .integer))
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
        if let moment = try dateArithmetic(function, operands) { return .scalar(moment) }
        for (operand, argument) in zip(operands, arguments) where !operand.kind.isNumber {
            throw failure(
                "\(operand.kind.name) is no number", argument, kind: .evaluation,
                hint: "CAST it, or take an attribute that is a number")
        }
        let sql = Self.arithmetic(function, operands.map(\.sql))
        let isOptional = operands.contains(where: \.isOptional) || function.mayHaveNoResult
        let kind = Self.kind(of: function, operands.map(\.kind))
        return .scalar(QueryScalar(sql, kind, isOptional: isOptional))
    }

    /// A date moved by seconds is a date; the distance of two dates is a number.
    private func dateArithmetic(_ function: PredicateFunction, _ operands: [QueryScalar]) throws -> QueryScalar? {
        guard operands.contains(where: { $0.kind == .date }), operands.count == 2 else { return nil }
        let isOptional = operands[0].isOptional || operands[1].isOptional
        let sql = Self.arithmetic(function, operands.map(\.sql))
        switch (function, operands[0].kind, operands[1].kind) {
        case (.add, .date, let other) where other.isNumber: return QueryScalar(sql, .date, isOptional: isOptional)
        case (.add, let other, .date) where other.isNumber: return QueryScalar(sql, .date, isOptional: isOptional)
        case (.subtract, .date, let other) where other.isNumber:
            return QueryScalar(sql, .date, isOptional: isOptional)
        case (.subtract, .date, .date): return QueryScalar(sql, .real, isOptional: isOptional)
        default: return nil
        }
    }

    private static func arithmetic(_ function: PredicateFunction, _ operands: [SQLExpression]) -> SQLExpression {
        switch function {
        case .add: .arithmetic(.add, operands[0], operands[1])
        case .subtract: .arithmetic(.subtract, operands[0], operands[1])
        case .multiply: .arithmetic(.multiply, operands[0], operands[1])
        case .bitwiseAnd: .arithmetic(.bitAnd, operands[0], operands[1])
        case .bitwiseOr: .arithmetic(.bitOr, operands[0], operands[1])
        case .onesComplement: .onesComplement(operands[0])
        case .absolute: .function("abs", operands)
        default: .function(function.sqlName, operands)
        }
    }

    private static func kind(of function: PredicateFunction, _ kinds: [QueryScalar.Kind]) -> QueryScalar.Kind {
        switch function {
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement: .integer
        case .power, .squareRoot, .logarithm, .naturalLogarithm, .exponential: .real
        default: kinds.allSatisfy { $0 == .integer } ? .integer : kinds.contains(.real) ? .real : .decimal
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
        let kind: QueryScalar.Kind = function == .length ? .integer : .string
        return .scalar(
            QueryScalar(.function(function.sqlName, [operand.sql]), kind, isOptional: operand.isOptional))
    }

    // MARK: Hints and casts

    /// `+x` hides a column from the choice of indexes and changes nothing else.
    private func withoutIndex(_ argument: ExpressionNode) throws -> QueryTerm {
        let term = try term(argument)
        guard case .scalar(var scalar) = term else { return term }
        scalar.sql = .function("likelihood", [scalar.sql, .bind(.real(0.9375))])
        return .scalar(scalar)
    }

    private func cast(
        _ argument: ExpressionNode, to type: ExpressionNode, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        guard case .constant(.value(.string(let name))) = type else { throw unsupported(expression) }
        guard var operand = try scalar(try term(argument), argument) else { return .constant(.null) }
        switch (name, operand.kind) {
        case ("NSDate", .integer), ("NSDate", .real), ("NSDate", .decimal), ("NSDate", .date):
            operand.kind = .date
        case ("NSNumber", .date):
            operand.kind = .real
        case ("NSNumber", .integer), ("NSNumber", .real), ("NSNumber", .decimal), ("NSString", .string),
            ("NSURL", .uri):
            break
        case ("NSDecimalNumber", .integer), ("NSDecimalNumber", .real), ("NSDecimalNumber", .decimal):
            operand.kind = .decimal
        case ("NSString", .integer):
            operand.sql = .cast(operand.sql, to: "TEXT")
            operand.kind = .string
        case ("NSString", .uri):
            operand.kind = .string
        default:
            throw failure(
                "\(operand.kind.name) cannot be cast to \(name) in a store", expression,
                hint: "a constant can, and so can a number to NSDate")
        }
        return .scalar(operand)
    }
}

extension PredicateFunction {
    fileprivate var sqlName: String {
        switch self {
        case .divide: SQLFunctionName.divide
        case .modulus: SQLFunctionName.modulus
        case .power: SQLFunctionName.power
        case .squareRoot: SQLFunctionName.squareRoot
        case .logarithm: SQLFunctionName.logarithm
        case .naturalLogarithm: SQLFunctionName.naturalLogarithm
        case .exponential: SQLFunctionName.exponential
        case .ceiling: SQLFunctionName.ceiling
        case .floor: SQLFunctionName.floor
        case .truncate: SQLFunctionName.truncate
        case .bitwiseXor: SQLFunctionName.bitwiseXor
        case .leftShift: SQLFunctionName.leftShift
        case .rightShift: SQLFunctionName.rightShift
        case .uppercase: SQLFunctionName.uppercase
        case .lowercase: SQLFunctionName.lowercase
        case .canonical: SQLFunctionName.canonical
        case .length: SQLFunctionName.textLength
        case .median: SQLFunctionName.median
        case .mode: SQLFunctionName.mode
        case .standardDeviation: SQLFunctionName.standardDeviation
        default: rawValue
        }
    }

    /// Whether numbers may give no number: a division by zero, the root of a negative.
    fileprivate var mayHaveNoResult: Bool {
        switch self {
        case .divide, .modulus, .squareRoot, .logarithm, .naturalLogarithm, .power, .exponential: true
        default: false
        }
    }
}
