import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension NSPredicate {
    /// The predicate's tree, whatever its class: Foundation's compounds are decomposed, code becomes a block.
    package var node: PredicateNode {
        if let stored = self as? any StoredPredicate { return stored.storedNode }
        if let compound = self as? NSCompoundPredicate {
            PredicateMethodOverrides.see(type(of: compound))
            return PredicateNode(compound.compoundPredicateType, compound.subpredicates.map(\.node))
        }
        if let payload = FoundationPredicate.payload(of: self) { return payload.node }
        // A subclass may evaluate as it likes.
        if type(of: self) == NSPredicate.self, let constant = FoundationPredicate.constant(of: self) {
            return PredicateNode(constant, isCopyKnown: PredicateMethodOverrides.isFoundationKnown)
        }
        return .block(
            PredicateBlock(origin: self) { [self] object, variables in
                evaluate(
                    with: OperandBridging.any(from: object),
                    substitutionVariables: variables.isEmpty
                        ? nil : variables.mapValues { OperandBridging.any(from: $0) ?? NSNull() })
            })
    }

    /// Returns the predicate of a tree, in the class that Apple has for it.
    package static func make(node: PredicateNode) -> NSPredicate {
        switch node {
        case .constant(let value): return NSPredicate(value: value)
        case .comparison: return StoredComparisonPredicate.make(PredicatePayload(node))
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
    /// A truth value of Foundation's own class. Where copies of compounds are Foundation's, one that is false may be
    /// such a copy, whatever the original said: it is refused then, and selects nothing by mistake.
    init(_ constant: Bool, isCopyKnown: Bool) {
        guard !constant, !isCopyKnown else {
            self = .constant(constant)
            return
        }
        let refusal = Diagnostic(
            .error,
            "a predicate that is false may be the copy of a compound predicate, which this version of Foundation cannot copy",
            hint:
                "use the compound itself, or a comparison that is always false such as NSPredicate(format: \"0 == 1\")")
        self = .block(PredicateBlock(refusal: PredicateFailure(.unsupported, refusal)))
    }

    init(_ type: NSCompoundPredicate.LogicalType, _ nodes: [PredicateNode]) {
        switch type {
        case .and: self = .and(nodes)
        case .or: self = .or(nodes)
        // Foundation refuses a negation of nothing.
        case .not: self = .not(nodes.first ?? .constant(false))
        }
    }
}

extension PredicateMaking where Self: NSPredicate {
    /// The predicate that a tree stands for.
    init(predicateNode node: PredicateNode) {
        guard let result = PredicateInstance.make(node, of: Self.self) as? Self else {
            preconditionFailure("an instance of \(Self.self) is none")
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

/// The data needed to evaluate a predicate of this module.
final class PredicatePayload {
    let node: PredicateNode
    private let evaluator: Lazy<PredicateEvaluator>
    private let hasFetch: Lazy<Bool>

    init(_ node: PredicateNode) {
        self.node = node
        evaluator = Lazy { PredicateEvaluator(node) }
        hasFetch = Lazy { (try? node.flattened())?.hasFetch ?? false }
    }

    /// Whether the object satisfies the predicate; false, and a report, where Apple raises.
    func evaluate(with object: Any?, _ variables: [String: Any]?) -> Bool {
        var frame = variables.map { EvaluationFrame(variables: $0.mapValues(OperandBridging.operand)) }
        if hasFetch.value {
            frame = frame ?? EvaluationFrame()
            frame?.fetch = FetchExpressions.value
        }
        do {
            return try evaluator.value.evaluate(OperandBridging.operand(from: object), in: frame)
        } catch {
            PredicateReporting.report(error)
            return false
        }
    }
}

/// Makes predicates from trees, for modules above this one.
package enum PredicateTrees {
    package static func predicate(_ node: PredicateNode) -> NSPredicate { NSPredicate(predicateNode: node) }
}
