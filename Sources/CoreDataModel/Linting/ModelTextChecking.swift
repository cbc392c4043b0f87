import CoreDataPrimitives

/// What the texts in a model mean, told by somebody who knows predicates and SQL; the model knows neither.
package protocol ModelTextChecking {
    /// The keys that a predicate reads, in order; throws where it does not parse.
    func keyPaths(inPredicate text: String) throws(ModelTextProblem) -> [ModelKeyPath]

    /// Whether a value passes a validation predicate; throws where it cannot be evaluated.
    func accepts(_ value: Value, predicate text: String) throws(ModelTextProblem) -> Bool

    /// Why a store cannot derive the attribute; `nil` if it can.
    func derivationProblem(of slot: Int, in entity: CompiledEntity, of model: CompiledModel) -> String?

    /// Why a store cannot have the index's predicate; `nil` if it can.
    func indexProblem(of index: CompiledFetchIndex, in entity: CompiledEntity, of model: CompiledModel) -> String?
}

/// Why a text of a model means nothing.
package struct ModelTextProblem: Error {
    package var message: String

    package init(_ message: String) { self.message = message }
}

/// A path of keys that a predicate reads.
package struct ModelKeyPath: Hashable, Sendable {
    /// The variable that it starts at, without `$`; `nil` for the object itself.
    package var variable: String?
    package var keys: [String]

    package init(variable: String? = nil, keys: [String]) {
        self.variable = variable
        self.keys = keys
    }
}
