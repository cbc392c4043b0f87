import CoreDataPrimitives
import Foundation

/// Converts a Swift predicate, made by `#Predicate`, to a tree.
///
///     #Predicate<Book> { $0.pages > 300 && $0.author?.name == "Jane" }
///     // pages > 300 AND author.name == "Jane"
///     #Predicate<Author> { $0.books.contains { $0.pages > 300 } }
///     // SUBQUERY(books, $v0, $v0.pages > 300).@count > 0
package final class SwiftPredicateConversion {
    /// The error for an expression without an equivalent in the language.
    package struct Failure: EngineFailure {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// The converted form of a Swift expression.
    package enum Part {
        case expression(ExpressionNode)
        case predicate(PredicateNode)
        /// A truth value that is nil unless the first predicate holds: the result of `flatMap` on a test.
        case optionalPredicate(PredicateNode, PredicateNode)
        /// The comparison result of two texts: -1, 0 or 1.
        case ordering(ExpressionNode, ExpressionNode, TextOptions)
    }

    /// Returns the names of the entities whose classes pass the test; `nil` if the type is not a managed object class.
    package typealias EntityNames = (_ type: Any.Type, _ isBelow: (Any.Type) -> Bool) -> [String]?

    private let name: (AnyKeyPath) -> String?
    private let constantOf: (Any?) -> Constant
    private let entities: EntityNames
    private var variables: [PredicateExpressions.VariableID: ExpressionNode] = [:]

    /// - Parameters:
    ///   - name: returns the key of a property's key path.
    ///   - constant: returns the language's constant for a value.
    ///   - entities: returns the names of the entities of a class; `nil` if it is not a managed object class.
    package init(
        name: @escaping (AnyKeyPath) -> String?, constant: @escaping (Any?) -> Constant,
        entities: @escaping EntityNames = { _, _ in nil }
    ) {
        self.name = name
        constantOf = constant
        self.entities = entities
    }

    package func node<Input>(_ predicate: Predicate<Input>) throws(Failure) -> PredicateNode {
        variables = [predicate.variable.key: .evaluatedObject]
        return try self.predicate(predicate.expression)
    }

    // MARK: Parts

    package func predicate(_ expression: any PredicateExpression) throws(Failure) -> PredicateNode {
        switch try part(expression) {
        case .predicate(let predicate): return predicate
        case .optionalPredicate(let presence, let predicate): return .all([presence, predicate])
        case .expression(.constant(.value(.integer(let value)))): return .constant(value != 0)
        case let other:
            return .comparison(.init(node(of: other), .equalTo, .constant(.value(.integer(1)))))
        }
    }

    package func expression(_ expression: any PredicateExpression) throws(Failure) -> ExpressionNode {
        node(of: try part(expression))
    }

    /// Returns the part as a value expression.
    func node(of part: Part) -> ExpressionNode {
        switch part {
        case .expression(let expression): return expression
        case .predicate(.constant(let value)): return .number(value ? 1 : 0)
        case .predicate(let predicate): return .conditional(predicate, .number(1), .number(0))
        case .optionalPredicate(let presence, let predicate):
            return .conditional(presence, .conditional(predicate, .number(1), .number(0)), .null)
        case .ordering(let left, let right, let options):
            let isEqual = PredicateNode.comparison(.init(left, .equalTo, right, options: options))
            let isLess = PredicateNode.comparison(.init(left, .lessThan, right, options: options))
            return .conditional(isEqual, .number(0), .conditional(isLess, .number(-1), .number(1)))
        }
    }

    /// Converts an expression; one without an equivalent that does not depend on the object becomes its value.
    package func part(_ expression: any PredicateExpression) throws(Failure) -> Part {
        guard let convertible = convertible(expression) else {
            if let value = Self.value(of: expression) { return .expression(try constant(value)) }
            throw Failure(reason: "\(Self.name(of: expression)) has no equivalent in a predicate's format")
        }
        do { return try convertible.part(in: self) } catch {
            // A chain from a captured value of any type to a supported value: `filter.mood.rawValue`.
            guard let value = Self.value(of: expression), let constant = try? constant(value) else { throw error }
            return .expression(constant)
        }
    }

    /// Returns the value of an expression without variables.
    package static func value(of expression: some PredicateExpression) -> Any? {
        // A variable without a value throws.
        try? expression.evaluate(PredicateBindings())
    }

    /// Returns the name of an expression in errors: `CollectionIndexSubscript`.
    static func name(of expression: any PredicateExpression) -> String {
        String(describing: type(of: expression)).prefix { $0 != "<" }.description
    }

    func constant(_ value: Any?) throws(Failure) -> ExpressionNode {
        if let order = value as? ComparisonResult { return .number(Int64(order.rawValue)) }
        let constant = constantOf(value)
        if case .value(.opaque) = constant {
            throw Failure(
                reason:
                    "a constant of type \(value.map { "\(type(of: $0))" } ?? "nil") has no equivalent in a predicate's format"
            )
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

    /// Runs `body` with the variable bound to the expression.
    package func binding<R>(
        _ id: PredicateExpressions.VariableID, to expression: ExpressionNode, _ body: () throws(Failure) -> R
    ) throws(Failure) -> R {
        let outer = variables.updateValue(expression, forKey: id)
        defer { variables[id] = outer }
        return try body()
    }

    /// Runs `body` with each variable bound to its expression.
    package func binding<R>(
        _ bindings: ArraySlice<(PredicateExpressions.VariableID, ExpressionNode)>, _ body: () throws(Failure) -> R
    ) throws(Failure) -> R {
        guard let (id, expression) = bindings.first else { return try body() }
        return try binding(id, to: expression) { () throws(Failure) in try binding(bindings.dropFirst(), body) }
    }

    /// Returns the members of a collection that satisfy the test.
    func members(
        _ sequence: any PredicateExpression, _ id: PredicateExpressions.VariableID,
        _ test: any PredicateExpression, negated: Bool = false
    ) throws(Failure) -> ExpressionNode {
        let collection = try expression(sequence)
        if Self.isText(sequence) {
            throw Failure(reason: "a test of a text's characters has no equivalent in a predicate's format")
        }
        let name = "v\(variables.count - 1)"
        let condition = try binding(id, to: .variable(name)) { () throws(Failure) in try predicate(test) }
        return .subquery(collection, variable: name, negated ? .not(condition) : condition)
    }
}

extension SwiftPredicateConversion {
    private static func isText<E: PredicateExpression>(_ expression: E) -> Bool {
        E.Output.self is any StringProtocol.Type
    }

    /// Returns the converted test for each member of a constant collection; `nil` for any other collection.
    func tests(
        ofMembers sequence: any PredicateExpression, _ id: PredicateExpressions.VariableID,
        _ test: any PredicateExpression
    ) throws(Failure) -> [PredicateNode]? {
        guard case .constant(.collection(let members, _)) = try expression(sequence) else { return nil }
        guard members.count <= Self.mostTests else {
            throw Failure(reason: "a test of each of \(members.count) constants is too long for a store")
        }
        var tests: [PredicateNode] = []
        for member in members {
            tests.append(
                try binding(id, to: .constant(member)) { () throws(Failure) in try predicate(test) })
        }
        return tests
    }

    /// More tests would exceed the limits of databases.
    static let mostTests = 500

    // MARK: Classes

    /// Returns whether the object belongs to one of the class's entities.
    ///
    ///     SELF.entity.name IN {"Drink", "Juice"}
    func isKind<Desired>(
        _ object: ExpressionNode, of desired: Desired.Type, given: Any.Type
    ) throws(Failure) -> PredicateNode {
        guard let names = entities(desired, { $0 is Desired.Type }) else {
            throw Failure(
                reason:
                    "a cast from \(given) to \(desired) has no equivalent in a predicate's format: only managed objects "
                    + "are cast, to a class of managed objects")
        }
        guard !names.isEmpty else {
            throw Failure(reason: "no entity of a model that was loaded has the class \(desired) or one below it")
        }
        let members = names.sorted().map { Constant.value(.string($0)) }
        return .comparison(
            .init(
                object.appending("entity").appending("name"), .in,
                .constant(.collection(members, isOrdered: true))))
    }
}

/// A Swift expression with an equivalent in the language.
package protocol ConvertibleExpression {
    typealias Conversion = SwiftPredicateConversion

    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part
}

extension ExpressionNode {
    static func number(_ value: Int64) -> ExpressionNode { .constant(.value(.integer(value))) }
    static var null: ExpressionNode { .constant(.value(.null)) }

    /// Returns the comparison of the collection's `@count` with a number.
    func counted(_ comparator: PredicateNode.Comparator, _ count: Int64) -> PredicateNode {
        .comparison(.init(appending("@count"), comparator, .constant(.value(.integer(count)))))
    }
}
