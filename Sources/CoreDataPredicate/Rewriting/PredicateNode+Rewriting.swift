import CoreDataPrimitives

extension PredicateNode {
    /// Returns the tree with every expression replaced, innermost first, including predicates inside expressions.
    package func mapExpressions(_ transform: (ExpressionNode) throws -> ExpressionNode) rethrows -> PredicateNode {
        switch self {
        case .constant, .block: return self
        case .comparison(var comparison):
            comparison.left = try comparison.left.mapExpressions(transform)
            comparison.right = try comparison.right.mapExpressions(transform)
            return .comparison(comparison)
        case .and(let nodes): return .and(try nodes.map { try $0.mapExpressions(transform) })
        case .or(let nodes): return .or(try nodes.map { try $0.mapExpressions(transform) })
        case .not(let node): return .not(try node.mapExpressions(transform))
        }
    }

    /// Returns the tree with expressions replaced, outermost first. A replaced expression is not searched further; if
    /// `transform` returns `nil`, its parts are searched.
    package func mapOutermost(_ transform: (ExpressionNode) throws -> ExpressionNode?) rethrows -> PredicateNode {
        switch self {
        case .constant, .block: return self
        case .comparison(var comparison):
            comparison.left = try comparison.left.mapOutermost(transform)
            comparison.right = try comparison.right.mapOutermost(transform)
            return .comparison(comparison)
        case .and(let nodes): return .and(try nodes.map { try $0.mapOutermost(transform) })
        case .or(let nodes): return .or(try nodes.map { try $0.mapOutermost(transform) })
        case .not(let node): return .not(try node.mapOutermost(transform))
        }
    }

    /// Calls `visit` with every predicate of the tree, outermost first, including predicates inside expressions.
    package func forEachPredicate(_ visit: (PredicateNode) throws -> Void) rethrows {
        try visit(self)
        switch self {
        case .constant, .block: break
        case .comparison(let comparison):
            try comparison.left.forEachPredicate(visit)
            try comparison.right.forEachPredicate(visit)
        case .and(let nodes), .or(let nodes):
            for node in nodes { try node.forEachPredicate(visit) }
        case .not(let node): try node.forEachPredicate(visit)
        }
    }

    /// Calls `visit` with every expression of the tree, outermost first.
    package func forEachExpression(_ visit: (ExpressionNode) throws -> Void) rethrows {
        try forEachPredicate { node in
            // The enumeration visits predicates inside expressions separately.
            guard case .comparison(let comparison) = node else { return }
            try comparison.left.visitOwn(visit)
            try comparison.right.visitOwn(visit)
        }
    }

    /// Calls `visit` with both sides of every comparison of the tree, but not of predicates inside expressions.
    package func forEachSide(_ visit: (ExpressionNode) throws -> Void) rethrows {
        switch self {
        case .constant, .block: break
        case .comparison(let comparison):
            try visit(comparison.left)
            try visit(comparison.right)
        case .and(let nodes), .or(let nodes): for node in nodes { try node.forEachSide(visit) }
        case .not(let node): try node.forEachSide(visit)
        }
    }

    /// Whether the tree contains code, so that only memory can evaluate it.
    package var containsBlocks: Bool {
        var found = false
        forEachPredicate { if case .block = $0 { found = true } }
        forEachExpression { if case .block = $0 { found = true } }
        return found
    }

    /// Returns the tree with `$name` replaced. Variables that a SUBQUERY inside binds, and variables without a value,
    /// are not replaced.
    package func substitutingVariables(_ values: [String: ExpressionNode]) -> PredicateNode {
        substituting(bound: []) { values[$0] }
    }

    /// The names of the variables that need a value before evaluation, in order of appearance.
    package var freeVariables: [String] {
        var names: [String] = []
        _ = substituting(bound: []) { name in
            if !names.contains(name) { names.append(name) }
            return nil
        }
        return names
    }

    /// Whether the tree contains a variable, bound or not.
    package var hasVariable: Bool {
        var found = false
        forEachExpression { if case .variable = $0 { found = true } }
        return found
    }

    fileprivate func substituting(bound: Set<String>, _ value: (String) -> ExpressionNode?) -> PredicateNode {
        switch self {
        case .constant, .block: return self
        case .comparison(var comparison):
            comparison.left = comparison.left.substituting(bound: bound, value)
            comparison.right = comparison.right.substituting(bound: bound, value)
            return .comparison(comparison)
        case .and(let nodes): return .and(nodes.map { $0.substituting(bound: bound, value) })
        case .or(let nodes): return .or(nodes.map { $0.substituting(bound: bound, value) })
        case .not(let node): return .not(node.substituting(bound: bound, value))
        }
    }
}

