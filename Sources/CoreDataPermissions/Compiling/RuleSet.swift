import CoreDataModel
import CoreDataPredicate

/// One rule, parsed: one of its clauses must allow.
struct Rule {
    enum Clause {
        case nobody
        case anyone
        case signedIn
        case administrator
        case owner
        case group
        case role(String)
        case predicate(PredicateNode)
    }

    var text: String
    var clauses: [Clause]

    /// The rule of an entity that has none.
    static let closed = "nobody"

    /// Whether everybody is allowed.
    var isOpen: Bool {
        clauses.contains { if case .anyone = $0 { true } else { false } }
    }
}

/// The rules of a model, by ordinal and slot: parsed, checked, inherited.
final class RuleSet: @unchecked Sendable {
    // Safe because it is immutable, and its predicates contain no code.

    struct Entity {
        /// The path of the account that owns an object.
        var owner: [String]?
        /// The path of an object's group.
        var group: [String]?
        var rules: [AccessVerb: Rule] = [:]
        /// The rules of properties, by slot.
        var properties: [Int: [AccessVerb: Rule]] = [:]
    }

    let model: CompiledModel
    let entities: [Entity]

    init(model: CompiledModel, entities: [Entity]) {
        self.model = model
        self.entities = entities
    }

    /// The text of a rule, for messages.
    func text(_ verb: AccessVerb, _ entity: Int) -> String { entities[entity].rules[verb]?.text ?? Rule.closed }

    func text(_ verb: AccessVerb, slot: Int, of entity: Int) -> String {
        entities[entity].properties[slot]?[verb]?.text ?? text(verb, entity)
    }
}
