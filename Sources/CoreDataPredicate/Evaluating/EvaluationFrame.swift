import CoreDataPrimitives

/// The context of an evaluation besides the object: variables, the current time, and a function that runs fetches.
package final class EvaluationFrame {
    package var variables: [String: Operand]
    /// The result of `now()` in seconds since 2001-01-01 UTC; `nil` reads the clock on each call.
    package var now: Double?
    /// Runs `FETCH(request, context, countOnly)`.
    package var fetch: ((_ request: Operand, _ context: Operand, _ countOnly: Bool) throws -> Operand)?

    package init(
        variables: [String: Operand] = [:], now: Double? = nil,
        fetch: ((_ request: Operand, _ context: Operand, _ countOnly: Bool) throws -> Operand)? = nil
    ) {
        self.variables = variables
        self.now = now
        self.fetch = fetch
    }

    func copy() -> EvaluationFrame { EvaluationFrame(variables: variables, now: now, fetch: fetch) }
}
