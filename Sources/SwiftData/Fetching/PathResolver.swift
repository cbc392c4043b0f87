import CoreDataPredicate
import CoreDataPrimitives

/// Replaces paths and constants of composite attributes by those of their elements, which a store has columns for.
///
///     mood == .calm                         // mood.mood == "calm"
///     mood.rawValue == "calm"               // mood.mood == "calm"
///     address == Address(city: "Oslo")      // address.city == "Oslo" AND address.street == nil
///     kind == .red, without raw value       // kind.red == "red"
struct PathResolver {
    /// The placeholder for a key path to `rawValue` of an enumeration until it is resolved.
    static let rawValue = "rawValue"

    private var variables: [String: any PersistentModel.Type] = [:]
    private let root: any PersistentModel.Type

    init(root: any PersistentModel.Type) { self.root = root }

    func resolved(_ node: PredicateNode) -> PredicateNode {
        switch node {
        case .constant, .block: node
        case .and(let nodes): .and(nodes.map(resolved))
        case .or(let nodes): .or(nodes.map(resolved))
        case .not(let node): .not(resolved(node))
        case .comparison(let comparison): resolved(comparison)
        }
    }

    // MARK: Comparisons

    private func resolved(_ comparison: PredicateNode.Comparison) -> PredicateNode {
        if let node = composed(comparison.left, comparison.comparator, comparison.right) { return node }
        if comparison.comparator == .equalTo || comparison.comparator == .notEqualTo,
            let node = composed(comparison.right, comparison.comparator, comparison.left)
        {
            return node
        }
        var result = comparison
        result.left = resolved(comparison.left)
        result.right = resolved(comparison.right)
        return .comparison(result)
    }

    /// A composite compared with a constant, as comparisons of its elements; `nil` for other comparisons.
    private func composed(
        _ path: ExpressionNode, _ comparator: PredicateNode.Comparator, _ constant: ExpressionNode
    ) -> PredicateNode? {
        guard case .keyPath(let operand, let keys) = path else { return nil }
        if let node = presence(of: operand, keys, comparator, constant) { return node }
        switch (comparator, constant) {
        case (.equalTo, .constant(.dictionary(let elements))):
            return equality(operand, keys, elements)
        case (.notEqualTo, .constant(.dictionary(let elements))):
            return equality(operand, keys, elements).map { .not($0) }
        case (.in, .constant(.collection(let members, _))):
            guard members.contains(where: \.isDictionary) else { return nil }
            return .or(
                members.compactMap { member in
                    guard case .dictionary(let elements) = member else {
                        return resolved(.init(path, .equalTo, .constant(member)))
                    }
                    return equality(operand, keys, elements)
                })
        case (.equalTo, .constant(.value(.null))), (.notEqualTo, .constant(.value(.null))):
            guard let names = elements(of: keys, in: operand) else { return nil }
            let isNil = PredicateNode.and(
                names.map { .comparison(.init(.keyPath(operand: operand, keys + [$0]), .equalTo, constant)) })
            return comparator == .equalTo ? isNil : .not(isNil)
        default:
            return nil
        }
    }

    /// Rewrites a comparison of a to-many relationship with nil; `nil` for other comparisons.
    ///
    /// A stored model has an array, which may be empty: only the models on the path to the relationship can be nil.
    private func presence(
        of operand: ExpressionNode, _ keys: [String], _ comparator: PredicateNode.Comparator, _ constant: ExpressionNode
    ) -> PredicateNode? {
        guard comparator == .equalTo || comparator == .notEqualTo, case .constant(.value(.null)) = constant,
            let last = keys.last
        else { return nil }
        let owner = keys.count == 1 ? operand : .keyPath(operand: operand, Array(keys.dropLast()))
        guard let type = modelType(of: owner), case .toMany = ModelLayout.of(type).property(named: last)?.form else {
            return nil
        }
        switch owner {
        case .evaluatedObject, .variable: return .constant(comparator == .notEqualTo)
        default: return .comparison(.init(resolved(owner), comparator, constant))
        }
    }

