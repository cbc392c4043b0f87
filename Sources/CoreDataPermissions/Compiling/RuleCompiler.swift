import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Turns rules into predicates for one accessor: a pure function.
///
///     allow.group = list.household; allow.read = group, list.isPublic == YES
///     // list.household IN {9F8E…} OR list.isPublic == YES
struct RuleCompiler {
    private let ruleSet: RuleSet
    private let accessor: Accessor

    init(_ ruleSet: RuleSet, _ accessor: Accessor) {
        self.ruleSet = ruleSet
        self.accessor = accessor
    }

    /// Returns the condition under which the accessor may do that with an object of exactly this entity.
    func predicate(_ verb: AccessVerb, _ entity: Int) -> PredicateNode {
        ruleSet.entities[entity].rules[verb].map { predicate($0, entity) } ?? .constant(false)
    }

    /// Returns the condition for a property: its own rule and its entity's.
    func predicate(_ verb: AccessVerb, slot: Int, of entity: Int) -> PredicateNode {
        let whole = predicate(verb, entity)
        guard let own = ownPredicate(verb, slot: slot, of: entity) else { return whole }
        let isToMany = ruleSet.model.entities[entity].properties[slot].relationship?.isToMany ?? false
        return verb == .update && isToMany ? own : Self.and([whole, own])
    }

    /// Returns the condition of the property's own rule; `nil` if it has none.
    func ownPredicate(_ verb: AccessVerb, slot: Int, of entity: Int) -> PredicateNode? {
        ruleSet.entities[entity].properties[slot]?[verb].map { predicate($0, entity) }
    }

    /// Returns the conditions of reading.
    func security() -> RowSecurity {
        let ordinals = ruleSet.model.entities.indices
        return RowSecurity(
            ruleSet.model, rows: ordinals.map { Self.condition(predicate(.read, $0)) },
            properties: ordinals.map { entity in
                ruleSet.entities[entity].properties.compactMapValues { rules in
                    rules[.read].flatMap { Self.condition(predicate($0, entity)) }
                }
            })
    }

    /// Returns the predicate; `nil` if it is always true.
    static func condition(_ node: PredicateNode) -> PredicateNode? {
        if case .constant(true) = node { nil } else { node }
    }

    static func and(_ nodes: [PredicateNode]) -> PredicateNode {
        var left: [PredicateNode] = []
        for node in nodes {
            if case .constant(let value) = node {
                if !value { return .constant(false) }
            } else if !left.contains(node) {
                left.append(node)
            }
        }
        return left.isEmpty ? .constant(true) : left.count == 1 ? left[0] : .and(left)
    }

    static func or(_ nodes: [PredicateNode]) -> PredicateNode {
        var left: [PredicateNode] = []
        for node in nodes {
            if case .constant(let value) = node {
                if value { return .constant(true) }
            } else if !left.contains(node) {
                left.append(node)
            }
        }
        return left.isEmpty ? .constant(false) : left.count == 1 ? left[0] : .or(left)
    }

    // MARK: Clauses

    private func predicate(_ rule: Rule, _ entity: Int) -> PredicateNode {
        Self.or(rule.clauses.map { predicate($0, ruleSet.entities[entity]) })
    }

    private func predicate(_ clause: Rule.Clause, _ own: RuleSet.Entity) -> PredicateNode {
        switch clause {
        case .nobody: return .constant(false)
        case .anyone: return .constant(true)
        case .signedIn: return .constant(accessor.account != nil)
        case .administrator: return .constant(accessor.account != nil && accessor.isAdministrator)
        case .owner:
            guard let path = own.owner, let account = accessor.account else { return .constant(false) }
            return .comparison(
                .init(.keyPath(operand: .evaluatedObject, path), .equalTo, .constant(.value(.uuid(account)))))
        case .group: return isIn(accessor.groups(), own.group)
        case .role(let role): return isIn(accessor.groups(role: role), own.group)
        case .predicate(let node): return predicate(node, own.group)
        }
    }

    private func isIn(_ groups: [UUID], _ path: [String]?) -> PredicateNode {
        guard let path, !groups.isEmpty else { return .constant(false) }
        return .comparison(.init(.keyPath(operand: .evaluatedObject, path), .in, .constant(Self.list(groups))))
    }

    private static func list(_ groups: [UUID]) -> Constant {
        .collection(groups.map { .value(.uuid($0)) }, isOrdered: true)
    }

    // MARK: Variables

    private func predicate(_ node: PredicateNode, _ group: [String]?) -> PredicateNode {
        let names = node.freeVariables
        guard !names.isEmpty else { return node.foldedConstant }
        guard let account = accessor.account else { return .constant(false) }
        let known = node.substitutingVariables([
            "user": .constant(.value(.uuid(account))), "groups": .constant(Self.list(accessor.groups())),
        ])
        return names.contains("role") ? forEachRole(known, group) : known
    }

    /// Replaces each comparison that names `$role` by one for each role of the accessor, in the groups where it has it.
    private func forEachRole(_ node: PredicateNode, _ group: [String]?) -> PredicateNode {
        switch node {
        case .constant, .block: return node
        case .and(let parts): return Self.and(parts.map { forEachRole($0, group) })
        case .or(let parts): return Self.or(parts.map { forEachRole($0, group) })
        case .not(let part):
            let inner = forEachRole(part, group)
            if case .constant(let value) = inner { return .constant(!value) }
            return .not(inner)
        case .comparison:
            guard node.freeVariables.contains("role") else { return node }
            func with(_ role: Value) -> PredicateNode {
                node.substitutingVariables(["role": .constant(.value(role))]).evaluatedConstant
            }
            let inside = accessor.roles.map { Self.and([isIn(accessor.groups(role: $0), group), with(.string($0))]) }
            // In other groups, and without a group, there is no role.
            let member = isIn(accessor.groups(), group)
            let outside: PredicateNode =
                if case .constant(let value) = member { .constant(!value) } else { .not(member) }
            return Self.or(inside + [Self.and([outside, with(.null)])])
        }
    }
}

extension PredicateNode {
    /// The value of a comparison of constants, such as `'editor' == 'editor'`.
    fileprivate var evaluatedConstant: PredicateNode {
        var isConstant = true
        forEachExpression { part in
            switch part {
            case .constant, .aggregate: break
            default: isConstant = false
            }
        }
        guard isConstant, let value = try? PredicateEvaluator(self).evaluate(.null) else { return self }
        return .constant(value)
    }

    /// `TRUEPREDICATE` and `FALSEPREDICATE`, however they are written.
    fileprivate var foldedConstant: PredicateNode {
        switch self {
        case .and(let parts): RuleCompiler.and(parts.map(\.foldedConstant))
        case .or(let parts): RuleCompiler.or(parts.map(\.foldedConstant))
        case .constant, .comparison, .not, .block: self
        }
    }
}
