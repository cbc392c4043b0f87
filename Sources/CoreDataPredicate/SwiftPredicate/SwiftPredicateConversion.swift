import CoreDataPrimitives
import Foundation

/// Turns a predicate of Swift's, as `#Predicate` makes it, into a tree.
///
///     #Predicate<Book> { $0.pages > 300 && $0.author?.name == "Jane" }
///     // pages > 300 AND author.name == "Jane"
///     #Predicate<Author> { $0.books.contains { $0.pages > 300 } }
///     // SUBQUERY(books, $v0, $v0.pages > 300).@count > 0
package final class SwiftPredicateConversion {
    /// Why a predicate has no tree: the expression that the language lacks.
    package struct Failure: Error {
        package let reason: String
    }

    /// What an expression of Swift's is in the language.
    enum Part {
        case expression(ExpressionNode)
        case predicate(PredicateNode)
    }

    private let name: (AnyKeyPath) -> String?
    private let constantOf: (Any?) -> Constant
    private var variables: [PredicateExpressions.VariableID: ExpressionNode] = [:]

    /// - Parameters:
    ///   - name: the key that a property's key path stands for.
    ///   - constant: the language's constant for a value.
    package init(name: @escaping (AnyKeyPath) -> String?, constant: @escaping (Any?) -> Constant) {
        self.name = name
        constantOf = constant
    }

    package func node<Input>(_ predicate: Predicate<Input>) throws(Failure) -> PredicateNode {
        variables = [predicate.variable.key: .evaluatedObject]
        return try self.predicate(predicate.expression)
    }

    // MARK: Parts

    func predicate(_ expression: any PredicateExpression) throws(Failure) -> PredicateNode {
        switch try part(expression) {
        case .predicate(let predicate): return predicate
        case .expression(.constant(.value(.integer(let value)))): return .constant(value != 0)
        case .expression(let expression):
            return .comparison(.init(expression, .equalTo, .constant(.value(.integer(1)))))
        }
    }

    func expression(_ expression: any PredicateExpression) throws(Failure) -> ExpressionNode {
        switch try part(expression) {
        case .expression(let expression): return expression
        case .predicate(let predicate):
            return .conditional(predicate, .constant(.value(.integer(1))), .constant(.value(.integer(0))))
        }
    }

    private func part(_ expression: any PredicateExpression) throws(Failure) -> Part {
        guard let convertible = convertible(expression) else {
            throw Failure(reason: "\(type(of: expression)) has no equivalent in a predicate's format")
        }
        return try convertible.part(in: self)
    }

    func constant(_ value: Any?) throws(Failure) -> ExpressionNode {
        let constant = constantOf(value)
        if case .value(.opaque) = constant {
            throw Failure(reason: "a constant of type \(type(of: value)) has no equivalent in a predicate's format")
        }
        return .constant(constant)
    }

    func key(_ keyPath: AnyKeyPath) throws(Failure) -> String {
        if let name = name(keyPath) { return name }
        throw Failure(reason: "\(keyPath) is no property of a model")
    }

    // MARK: Variables

    func variable(_ id: PredicateExpressions.VariableID) throws(Failure) -> ExpressionNode {
        guard let node = variables[id] else { throw Failure(reason: "a variable is used outside of its closure") }
        return node
    }

    /// Runs `body` while the variable stands for the expression.
    func binding<R>(
        _ id: PredicateExpressions.VariableID, to expression: ExpressionNode, _ body: () throws(Failure) -> R
    ) throws(Failure) -> R {
        let outer = variables.updateValue(expression, forKey: id)
        defer { variables[id] = outer }
        return try body()
    }

    /// The members of a collection that satisfy the test.
    func members(
        _ sequence: any PredicateExpression, _ id: PredicateExpressions.VariableID,
        _ test: any PredicateExpression, negated: Bool = false
    ) throws(Failure) -> ExpressionNode {
        let collection = try expression(sequence)
        let name = "v\(variables.count - 1)"
        let condition = try binding(id, to: .variable(name)) { () throws(Failure) in try predicate(test) }
        return .subquery(collection, variable: name, negated ? .not(condition) : condition)
    }
}

/// An expression of Swift's that the language has an equivalent for.
protocol ConvertibleExpression {
    typealias Conversion = SwiftPredicateConversion

    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part
}

extension ExpressionNode {
    /// The collection's `@count` held against a number.
    func counted(_ comparator: PredicateNode.Comparator, _ count: Int64) -> PredicateNode {
        .comparison(.init(appending("@count"), comparator, .constant(.value(.integer(count)))))
    }
}
