import CoreDataPrimitives
import Foundation

/// Evaluates the functions of the language.
enum FunctionEvaluation {
    /// - Throws: ``PredicateFailure`` for an operand of the wrong type. A nil operand gives nil.
    static func call(_ function: PredicateFunction, _ arguments: [Operand], _ frame: EvaluationFrame?) throws -> Operand
    {
        switch function {
        case .sum: return try Aggregates.sum(members(arguments, function))
        case .count: return .value(.integer(Int64(try members(arguments, function).count)))
        case .min: return try Aggregates.minimum(members(arguments, function))
        case .max: return try Aggregates.maximum(members(arguments, function))
        case .average: return try Aggregates.average(members(arguments, function))
        case .median: return try Aggregates.median(members(arguments, function))
        case .mode: return Aggregates.mode(try members(arguments, function))
        case .standardDeviation: return try Aggregates.standardDeviation(members(arguments, function))
        case .distinct: return .collection(Aggregates.distinct(try members(arguments, function)), isOrdered: true)
        case .now: return .value(.date(frame?.now ?? StoreClock.system.now))
        case .random: return .value(.integer(Int64.random(in: 0...Int64(Int32.max))))
        case .noIndex: return arguments[0]
        case .element: return try element(arguments[0], arguments[1])
        case .cast: return try cast(arguments[0], arguments[1])
        case .uppercase, .lowercase, .canonical, .length, .characters: return try textFunction(function, arguments[0])
        case .distance:
            throw failure("locations are not supported: 'distanceToLocation:fromLocation:' has no meaning here")
        case .add, .subtract, .multiply, .divide, .modulus, .power, .absolute, .squareRoot, .logarithm,
            .naturalLogarithm, .exponential, .ceiling, .floor, .truncate, .randomBelow, .bitwiseAnd, .bitwiseOr,
            .bitwiseXor, .leftShift, .rightShift, .onesComplement:
            return .value(try numericFunction(function, arguments))
        }
    }

    // MARK: Numbers

    private static func numericFunction(_ function: PredicateFunction, _ arguments: [Operand]) throws -> Value {
        let numbers = try arguments.map { try number($0, function) }
        guard let a = numbers.first, !numbers.contains(where: \.isNull) else { return .null }
        let b = numbers.last ?? a
        switch function {
        case .add: return datesAside(a, b, Arithmetic.add, isSubtraction: false)
        case .subtract: return datesAside(a, b, Arithmetic.subtract, isSubtraction: true)
        case .multiply: return Arithmetic.multiply(a, b)
        case .divide: return Arithmetic.divide(a, b)
        case .modulus: return Arithmetic.remainder(a, b)
        case .power: return Arithmetic.power(a, b)
        case .absolute: return Numbers.order(a, .integer(0)) == -1 ? Arithmetic.subtract(.integer(0), a) : a
        case .ceiling: return Arithmetic.rounded(a, .up)
        case .floor: return Arithmetic.rounded(a, .down)
        case .truncate: return Arithmetic.rounded(a, .towardZero)
        case .squareRoot: return real(a) { $0.squareRoot() }
        case .logarithm: return real(a) { $0 > 0 ? log10($0) : .nan }
        case .naturalLogarithm: return real(a) { $0 > 0 ? log($0) : .nan }
        case .exponential: return real(a) { exp($0) }
        case .randomBelow:
            guard let limit = Arithmetic.whole(a), limit > 0 else { return .integer(0) }
            return .integer(Int64.random(in: 0..<limit))
        case .bitwiseAnd: return bits(a, b, &)
        case .bitwiseOr: return bits(a, b, |)
        case .bitwiseXor: return bits(a, b, ^)
        case .leftShift: return bits(a, b) { Arithmetic.shift($0, left: $1) }
        case .rightShift: return bits(a, b) { Arithmetic.shift($0, left: $1 == .min ? .max : -$1) }
        case .onesComplement: return bits(a, a) { bits, _ in ~bits }
        case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .distinct, .random, .uppercase,
            .lowercase, .canonical, .length, .characters, .now, .noIndex, .element, .cast, .distance:
            throw failure("\(function.rawValue) is no function of numbers")
        }
    }

    private static func bits(_ a: Value, _ b: Value, _ function: (Int64, Int64) -> Int64) -> Value {
        guard let first = Arithmetic.whole(a), let second = Arithmetic.whole(b) else { return .null }
        return .integer(function(first, second))
    }

    private static func real(_ value: Value, _ function: (Double) -> Double) -> Value {
        Numbers.double(value).map { Arithmetic.double(function($0)) } ?? .null
    }

    private static func datesAside(
        _ a: Value, _ b: Value, _ function: (Value, Value) -> Value, isSubtraction: Bool
    ) -> Value {
        switch (a, b) {
        case (.date(let a), .date(let b)): .double(isSubtraction ? a - b : a + b)
        case (.date(let a), _): Numbers.double(function(.double(a), b)).map { .date($0) } ?? .null
        case (_, .date(let b)): Numbers.double(function(a, .double(b))).map { .date($0) } ?? .null
        default: function(a, b)
        }
    }

    private static func number(_ operand: Operand, _ function: PredicateFunction) throws -> Value {
        switch operand {
        case .value(let value) where value.isNull || Numbers.isNumber(value): return value
        case .value(.date(let seconds)):
            if function == .add || function == .subtract { return .date(seconds) }
        default: break
        }
        throw failure("\(function.rawValue) needs numbers, not \(operand.kindName)")
    }

    // MARK: Text