extension ExpressionNode {
    package func mapExpressions(_ transform: (ExpressionNode) throws -> ExpressionNode) rethrows -> ExpressionNode {
        try transform(
            try mapParts({ try $0.mapExpressions(transform) }, predicate: { try $0.mapExpressions(transform) }))
    }

    /// Returns the expression with its outermost parts replaced; see the same function of predicates.
    package func mapOutermost(_ transform: (ExpressionNode) throws -> ExpressionNode?) rethrows -> ExpressionNode {
        try transform(self)
            ?? mapParts({ try $0.mapOutermost(transform) }, predicate: { try $0.mapOutermost(transform) })
    }

    /// Returns the expression with `$name` replaced; see the same function of predicates.
    package func substitutingVariables(_ values: [String: ExpressionNode]) -> ExpressionNode {
        substituting(bound: []) { values[$0] }
    }

    fileprivate func substituting(bound: Set<String>, _ value: (String) -> ExpressionNode?) -> ExpressionNode {
        switch self {
        case .variable(let name): return bound.contains(name) ? self : value(name) ?? self
        case .subquery(let collection, let variable, let predicate):
            return .subquery(
                collection.substituting(bound: bound, value), variable: variable,
                predicate.substituting(bound: bound.union([variable]), value))
        default:
            return mapParts(
                { $0.substituting(bound: bound, value) }, predicate: { $0.substituting(bound: bound, value) })
        }
    }

    /// Returns the expression with its direct parts replaced.
    private func mapParts(
        _ transform: (ExpressionNode) throws -> ExpressionNode, predicate: (PredicateNode) throws -> PredicateNode
    ) rethrows -> ExpressionNode {
        switch self {
        case .constant, .evaluatedObject, .variable, .anyKey: return self
        case .keyPath(let operand, let keys):
            let operand = try transform(operand)
            // Merge both into one path, as the parser does.
            if case .keyPath(let inner, let first) = operand { return .keyPath(operand: inner, first + keys) }
            return .keyPath(operand: operand, keys)
        case .function(let name, let arguments): return .function(name, try arguments.map(transform))
        case .message(let target, let selector, let arguments):
            return .message(target: try transform(target), selector: selector, try arguments.map(transform))
        case .aggregate(let elements): return .aggregate(try elements.map(transform))
        case .union(let a, let b): return .union(try transform(a), try transform(b))
        case .intersection(let a, let b): return .intersection(try transform(a), try transform(b))
        case .difference(let a, let b): return .difference(try transform(a), try transform(b))
        case .subquery(let collection, let variable, let node):
            return .subquery(try transform(collection), variable: variable, try predicate(node))
        case .conditional(let condition, let yes, let no):
            return .conditional(try predicate(condition), try transform(yes), try transform(no))
        case .assignment(let variable, let expression):
            return .assignment(variable: variable, try transform(expression))
        case .fetch(let request, let context, let countOnly):
            return .fetch(request: try transform(request), context: try transform(context), countOnly: countOnly)
        case .block(let block):
            guard !block.arguments.isEmpty else { return self }
            return .block(
                ExpressionBlock(origin: block.origin, arguments: try block.arguments.map(transform), block.body))
        }
    }

    /// The expression's direct parts, except predicates.
    package var parts: [ExpressionNode] {
        switch self {
        case .constant, .evaluatedObject, .variable, .anyKey: []
        case .keyPath(let operand, _): [operand]
        case .function(_, let arguments), .aggregate(let arguments): arguments
        case .message(let target, _, let arguments): [target] + arguments
        case .union(let a, let b), .intersection(let a, let b), .difference(let a, let b): [a, b]
        case .subquery(let collection, _, _): [collection]
        case .conditional(_, let yes, let no): [yes, no]
        case .assignment(_, let expression): [expression]
        case .fetch(let request, let context, _): [request, context]
        case .block(let block): block.arguments
        }
    }

    /// The predicate of a subquery, or the condition of a conditional expression.
    package var ownPredicate: PredicateNode? {
        switch self {
        case .subquery(_, _, let node), .conditional(let node, _, _): node
        default: nil
        }
    }

    /// Calls `visit` with the expression and all its parts, outermost first.
    package func forEachExpression(_ visit: (ExpressionNode) throws -> Void) rethrows {
        try visit(self)
        for part in parts { try part.forEachExpression(visit) }
        try ownPredicate?.forEachExpression(visit)
    }

    fileprivate func visitOwn(_ visit: (ExpressionNode) throws -> Void) rethrows {
        try visit(self)
        for part in parts { try part.visitOwn(visit) }
    }

    fileprivate func forEachPredicate(_ visit: (PredicateNode) throws -> Void) rethrows {
        try ownPredicate?.forEachPredicate(visit)
        for part in parts { try part.forEachPredicate(visit) }
    }
}
