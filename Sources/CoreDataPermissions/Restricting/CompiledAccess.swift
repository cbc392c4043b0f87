import CoreDataModel
import CoreDataPredicate
import CoreDataStore

/// The rules of a model for one accessor: compiled once for a context.
final class CompiledAccess: @unchecked Sendable {
    // Safe because it is immutable, and its predicates contain no code.

    let rules: RuleSet
    let accessor: Accessor
    /// The conditions of reading.
    let security: RowSecurity
    private let verbs: [AccessVerb: [PredicateNode]]
    /// The conditions of updating properties that have a rule for that, by ordinal and slot.
    private let updates: [[Int: PredicateNode]]

    var model: CompiledModel { rules.model }

    init(_ rules: RuleSet, _ accessor: Accessor) {
        self.rules = rules
        self.accessor = accessor
        let compiler = RuleCompiler(rules, accessor)
        security = compiler.security()
        let ordinals = rules.model.entities.indices
        verbs = Dictionary(
            uniqueKeysWithValues: AccessVerb.allCases.map { verb in
                (verb, ordinals.map { compiler.predicate(verb, $0) })
            })
        updates = rules.entities.enumerated().map { entity, own in
            own.properties.compactMapValues { $0[.update] }.keys.reduce(into: [:]) { found, slot in
                found[slot] = compiler.ownPredicate(.update, slot: slot, of: entity)
            }
        }
    }

    /// Returns the condition of the entity's own rule.
    func condition(_ verb: AccessVerb, _ entity: Int) -> PredicateNode {
        verbs[verb]?[entity] ?? .constant(false)
    }

    /// Returns the condition of the property's own rule for updates; `nil` if it has none.
    func updateCondition(slot: Int, of entity: Int) -> PredicateNode? { updates[entity][slot] }

    /// The properties of an entity that have a rule for updates.
    func slotsWithUpdateRules(of entity: Int) -> [Int] { updates[entity].keys.sorted() }

    /// Returns whether rows of exactly this entity are read as they are.
    func isOpen(_ entity: Int) -> Bool { security.readsAllRows(of: entity) && !security.masksRows(of: entity) }

    func denied(
        _ verb: AccessVerb, _ entity: Int, slot: Int? = nil, isNew: Bool = false, reason: String? = nil
    ) -> AccessDenied {
        AccessDenied(
            verb, model.entities[entity].name, property: slot.map { model.entities[entity].properties[$0].name },
            rule: slot.map { rules.text(verb, slot: $0, of: entity) } ?? rules.text(verb, entity), isNew: isNew,
            reason: reason)
    }
}
