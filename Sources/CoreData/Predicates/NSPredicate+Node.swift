import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension NSPredicate {
    /// The predicate's tree, whoever made it: compounds of Foundation's are taken apart, code becomes a block.
    package var node: PredicateNode {
        if let stored = self as? any StoredPredicate { return stored.storedNode }
        if let compound = self as? NSCompoundPredicate {
            return PredicateNode(compound.compoundPredicateType, compound.subpredicates.map(\.node))
        }
        if type(of: self) == NSPredicate.self {
            switch (self as any FormatPrinting).predicateFormat {
            case "TRUEPREDICATE": return .constant(true)
            case "FALSEPREDICATE": return .constant(false)
            default: break
            }
        }
        return .block(
            PredicateBlock(origin: self) { [self] object, variables in
                evaluate(
                    with: OperandBridging.any(from: object),
                    substitutionVariables: variables.mapValues { OperandBridging.any(from: $0) ?? NSNull() })
            })
    }

    /// The predicate that a tree stands for, of the class that Apple has for it.
    package static func make(node: PredicateNode) -> NSPredicate {
        switch node {
        case .constant(let value): return NSPredicate(value: value)
        case .comparison(let comparison): return StoredComparisonPredicate.make(comparison)
        case .and(let nodes): return StoredCompoundPredicate(type: .and, subpredicates: nodes.map(make))
        case .or(let nodes): return StoredCompoundPredicate(type: .or, subpredicates: nodes.map(make))
        case .not(let node): return StoredCompoundPredicate(type: .not, subpredicates: [make(node: node)])
        case .block(let block):
            if let predicate = block.origin as? NSPredicate { return predicate }
            return NSPredicate { object, variables in
                do {
                    return try block.body(
                        OperandBridging.operand(from: object), (variables ?? [:]).mapValues(OperandBridging.operand))
                } catch {
                    PredicateReporting.report(error)
                    return false
                }
            }
        }
    }
}

extension PredicateNode {
    init(_ type: NSCompoundPredicate.LogicalType, _ nodes: [PredicateNode]) {
        switch type {
        case .and: self = .and(nodes)
        case .or: self = .or(nodes)
        // Foundation refuses a negation of nothing.
        case .not: self = .not(nodes.first ?? .constant(false))
        }
    }
}

extension PredicateMaking {
    /// The predicate that a tree stands for.
    init(predicateNode node: PredicateNode) {
        var predicate = NSPredicate.make(node: node)
        if !(predicate is Self) { predicate = StoredCompoundPredicate(type: .and, subpredicates: [predicate]) }
        guard let result = predicate as? Self else {
            preconditionFailure("\"\(node.predicateFormat)\" is not the format of a \(Self.self)")
        }
        self = result
    }
}

extension PredicateMaking where Self: NSPredicate {
    var predicateNode: PredicateNode { node }
}

/// A predicate of ours, which has a tree.
protocol StoredPredicate: NSPredicate {
    var storedNode: PredicateNode { get }
}

/// A way to Foundation's `predicateFormat`, which carries a notice that the format is of no use on this platform.
private protocol FormatPrinting {
    var predicateFormat: String { get }
}

extension NSPredicate: FormatPrinting {}

/// What it takes to evaluate a predicate of ours.
final class PredicatePayload {
    let node: PredicateNode
    private let evaluator: Lazily<PredicateEvaluator>

    init(_ node: PredicateNode) {
        self.node = node
        evaluator = Lazily { PredicateEvaluator(node) }
    }

    /// Whether the object satisfies the predicate; false, and a report, where Apple raises.
    func evaluate(with object: Any?, _ variables: [String: Any]?) -> Bool {
        let frame = variables.map { EvaluationFrame(variables: $0.mapValues(OperandBridging.operand)) }
        do {
            return try evaluator.value.evaluate(OperandBridging.operand(from: object), in: frame)
        } catch {
            PredicateReporting.report(error)
            return false
        }
    }
}
