import CoreDataPrimitives

// Equality of trees, like Apple's `isEqual:`: the same structure with equal constants. Blocks are equal if they are
// identical. An aggregate of constants equals the constant array with the same members, and a decimal equals the double
// of the same value, because both print alike.

extension PredicateNode: Hashable {
    package static func == (a: PredicateNode, b: PredicateNode) -> Bool {
        switch (a, b) {
        case (.constant(let a), .constant(let b)): a == b
        case (.comparison(let a), .comparison(let b)): a == b
        case (.and(let a), .and(let b)), (.or(let a), .or(let b)): a == b
        case (.not(let a), .not(let b)): a == b
        case (.block(let a), .block(let b)): a.identity == b.identity
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .constant(let value): hasher.combine(value)
        case .comparison(let comparison): hasher.combine(comparison)
        case .and(let nodes):
            hasher.combine(0)
            hasher.combine(nodes)
        case .or(let nodes):
            hasher.combine(1)
            hasher.combine(nodes)
        case .not(let node):
            hasher.combine(2)
            hasher.combine(node)
        case .block(let block): hasher.combine(block.identity)
        }
    }
}

extension PredicateNode.Comparison: Hashable {
    package static func == (a: Self, b: Self) -> Bool {
        a.comparator == b.comparator && a.modifier == b.modifier && a.options == b.options && a.left == b.left
            && a.right == b.right
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(comparator)
        hasher.combine(modifier)
        hasher.combine(options)
        hasher.combine(left)
        hasher.combine(right)
    }
}

extension ExpressionNode: Hashable {
    package static func == (a: ExpressionNode, b: ExpressionNode) -> Bool {
        switch (a, b) {
        case (.constant(let a), .constant(let b)): a == b
        case (.evaluatedObject, .evaluatedObject), (.anyKey, .anyKey): true
        case (.variable(let a), .variable(let b)): a == b
        case (.keyPath(let a, let aKeys), .keyPath(let b, let bKeys)): aKeys == bKeys && a == b
        case (.function(let a, let aArguments), .function(let b, let bArguments)): a == b && aArguments == bArguments
        case (.message(let a, let aSelector, let aArguments), .message(let b, let bSelector, let bArguments)):
            aSelector == bSelector && a == b && aArguments == bArguments
        case (.aggregate(let a), .aggregate(let b)): a == b
        case (.aggregate(let elements), .constant(.collection(let members, isOrdered: true))),
            (.constant(.collection(let members, isOrdered: true)), .aggregate(let elements)):
            elements == members.map { .constant($0) }
        case (.union(let a, let b), .union(let c, let d)), (.intersection(let a, let b), .intersection(let c, let d)),
            (.difference(let a, let b), .difference(let c, let d)):
            a == c && b == d
        case (.subquery(let a, let aName, let aNode), .subquery(let b, let bName, let bNode)):
            aName == bName && a == b && aNode == bNode
        case (.conditional(let a, let b, let c), .conditional(let d, let e, let f)): a == d && b == e && c == f
        case (.assignment(let a, let aValue), .assignment(let b, let bValue)): a == b && aValue == bValue
        case (.fetch(let a, let aContext, let aCount), .fetch(let b, let bContext, let bCount)):
            aCount == bCount && a == b && aContext == bContext
        case (.block(let a), .block(let b)): a.identity == b.identity
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .constant(let constant): hasher.combine(constant)
        case .evaluatedObject: hasher.combine(1)
        case .anyKey: hasher.combine(2)
        case .variable(let name): hasher.combine(name)
        case .keyPath(let operand, let keys):
            hasher.combine(operand)
            hasher.combine(keys)
        case .function(let name, let arguments):
            hasher.combine(name)
            hasher.combine(arguments)
        case .message(let target, let selector, let arguments):
            hasher.combine(target)
            hasher.combine(selector)
            hasher.combine(arguments)
        case .aggregate(let elements): hasher.combine(elements.count)
        case .union(let a, let b), .intersection(let a, let b), .difference(let a, let b):
            hasher.combine(a)
            hasher.combine(b)
        case .subquery(let collection, let name, let node):
            hasher.combine(collection)
            hasher.combine(name)
            hasher.combine(node)
        case .conditional(let node, let a, let b):
            hasher.combine(node)
            hasher.combine(a)
            hasher.combine(b)
        case .assignment(let name, let value):
            hasher.combine(name)
            hasher.combine(value)
        case .fetch(let request, _, let countOnly):
            hasher.combine(request)
            hasher.combine(countOnly)
        case .block(let block): hasher.combine(block.identity)
        }
    }
}

extension Constant: Hashable {
    package static func == (a: Constant, b: Constant) -> Bool {
        switch (a, b) {
        case (.value(.decimal), .value(.double)), (.value(.double), .value(.decimal)):
            OperandComparison.equal(Operand(a), Operand(b))
        case (.value(let a), .value(let b)): a == b
        case (.object(let a), .object(let b)): a === b || a.isSamePredicateObject(as: b)
        case (.key(let a), .key(let b)): a == b
        case (.collection(let a, let aOrdered), .collection(let b, let bOrdered)):
            aOrdered == bOrdered && (aOrdered ? a == b : Set(a) == Set(b) && a.count == b.count)
        case (.dictionary(let a), .dictionary(let b)):
            a.count == b.count
                && a.allSatisfy { entry in b.contains { entry.key == $0.key && entry.value == $0.value } }
        case (.symbol(let a), .symbol(let b)): a == b
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        // A double and a decimal may be equal, and have no common hash that is cheap to compute.
        case .value(.double), .value(.decimal): hasher.combine(1)
        case .value(let value): hasher.combine(value)
        case .object(let object): hasher.combine(object.predicateHash)
        case .key(let key): hasher.combine(key)
        case .collection(let members, _): hasher.combine(members.count)
        case .dictionary(let entries): hasher.combine(entries.count)
        case .symbol(let name): hasher.combine(name)
        }
    }
}