    private func equality(
        _ operand: ExpressionNode, _ keys: [String], _ elements: [(key: Constant, value: Constant)]
    ) -> PredicateNode? {
        var nodes: [PredicateNode] = []
        for (key, value) in elements {
            guard case .value(.string(let name)) = key else { return nil }
            // An enumeration with a raw value has one element, which is called as the property is.
            let element = name.isEmpty ? keys.last ?? name : name
            let path = resolved(operand)
            if case .dictionary(let inner) = value {
                guard let node = equality(path, keys + [element], inner) else { return nil }
                nodes.append(node)
            } else {
                nodes.append(
                    .comparison(.init(.keyPath(operand: path, keys + [element]), .equalTo, .constant(value))))
            }
        }
        return nodes.count == 1 ? nodes[0] : .and(nodes)
    }

    // MARK: Expressions

    private func resolved(_ node: ExpressionNode) -> ExpressionNode {
        switch node {
        case .constant(.dictionary(let elements)):
            // The constant of an enumeration if no property names its element.
            return elements.count == 1 ? .constant(elements[0].value) : node
        case .constant, .evaluatedObject, .variable, .anyKey, .block: return node
        case .keyPath(let operand, let keys):
            return .keyPath(operand: resolved(operand), resolved(keys, in: operand))
        case .function(let name, let arguments): return .function(name, arguments.map(resolved))
        case .message(let target, let selector, let arguments):
            return .message(target: resolved(target), selector: selector, arguments.map(resolved))
        case .aggregate(let elements): return .aggregate(elements.map(resolved))
        case .union(let a, let b): return .union(resolved(a), resolved(b))
        case .intersection(let a, let b): return .intersection(resolved(a), resolved(b))
        case .difference(let a, let b): return .difference(resolved(a), resolved(b))
        case .subquery(let collection, let variable, let condition):
            var inner = self
            inner.variables[variable] = modelType(of: collection)
            return .subquery(resolved(collection), variable: variable, inner.resolved(condition))
        case .conditional(let condition, let a, let b):
            return .conditional(resolved(condition), resolved(a), resolved(b))
        case .assignment(let variable, let value): return .assignment(variable: variable, resolved(value))
        case .fetch: return node
        }
    }

    /// A path to an enumeration, or to its raw value, as a path to the element that holds the raw value.
    private func resolved(_ keys: [String], in operand: ExpressionNode) -> [String] {
        var keys = keys
        if keys.last == Self.rawValue { keys.removeLast() }
        guard let last = keys.last, elements(of: keys, in: operand) == [last] else { return keys }
        return keys + [last]
    }

    // MARK: Types

    /// Returns the names of the elements of the composite at a path; `nil` if the path ends elsewhere.
    private func elements(of keys: [String], in operand: ExpressionNode) -> [String]? {
        guard var type = modelType(of: operand) else { return nil }
        for (position, key) in keys.enumerated() {
            guard let property = ModelLayout.of(type).property(named: key) else { return nil }
            switch property.form {
            case .toOne(let destination, _), .toMany(let destination, _): type = destination
            case .attribute(let form): return form.elementNames(at: keys[(position + 1)...])
            }
        }
        return nil
    }

    /// The class of the models that an expression stands for.
    private func modelType(of expression: ExpressionNode) -> (any PersistentModel.Type)? {
        switch expression {
        case .evaluatedObject: return root
        case .variable(let name): return variables[name]
        case .keyPath(let operand, let keys):
            guard var type = modelType(of: operand) else { return nil }
            for key in keys {
                switch ModelLayout.of(type).property(named: key)?.form {
                case .toOne(let destination, _), .toMany(let destination, _): type = destination
                case .attribute, nil: return nil
                }
            }
            return type
        case .subquery(let collection, _, _): return modelType(of: collection)
        default: return nil
        }
    }
}

extension Constant {
    fileprivate var isDictionary: Bool { if case .dictionary = self { true } else { false } }
}
