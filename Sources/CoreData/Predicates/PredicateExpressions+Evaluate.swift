import CoreDataPredicate
import Foundation

extension PredicateExpressions {
    /// `predicate.evaluate(object)` in a `#Predicate`, which Foundation has on Apple's platforms only.
    ///
    ///     let long = #Predicate<Book> { $0.pages > 300 }
    ///     #Predicate<Book> { long.evaluate($0) && $0.isLent }
    ///     // pages > 300 AND isLent == 1
    public struct PredicateEvaluate<Condition: PredicateExpression, each Input: PredicateExpression>:
        PredicateExpression
    where Condition.Output == Predicate<repeat (each Input).Output> {
        /// The type of its value.
        public typealias Output = Bool

        /// The predicate.
        public let predicate: Condition
        /// The values that the predicate is evaluated with.
        public let input: (repeat each Input)

        /// Makes the expression of a predicate and its input.
        public init(predicate: Condition, input: repeat each Input) {
            self.predicate = predicate
            self.input = (repeat each input)
        }

        /// Whether the input satisfies the predicate.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try predicate.evaluate(bindings).evaluate(repeat (each input).evaluate(bindings))
        }
    }

    /// What `#Predicate` calls for `predicate.evaluate(object)`.
    public static func build_evaluate<Condition, each Input>(
        _ predicate: Condition, _ input: repeat each Input
    ) -> PredicateEvaluate<Condition, repeat each Input> {
        PredicateEvaluate(predicate: predicate, input: repeat each input)
    }
}

extension PredicateExpressions.PredicateEvaluate: Sendable where Condition: Sendable, repeat each Input: Sendable {}

extension PredicateExpressions.PredicateEvaluate: Codable where Condition: Codable, repeat each Input: Codable {
    /// Writes the predicate and its input, one after the other.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(predicate)
        repeat try container.encode(each input)
    }

    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        predicate = try container.decode(Condition.self)
        input = (repeat try container.decode((each Input).self))
    }
}

extension PredicateExpressions.PredicateEvaluate: StandardPredicateExpression
where Condition: StandardPredicateExpression, repeat each Input: StandardPredicateExpression {}

extension PredicateExpressions.PredicateEvaluate: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        guard let value = Conversion.value(of: predicate) as? Predicate<repeat (each Input).Output> else {
            throw Conversion.Failure(
                reason: "a predicate that depends on the object has no equivalent in a predicate's format")
        }
        var bindings: [(PredicateExpressions.VariableID, ExpressionNode)] = []
        for (variable, input) in repeat (each value.variable, each input) {
            bindings.append((variable.key, try conversion.expression(input)))
        }
        let expression: any PredicateExpression = value.expression
        return try conversion.binding(bindings[...]) { () throws(Conversion.Failure) in
            try conversion.part(expression)
        }
    }
}
