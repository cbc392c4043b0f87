import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Expressions whose value is the result of a fetch, `FETCH(request, context, NO)`, or its count, `FETCH(request,
/// context, YES)`.
///
///     let lent = NSFetchRequestExpression.expression(
///         forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context), countOnly: false)
///     NSComparisonPredicate(
///         leftExpression: .expressionForEvaluatedObject(), rightExpression: lent, modifier: .direct, type: .in)
///     // SELECT … FROM ZLOAN …; then SELECT … FROM ZBOOK t0 WHERE t0.Z_PK IN (?, …)
///
/// The fetch runs once before each fetch or evaluation of the predicate, in the context of the expression.
///
/// Differs from Apple: this type makes expressions, and is not their class.
public enum NSFetchRequestExpression {
    /// Returns an expression whose value is the result of a fetch, or its count.
    ///
    /// - Parameters:
    ///   - fetch: an expression whose value is an `NSFetchRequest`.
    ///   - context: an expression whose value is an `NSManagedObjectContext`.
    ///   - countFlag: whether the value is the count.
    public static func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
    ) -> NSExpression {
        NSExpression.make(node: .fetch(request: fetch.node, context: context.node, countOnly: countFlag))
    }
}

/// Runs the fetches of predicates.
enum FetchExpressions {
    private static let depthLimit = 16
    private static let depthKey = "org.opencoredata.fetch-depth"

    /// Returns the value of `FETCH(request, context, countOnly)`.
    ///
    /// - Throws: ``PredicateFailure`` if the first value is no request or the second no context; the errors of the
    ///   fetch.
    static func value(_ request: Operand, _ context: Operand, _ countOnly: Bool) throws -> Operand {
        guard let request = object(request) as? AnyFetchRequest else {
            throw PredicateFailure(
                .evaluation,
                Diagnostic(.error, "the first argument of FETCH is a fetch request, not \(request.kindName)"))
        }
        guard let context = object(context) as? NSManagedObjectContext else {
            throw PredicateFailure(
                .evaluation,
                Diagnostic(.error, "the second argument of FETCH is a managed object context, not \(context.kindName)"))
        }
        // A request whose predicate fetches with that same request would recurse without end.
        let thread = Thread.current
        let depth = thread.threadDictionary[depthKey] as? Int ?? 0
        guard depth < depthLimit else {
            throw PredicateFailure(
                .evaluation,
                Diagnostic(.error, "a FETCH runs requests that FETCH again, \(depthLimit) deep: is it one of itself?"))
        }
        thread.threadDictionary[depthKey] = depth + 1
        defer { thread.threadDictionary[depthKey] = depth }
        return try context.performAndWait {
            if countOnly { return .value(.integer(Int64(try context.count(for: request)))) }
            let found = try context.fetch(NSFetchRequest<any NSFetchRequestResult>(request))
            return OperandBridging.operand(from: found.map { $0 as Any })
        }
    }

    private static func object(_ operand: Operand) -> Any? {
        switch operand {
        case .value(.opaque(let box)): box.object
        case .object: OperandBridging.any(from: operand)
        default: nil
        }
    }
}

extension PredicateNode {
    /// Whether a fetch has to run before the predicate can be asked.
    var hasFetch: Bool {
        var found = false
        forEachExpression { if case .fetch = $0 { found = true } }
        return found
    }

    /// The predicate with the results of its fetches in their place.
    func runningFetches() throws -> PredicateNode {
        guard hasFetch else { return self }
        return try mapExpressions { expression in
            guard case .fetch = expression else { return expression }
            let frame = EvaluationFrame(fetch: FetchExpressions.value)
            return .constant(Constant(try ExpressionEvaluator(expression).value(for: .null, in: frame)))
        }
    }
}
