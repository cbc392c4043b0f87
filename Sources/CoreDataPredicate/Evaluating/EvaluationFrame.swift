import CoreDataPrimitives

/// What an evaluation knows besides the object: variables, the time, how to run a fetch.
package final class EvaluationFrame {
    package var variables: [String: Operand]
    /// Seconds since 2001-01-01 UTC that `now()` gives; `nil` reads the clock each time.
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
