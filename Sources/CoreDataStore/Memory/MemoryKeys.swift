import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives

/// Validates the names in a request before evaluating it: without rows, unknown names would not be detected.
struct MemoryKeys {
    let model: CompiledModel
    let entity: Int

    func check(_ predicate: PredicateNode?) throws {
        _ = try predicate?.mapExpressions { try checked($0) }
    }

    func check(_ expression: ExpressionNode) throws {
        _ = try expression.mapExpressions { try checked($0) }
    }

    func check(_ sorts: [FetchPlan.Sort]) throws {
        for sort in sorts {
            let path = ExpressionNode.keyPath(operand: .evaluatedObject, sort.keyPath)
            try check(path)
            guard try property(at: sort.keyPath)?.relationship?.isToMany == true else { continue }
            throw failure("to-many key not allowed here", path, hint: "sort by an attribute or by @count")
        }
    }

    func check(_ columns: [FetchColumn], groupBy: [ExpressionNode], having: PredicateNode?) throws {
        guard !columns.isEmpty else {
            throw PredicateFailure(
                .unsupported,
                Diagnostic(.error, "a dictionary fetch needs a column", hint: "name one in propertiesToFetch"))
        }
        for expression in columns.map(\.expression) + groupBy {
            try check(expression)
            guard case .keyPath(.evaluatedObject, let keys) = expression,
                try property(at: keys)?.relationship?.isToMany == true
            else { continue }
            throw failure("to-many key not allowed here", expression, hint: "count it: @count, or take an aggregate")
        }
        try check(having)
        if having != nil && groupBy.isEmpty {
            throw PredicateFailure(
                .unsupported, Diagnostic(.error, "havingPredicate needs propertiesToGroupBy"))
        }
        guard !groupBy.isEmpty else { return }
        let row = model.entities[entity]
        for column in columns where !column.expression.aggregates(row, model) && !groupBy.contains(column.expression) {
            if case .constant = column.expression { continue }
            throw PredicateFailure(
                .unsupported,
                Diagnostic(
                    .error, "column '\(column.name)' is neither grouped nor an aggregate",
                    hint: "add it to propertiesToGroupBy, or take its sum:, min:, max: or count:"))
        }
    }

    private func checked(_ expression: ExpressionNode) throws -> ExpressionNode {
        if case .keyPath(.evaluatedObject, let keys) = expression { _ = try property(at: keys) }
        return expression
    }

    /// Returns the property at a path of names; `nil` for a name that is not a property, such as `objectID` and
    /// `@count`.
    private func property(at keys: [String]) throws -> CompiledProperty? {
        var entity = model.entities[entity]
        var found: CompiledProperty?
        var rest = keys[...]
        while let key = rest.first {
            if key.hasPrefix("@") || ["entity", "objectID"].contains(key) { return nil }
            if ["self", "SELF"].contains(key) {
                rest = rest.dropFirst()
                continue
            }
            guard let (property, remainder) = entity.property(at: rest), property.isStored else {
                throw failure(
                    "keypath \(key) not found in entity \(entity.name)", .keyPath(operand: .evaluatedObject, keys))
            }
            switch property.kind {
            case .attribute:
                // As in a dictionary, a missing element of a composite is nil.
                return remainder.isEmpty ? property : nil
            case .relationship(let relationship): entity = model.entities[relationship.destination]
            case .fetched:
                throw failure(
                    "keypath \(key) not found in entity \(entity.name)", .keyPath(operand: .evaluatedObject, keys))
            }
            found = property
            rest = remainder
        }
        return found
    }

    private func failure(_ message: String, _ expression: ExpressionNode, hint: String? = nil) -> PredicateFailure {
        let text = PredicateFailure.shown(expression.predicateFormat)
        return PredicateFailure(
            .unsupported, Diagnostic(.error, "\(message) : (\(text))", hint: hint), subexpression: text)
    }
}
