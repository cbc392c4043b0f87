import CoreDataPrimitives
import Foundation

/// Functions of many values. They skip nil. For no values, the sum and the average are 0, the minimum and maximum nil.
package enum Aggregates {
    package static func sum(_ operands: [Operand]) throws -> Operand {
        var total = Value.integer(0)
        for number in try numbers(operands) { total = Arithmetic.add(total, number) }
        return .value(total)
    }

    package static func average(_ operands: [Operand]) throws -> Operand {
        let numbers = try numbers(operands)
        guard !numbers.isEmpty else { return .value(.integer(0)) }
        let total = numbers.reduce(.integer(0), Arithmetic.add)
        if case .decimal(let sum) = total { return .value(.decimal(sum / Decimal(numbers.count))) }
        return .value(.double((Numbers.double(total) ?? 0) / Double(numbers.count)))
    }

    package static func minimum(_ operands: [Operand]) throws -> Operand { try extreme(operands) { $0 < 0 } }

    package static func maximum(_ operands: [Operand]) throws -> Operand { try extreme(operands) { $0 > 0 } }

    private static func extreme(_ operands: [Operand], _ isBetter: (Int) -> Bool) throws -> Operand {
        var best = Operand.null
        for operand in operands where !operand.isNull {
            // A single value is not compared, so its type needs a check.
            if case .value = operand.named {} else { throw notOrdered(operand) }
            guard let order = try OperandComparison.order(operand, best) else {
                best = operand
                continue
            }
            if isBetter(order) { best = operand }
        }
        return best
    }

    private static func notOrdered(_ operand: Operand) -> PredicateFailure {
        PredicateFailure(.evaluation, Diagnostic(.error, "\(operand.kindName) has no order"))
    }

    static func median(_ operands: [Operand]) throws -> Operand {
        let numbers = try numbers(operands).compactMap(Numbers.double).sorted()
        guard let last = numbers.last else { return .null }
        let middle = numbers.count / 2
        if numbers.count % 2 == 1 { return .value(.double(numbers[middle])) }
        return .value(.double((numbers[middle - 1] + (middle < numbers.count ? numbers[middle] : last)) / 2))
    }

    /// Returns the most frequent values; several if they are equally frequent.
    static func mode(_ operands: [Operand]) -> Operand {
        let present = operands.filter { !$0.isNull }
        let distinct = distinct(present)
        let counts = distinct.map { value in present.count { OperandComparison.equal($0, value) } }
        let most = counts.max() ?? 0
        return .collection(zip(distinct, counts).filter { $0.1 == most }.map(\.0), isOrdered: true)
    }

    static func standardDeviation(_ operands: [Operand]) throws -> Operand {
        let numbers = try numbers(operands).compactMap(Numbers.double)
        guard !numbers.isEmpty else { return .null }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return .value(.double((squares / Double(numbers.count)).squareRoot()))
    }

    /// Returns the members without duplicates, in their order.
    static func distinct(_ operands: [Operand]) -> [Operand] {
        var seen = OperandSet()
        return operands.filter { seen.insert($0) }
    }

    private static func numbers(_ operands: [Operand]) throws -> [Value] {
        try operands.compactMap { operand in
            guard case .value(let value) = operand, value.isNull || Numbers.isNumber(value) else {
                throw PredicateFailure(.evaluation, Diagnostic(.error, "expected numbers, found \(operand.kindName)"))
            }
            return value.isNull ? nil : value
        }
    }
}

/// A set of operands that supports hashed look-ups.
struct OperandSet {
    private let options: TextOptions
    private var values: Set<Value> = []
    private var objects: [Int: [any PredicateObject]] = [:]
    /// Operands without a hash that is consistent with equality: decimals with a fraction, collections, opaque values.
    private var others: [Operand] = []
    /// The doubles, which a decimal must be compared with one by one.
    private var doubles: [Double] = []

    init(_ operands: [Operand] = [], options: TextOptions = []) {
        self.options = options
        for operand in operands { insert(operand) }
    }

    /// Inserts the operand; returns whether it was new.
    @discardableResult
    mutating func insert(_ operand: Operand) -> Bool {
        guard !contains(operand) else { return false }
        switch operand {
        case .object(let object) where object.predicateName != nil: return insert(operand.named)
        case .object(let object): objects[object.predicateHash, default: []].append(object)
        case .value(let value):
            if let key = key(of: value) {
                values.insert(key)
                if case .double(let number) = key { doubles.append(number) }
            } else {
                others.append(operand)
            }
        case .collection, .dictionary: others.append(operand)
        }
        return true
    }

    func contains(_ operand: Operand) -> Bool {
        switch operand {
        case .object(let object) where object.predicateName != nil: return contains(operand.named)
        case .object(let object):
            return objects[object.predicateHash]?.contains { $0 === object || $0.isSamePredicateObject(as: object) }
                ?? false
        case .value(let value):
            if let key = key(of: value), values.contains(key) { return true }
            if case .decimal = value {
                for double in doubles where OperandComparison.equal(value, .double(double)) { return true }
            }
        case .collection, .dictionary: break
        }
        return others.contains { OperandComparison.equal($0, operand, options) }
    }

    /// Returns a key that is equal for equal values; `nil` if the value has none.
    private func key(of value: Value) -> Value? {
        switch value {
        case .double(let number):
            if let integer = Int64(exactly: number) { return .integer(integer) }
            return .double(number.isNaN ? .nan : number)
        case .decimal(let number):
            guard let integer = Int64(exactly: Numbers.double(number)), Decimal(integer) == number else { return nil }
            return .integer(integer)
        case .string(let text), .uri(let text): return .string(TextComparison.fold(text, options: options.rawValue))
        case .opaque: return nil
        default: return value
        }
    }
}
