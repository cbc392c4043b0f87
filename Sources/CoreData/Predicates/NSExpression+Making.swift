import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension ExpressionMaking where Self: NSExpression {
    /// Makes an expression from the predicate language.
    ///
    ///     NSExpression(format: "price * %d", 2)
    ///
    /// A format that cannot be parsed is a programmer's error and stops the program with its place.
    public init(format expressionFormat: String, _ args: CVarArg...) {
        self.init(node: ExpressionFormat.parse(expressionFormat, args.map(OperandBridging.formatArgument)))
    }

    /// Makes an expression from the predicate language, with the arguments in an array.
    public init(format expressionFormat: String, argumentArray arguments: [Any]) {
        self.init(node: ExpressionFormat.parse(expressionFormat, arguments.map(OperandBridging.formatArgument)))
    }

    /// Makes an expression from the predicate language, with the arguments of a variadic function.
    public init(format expressionFormat: String, arguments argList: CVaListPointer) {
        self.init(
            node: ExpressionFormat.parse(
                expressionFormat, VariableArguments.formatArguments(argList, for: expressionFormat)))
    }

    /// A value: a number, a text, a date, an object, a collection, or `nil`.
    public init(forConstantValue obj: Any?) { self.init(node: OperandBridging.expression(obj)) }

    /// The object that is evaluated: `SELF`.
    public static func expressionForEvaluatedObject() -> NSExpression { make(node: .evaluatedObject) }

    /// Creates `$name`, whose value is given with the evaluation.
    public init(forVariable string: String) { self.init(node: .variable(string)) }

    /// Creates a key path of the evaluated object: `"author.name"`, `"books.@count"`.
    public init(forKeyPath keyPath: String) { self.init(node: ExpressionNode(keyPath: keyPath)) }

    /// Creates the property of a Swift key path, by its name in the model. See `KeyPathNames`.
    public init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        guard let name = KeyPathNames.name(for: keyPath) else {
            preconditionFailure("The key path \(keyPath) has no name: use NSExpression(forKeyPath: \"…\")")
        }
        self.init(node: ExpressionNode(keyPath: name))
    }

    /// One of the language's functions by name: `"sum:"`, `"add:to:"`, `"now"`.
    ///
    /// Arguments are expressions, or values, which become constants.
    public init(forFunction name: String, arguments parameters: [Any]) {
        self.init(node: .function(name, parameters.map(OperandBridging.expression)))
    }

    /// A message to what `target` evaluates to; see the language's `FUNCTION`.
    public init(forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?) {
        let arguments = (parameters ?? []).map(OperandBridging.expression)
        if name == "valueForKeyPath:", arguments.count == 1 {
            switch arguments[0] {
            case .constant(.value(.string(let path))):
                self.init(node: path.split(separator: ".").reduce(target.node) { $0.appending(String($1)) })
                return
            case .keyPath(.evaluatedObject, let keys):
                self.init(node: keys.reduce(target.node) { $0.appending($1) })
                return
            default: break
            }
        }
        self.init(node: .message(target: target.node, selector: name, arguments))
    }

    /// A list of expressions, `{a, b}`; values in it become constants.
    public init(forAggregate subexpressions: [Any]) {
        self.init(node: .aggregate(subexpressions.map(OperandBridging.expression)))
    }

    /// The members that are in one of two collections: `a UNION b`.
    public init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(node: .union(left.node, right.node))
    }

    /// The members that are in both of two collections: `a INTERSECT b`.
    public init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(node: .intersection(left.node, right.node))
    }

    /// The members of the first collection that are not in the second: `a MINUS b`.
    public init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(node: .difference(left.node, right.node))
    }

    /// The members of a collection that satisfy a predicate, in which `variable` stands for the member.
    public init(forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate) {
        self.init(node: .subquery(expression.node, variable: variable, predicate.node))
    }

    /// `ANYKEY`; it cannot be evaluated.
    public static func expressionForAnyKey() -> NSExpression { make(node: .anyKey) }

    /// Code: it is evaluated in memory and no store can translate it.
    public init(
        block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any?, arguments: [NSExpression]?
    ) {
        let code = ExpressionBlock(arguments: (arguments ?? []).map(\.node)) { object, arguments in
            let values = arguments.map { OperandBridging.any(from: $0) ?? NSNull() }
            return OperandBridging.operand(from: block(OperandBridging.any(from: object), values, nil))
        }
        self.init(expressionPayload: ExpressionPayload(.block(code), block: block))
    }

    /// One of two expressions, as a predicate decides: `TERNARY(p, a, b)`.
    /// One of two expressions, as a predicate decides: `TERNARY(p, a, b)`.
    public init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
    ) {
        self.init(node: .conditional(predicate.node, trueExpression.node, falseExpression.node))
    }
}

/// Reads formats of expressions.
private enum ExpressionFormat {
    static func parse(_ format: String, _ arguments: [FormatArgument]) -> ExpressionNode {
        do {
            return try PredicateParser.parseExpression(format: format, arguments: arguments)
        } catch {
            preconditionFailure("Unable to parse the format string \"\(format)\"\n\(error.diagnostic.rendered)")
        }
    }
}

extension ExpressionNode {
    /// The key path that a text names, `SELF` included.
    package init(keyPath: String) {
        var keys = keyPath.split(separator: ".").map(String.init)
        if let first = keys.first, first == "SELF" || first == "self" { keys.removeFirst() }
        self = keys.isEmpty ? .evaluatedObject : .keyPath(operand: .evaluatedObject, keys)
    }
}
