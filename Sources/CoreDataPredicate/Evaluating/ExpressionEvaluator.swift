import CoreDataPrimitives

/// An expression prepared for evaluation on many objects.
package struct ExpressionEvaluator {
    typealias Read = (Operand, EvaluationFrame?) throws -> Operand

    private let read: Read

    package init(_ expression: ExpressionNode) { read = Self.read(expression) }

    /// Returns the expression's value for an object.
    package func value(for object: Operand, in frame: EvaluationFrame? = nil) throws -> Operand {
        try read(object, frame)
    }

    static func read(_ node: ExpressionNode) -> Read {
        switch node {
        case .constant(let constant):
            let value = Operand(constant)
            return { _, _ in value }
        case .evaluatedObject: return { object, _ in object }
        case .variable(let name): return variable(name)
        case .keyPath(let operand, let keys): return keyPath(operand, keys)
        case .anyKey: return { _, _ in throw failure("ANYKEY cannot be evaluated: name the keys") }
        case .function(let name, let arguments): return function(name, arguments)
        case .message(let target, let selector, let arguments):
            let target = read(target)
            let arguments = arguments.map(read)
            return { object, frame in
                try FunctionEvaluation.send(
                    selector, to: target(object, frame), arguments.map { try $0(object, frame) })
            }
        case .aggregate(let elements):
            let elements = elements.map(read)
            return { object, frame in .collection(try elements.map { try $0(object, frame) }, isOrdered: true) }
        case .union(let a, let b):
            return combination(a, b) { first, second in
                Aggregates.distinct(first + second)
            }
        case .intersection(let a, let b):
            return combination(a, b) { first, second in
                let kept = OperandSet(second)
                return Aggregates.distinct(first).filter(kept.contains)
            }
        case .difference(let a, let b):
            return combination(a, b) { first, second in
                let dropped = OperandSet(second)
                return Aggregates.distinct(first).filter { !dropped.contains($0) }
            }
        case .subquery(let collection, let variable, let predicate):
            return subquery(collection, variable, predicate)
        case .conditional(let condition, let yes, let no):
            let condition = PredicateEvaluator.test(condition)
            let yes = read(yes)
            let no = read(no)
            return { object, frame in try condition(object, frame) ? yes(object, frame) : no(object, frame) }
        case .assignment(let name, let expression):
            let expression = read(expression)
            return { object, frame in
                let value = try expression(object, frame)
                frame?.variables[name] = value
                return value
            }
        case .fetch(let request, let context, let countOnly):
            let request = read(request)
            let context = read(context)
            return { object, frame in
                guard let fetch = frame?.fetch else { throw failure("FETCH can only be evaluated by a context") }
                return try fetch(request(object, frame), context(object, frame), countOnly)
            }
        case .block(let block):
            let arguments = block.arguments.map(read)
            return { object, frame in try block.body(object, arguments.map { try $0(object, frame) }) }
        }
    }

    private static func variable(_ name: String) -> Read {
        { _, frame in
            if let value = frame?.variables[name] { return value }
            throw failure("the variable $\(name) has no value")
        }
    }

    private static func keyPath(_ operand: ExpressionNode, _ keys: [String]) -> Read {
        let isPlain = keys.allSatisfy { !$0.hasPrefix("@") && $0 != "self" && $0 != "SELF" }
        // The common case: one key of the object itself.
        if case .evaluatedObject = operand, isPlain, keys.count == 1 {
            let key = PredicateKey(keys[0])
            return { object, _ in
                if case .object(let object) = object { return try object.predicateOperand(for: key) }
                return try KeyPathReader.value(of: key.name, in: object)
            }
        }
        let rest = keys[...]
        let operand = read(operand)
        guard isPlain else { return { object, frame in try KeyPathReader.value(of: rest, in: operand(object, frame)) } }
        let path = keys.map { PredicateKey($0) }
        return { object, frame in
            var current = try operand(object, frame)
            for (index, key) in path.enumerated() {
                // From the first collection, nil or value on, use the general implementation.
                guard case .object(let owner) = current else {
                    return try KeyPathReader.value(of: rest[index...], in: current)
                }
                current = try owner.predicateOperand(for: key)
            }
            return current
        }
    }

    private static func function(_ name: String, _ arguments: [ExpressionNode]) -> Read {
        let reads = arguments.map(read)
        guard let function = PredicateFunction(spelled: name) else {
            return { _, _ in throw failure("there is no function '\(name)'") }
        }
        guard function.argumentCount.contains(arguments.count) else {
            return { _, _ in
                throw failure(
                    "'\(name)' takes \(function.argumentCount.lowerBound) argument(s), not \(arguments.count)")
            }
        }
        return { object, frame in
            try FunctionEvaluation.call(function, reads.map { try $0(object, frame) }, frame)
        }
    }

    private static func combination(
        _ a: ExpressionNode, _ b: ExpressionNode, _ combine: @escaping ([Operand], [Operand]) -> [Operand]
    ) -> Read {
        let a = read(a)
        let b = read(b)
        return { object, frame in
            let (first, _) = try members(a(object, frame), "UNION, INTERSECT and MINUS need")
            let (second, _) = try members(b(object, frame), "UNION, INTERSECT and MINUS need")
            return .collection(combine(first, second), isOrdered: false)
        }
    }

    private static func subquery(_ collection: ExpressionNode, _ variable: String, _ predicate: PredicateNode) -> Read {
        let collection = read(collection)
        let test = PredicateEvaluator.test(predicate)
        return { object, frame in
            let (members, isOrdered) = try members(collection(object, frame), "SUBQUERY needs")
            // Use a separate frame: the variable exists only inside, and hides an outer variable of the same name.
            let inner = frame?.copy() ?? EvaluationFrame()
            return .collection(
                try members.filter { member in
                    inner.variables[variable] = member
                    return try test(object, inner)
                }, isOrdered: isOrdered)
        }
    }

    private static func members(_ operand: Operand, _ purpose: String) throws -> ([Operand], isOrdered: Bool) {
        switch operand {
        case .collection(let members, let isOrdered): return (members, isOrdered)
        case .value(.null): return ([], true)
        default: throw failure("\(purpose) a collection, not \(operand.kindName)")
        }
    }

    private static func failure(_ message: String) -> PredicateFailure {
        PredicateFailure(.evaluation, Diagnostic(.error, message))
    }
}