    private static func textFunction(_ function: PredicateFunction, _ operand: Operand) throws -> Operand {
        if operand.isNull { return .null }
        guard let text = operand.text else {
            throw failure("\(function.rawValue) needs a string, not \(operand.kindName)")
        }
        switch function {
        case .uppercase: return .value(.string(text.uppercased()))
        case .lowercase: return .value(.string(text.lowercased()))
        case .canonical: return .value(.string(TextComparison.fold(text, options: 3)))
        case .length: return .value(.integer(Int64(text.utf16.count)))
        case .characters: return .value(.integer(Int64(text.count)))
        case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .distinct, .add, .subtract,
            .multiply, .divide, .modulus, .power, .absolute, .squareRoot, .logarithm, .naturalLogarithm, .exponential,
            .ceiling, .floor, .truncate, .random, .randomBelow, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
            .rightShift, .onesComplement, .now, .noIndex, .element, .cast, .distance:
            throw failure("\(function.rawValue) is no function of text")
        }
    }

    private static func cast(_ operand: Operand, _ type: Operand) throws -> Operand {
        guard let name = type.text, let target = CastTarget(name) else {
            throw failure("there is no cast to '\(type.text ?? type.kindName)'")
        }
        guard case .value(let value) = operand else { throw failure("\(operand.kindName) cannot be cast to \(name)") }
        return .value(try target.cast(value))
    }

    // MARK: Collections

    private static func members(_ arguments: [Operand], _ function: PredicateFunction) throws -> [Operand] {
        guard arguments.count == 1 else { return arguments }
        switch arguments[0] {
        case .collection(let members, _): return members
        case .dictionary(let entries): return entries.map(\.value)
        case .value(.null): return []
        // A stored column is one value per row.
        case .value, .object: return arguments
        }
    }

    private static func element(_ operand: Operand, _ index: Operand) throws -> Operand {
        switch operand {
        case .value(.null): return .null
        case .dictionary:
            guard let key = index.text else { throw failure("a dictionary's index is a key") }
            return try KeyPathReader.value(of: key, in: operand)
        case .collection(let members, _):
            switch index {
            case .value(.string("FIRST")): return members.first ?? .null
            case .value(.string("LAST")): return members.last ?? .null
            case .value(.string("SIZE")): return .value(.integer(Int64(members.count)))
            case .value(let value):
                guard let place = Arithmetic.whole(value) else { break }
                return members.indices.contains(Int(place)) ? members[Int(place)] : .null
            default: break
            }
            throw failure("a collection's index is a number, FIRST, LAST or SIZE")
        default: throw failure("\(operand.kindName) has no elements")
        }
    }

    // MARK: FUNCTION

    /// Sends one of a few safe messages: property accessors, and the methods below. Others are refused, because the
    /// text of a predicate must not be able to run code.
    static func send(_ selector: String, to target: Operand, _ arguments: [Operand]) throws -> Operand {
        guard selector.utf8.count(where: { $0 == UInt8(ascii: ":") }) == arguments.count else {
            throw failure("FUNCTION was given \(arguments.count) arguments for '\(selector)'")
        }
        if arguments.isEmpty { return try KeyPathReader.value(of: selector, in: target) }
        if target.isNull { return .null }
        let argument = arguments[0]
        switch (selector, target.text, argument.text) {
        case ("valueForKey:", _, let key?): return try KeyPathReader.value(of: key, in: target)
        case ("objectForKey:", _, let key?): return try KeyPathReader.value(of: key, in: target)
        case ("valueForKeyPath:", _, let path?):
            return try KeyPathReader.value(of: path.split(separator: ".").map(String.init)[...], in: target)
        case ("stringByAppendingString:", let text?, let other?): return .value(.string(text + other))
        case ("hasPrefix:", let text?, let part?): return truth(TextComparison.beginsWith(text, part))
        case ("hasSuffix:", let text?, let part?): return truth(TextComparison.endsWith(text, part))
        case ("containsString:", let text?, let part?): return truth(TextComparison.contains(text, part))
        case ("isEqual:", _, _), ("isEqualToString:", _, _), ("isEqualToNumber:", _, _), ("isEqualToDate:", _, _):
            return truth(OperandComparison.equal(target, argument))
        case ("compare:", _, _):
            return .value(.integer(Int64((try OperandComparison.order(target, argument) ?? 0).signum())))
        case ("containsObject:", _, _):
            return truth(
                try Aggregates.distinct(members([target], .distinct)).contains { OperandComparison.equal($0, argument) }
            )
        case ("objectAtIndex:", _, _): return try element(target, argument)
        case ("substringFromIndex:", let text?, _), ("substringToIndex:", let text?, _):
            guard case .value(let value) = argument, let count = Arithmetic.whole(value), count >= 0 else { break }
            let scalars = text.unicodeScalars
            return .value(
                .string(
                    selector == "substringToIndex:"
                        ? String(scalars.prefix(Int(count))) : String(scalars.dropFirst(Int(count)))))
        case ("dateByAddingTimeInterval:", _, _): return try call(.add, [target, argument], nil)
        case ("timeIntervalSinceDate:", _, _): return try call(.subtract, [target, argument], nil)
        default: break
        }
        throw failure("FUNCTION cannot call '\(selector)' on \(target.kindName)")
    }

    private static func truth(_ value: Bool) -> Operand { .value(.integer(value ? 1 : 0)) }

    private static func failure(_ message: String) -> PredicateFailure {
        PredicateFailure(.evaluation, Diagnostic(.error, message))
    }
}
