import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore

/// Parses the texts in a model, predicates and derivations, and checks whether a store supports them.
package struct ModelTextChecker {
    package init() {}

    /// Returns the keys that a predicate reads, in order; throws if it cannot be parsed.
    func keyPaths(inPredicate text: String) throws(ModelTextProblem) -> [ModelKeyPath] {
        var collector = KeyPathCollector()
        collector.visit(try parse(text))
        return collector.paths
    }

    /// Returns whether a value satisfies a validation predicate; throws if it cannot be evaluated.
    func accepts(_ value: Value, predicate text: String) throws(ModelTextProblem) -> Bool {
        let predicate = try parse(text)
        do {
            return try PredicateEvaluator(predicate).evaluate(.value(value))
        } catch {
            throw ModelTextProblem((error as? PredicateFailure)?.diagnostic.message ?? "\(error)")
        }
    }

    /// Returns why a store cannot derive the attribute; `nil` if it can.
    func derivationProblem(of slot: Int, in entity: CompiledEntity, of model: CompiledModel) -> String? {
        SchemaLayout.fresh(model: model, entities: Array(model.entities.indices))
            .derivationProblem(of: entity.properties[slot], in: entity)
    }

    /// Returns why a store cannot use the index's predicate; `nil` if it can.
    func indexProblem(
        of index: CompiledFetchIndex, in entity: CompiledEntity, of model: CompiledModel
    ) -> String? {
        SchemaLayout.fresh(model: model, entities: Array(model.entities.indices)).indexProblem(of: index, in: entity)
    }

    private func parse(_ text: String) throws(ModelTextProblem) -> PredicateNode {
        do {
            return try PredicateParser.parse(format: text)
        } catch {
            throw ModelTextProblem(error.diagnostic.message)
        }
    }
}

/// The reason why a text of a model is invalid.
struct ModelTextProblem: Error {
    var message: String

    init(_ message: String) { self.message = message }
}

/// A path of keys that a predicate reads.
struct ModelKeyPath: Hashable, Sendable {
    /// The variable that the path starts at, without `$`; `nil` for the object itself.
    var variable: String?
    var keys: [String]

    init(variable: String? = nil, keys: [String]) {
        self.variable = variable
        self.keys = keys
    }
}

/// Collects the key paths of a predicate, in the order in which they are written.
private struct KeyPathCollector {
    private(set) var paths: [ModelKeyPath] = []

    mutating func visit(_ predicate: PredicateNode) { predicate.forEachSide { visit($0) } }

    private mutating func visit(_ expression: ExpressionNode) {
        if case .block = expression { return }
        if case .keyPath(let operand, let keys) = expression { return visit(operand, keys) }
        for part in expression.parts { visit(part) }
        if let predicate = expression.ownPredicate { visit(predicate) }
    }

    private mutating func visit(_ operand: ExpressionNode, _ keys: [String]) {
        switch operand {
        case .evaluatedObject: paths.append(.init(keys: keys))
        case .variable(let name): paths.append(.init(variable: name, keys: keys))
        default: visit(operand)
        }
    }
}
