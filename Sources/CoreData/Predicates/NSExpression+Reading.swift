import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension ExpressionMaking where Self: NSExpression {
    /// What kind of expression it is; a property that this kind does not have stops the program, as Apple's raises.
    public var expressionType: ComparisonNaming.ExpressionType {
        switch node {
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable: .variable
        case .keyPath(.evaluatedObject, _): .keyPath
        // A key path of something else is the function `valueForKeyPath:`.
        case .keyPath, .function, .message, .assignment, .fetch: .function
        case .anyKey: .anyKey
        case .aggregate: .aggregate
        case .union: .unionSet
        case .intersection: .intersectSet
        case .difference: .minusSet
        case .subquery: .subquery
        case .conditional: .conditional
        case .block: .block
        }
    }

    /// The value of a constant.
    public var constantValue: Any? {
        guard case .constant(let constant) = node else { unavailable("constantValue") }
        return OperandBridging.any(from: Operand(constant))
    }

    /// The path of a key path: `"author.name"`.
    public var keyPath: String {
        guard case .keyPath(.evaluatedObject, let keys) = node else { unavailable("keyPath") }
        return keys.joined(separator: ".")
    }

    /// The function's name, colons included.
    public var function: String {
        switch node {
        case .function(let name, _): return name
        case .message(_, let selector, _): return selector
        case .keyPath: return "valueForKeyPath:"
        default: unavailable("function")
        }
    }

    /// The name of a variable, without `$`; of a subquery that of its member.
    public var variable: String {
        switch node {
        case .variable(let name), .subquery(_, let name, _), .assignment(let name, _): return name
        default: unavailable("variable")
        }
    }

    /// The receiver of the function; for a function of the language, the object that implements it.
    public var operand: NSExpression {
        switch node {
        case .message(let target, _, _): return .make(node: target)
        case .keyPath(let operand, _): return .make(node: operand)
        case .function: return .make(node: .constant(.value(.string("_NSPredicateUtilities"))))
        default: unavailable("operand")
        }
    }

    /// The arguments of a function or a block.
    public var arguments: [NSExpression]? {
        switch node {
        case .function(_, let arguments), .message(_, _, let arguments): return arguments.map { .make(node: $0) }
        case .keyPath(let operand, let keys):
            if case .evaluatedObject = operand { unavailable("arguments") }
            return [.make(node: .keyPath(operand: .evaluatedObject, keys))]
        case .block(let block): return block.arguments.map { .make(node: $0) }
        default: unavailable("arguments")
        }
    }

    /// An aggregate's expressions, or a subquery's collection.
    public var collection: Any {
        switch node {
        case .aggregate(let elements): return elements.map { NSExpression.make(node: $0) }
        case .subquery(let collection, _, _): return NSExpression.make(node: collection)
        default: unavailable("collection")
        }
    }

    /// The predicate of a subquery or of a conditional expression.
    public var predicate: NSPredicate {
        switch node {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): return .make(node: predicate)
        default: unavailable("predicate")
        }
    }

    /// The first of two collections that are joined.
    public var left: NSExpression { .make(node: sides.0) }

    /// The second of two collections that are joined.
    public var right: NSExpression { .make(node: sides.1) }

    private var sides: (ExpressionNode, ExpressionNode) {
        switch node {
        case .union(let left, let right), .intersection(let left, let right), .difference(let left, let right):
            return (left, right)
        default: unavailable("left and right")
        }
    }

    /// The value of a conditional expression if its predicate is true.
    public var `true`: NSExpression {
        guard case .conditional(_, let yes, _) = node else { unavailable("true") }
        return .make(node: yes)
    }

    /// The value of a conditional expression if its predicate is false.
    public var `false`: NSExpression {
        guard case .conditional(_, _, let no) = node else { unavailable("false") }
        return .make(node: no)
    }

    /// The code of a block.
    public var expressionBlock: (Any?, [Any], NSMutableDictionary?) -> Any? {
        guard let block = content.block else { unavailable("expressionBlock") }
        return block
    }

    private func unavailable(_ property: String) -> Never {
        preconditionFailure("\(property) is not a property of the expression \(node.predicateFormat)")
    }

    // MARK: Evaluating

    /// The expression's value for an object; `context` has the variables' values by name.
    ///
    ///     NSExpression(format: "2 + $x").expressionValue(with: nil, context: ["x": 3])   // 5
    ///
    /// Numbers come as `NSNumber` or `NSDecimalNumber`, collections as arrays or `NSSet`.
    ///
    /// Differs from Apple: where Apple raises, for example on an unknown key, the value is `nil` and the reason is
    /// reported.
    public func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        let content = content
        if let block = content.block, case .block(let code) = content.node, code.arguments.isEmpty {
            return block(object, [], context)
        }
        let frame = EvaluationFrame(variables: OperandBridging.variables(context), fetch: FetchExpressions.value)
        do {
            let value = try content.value(for: object, in: frame)
            if let context, case .assignment(let name, _) = content.node {
                context.setObject(OperandBridging.any(from: value) ?? NSNull(), forKey: NSString(string: name))
            }
            return OperandBridging.any(from: value)
        } catch {
            PredicateReporting.report(error)
            return nil
        }
    }

    /// Does nothing: an expression from an archive can be evaluated at once.
    public func allowEvaluation() {}
}
