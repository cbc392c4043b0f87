import CoreDataPredicate
import CoreDataStore

/// The source objects of an entity mapping: those of exactly the entity that match the source expression's predicate.
struct MappingSource {
    let entity: EntityRuntime
    let plan: FetchPlan
    private let store: AttachedStore

    /// So many keys are read at a time.
    private static let keysAtOnce = 1 << 16

    /// - Throws: an error if the source expression is no such fetch, or if the predicate is not readable.
    init(_ mapping: NSEntityMapping, _ entity: EntityRuntime, in store: AttachedStore, of model: ModelRuntime) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.includesSubentities = false
        if let format = try Self.predicate(of: mapping), format != "TRUEPREDICATE" {
            request.predicate = .make(
                node: try CoreDataErrors.converting { try PredicateParser.parse(format: format) })
        }
        self.entity = entity
        self.store = store
        plan = try CoreDataErrors.converting {
            try FetchTranslation(request, in: model, clock: .system).plan(for: store)
        }
    }

    /// Returns the text of the predicate in the mapping's source expression; `nil` if there is none.
    private static func predicate(of mapping: NSEntityMapping) throws -> String? {
        guard let expression = mapping.sourceExpression else { return nil }
        guard case .fetch(let made, _, _) = expression.node,
            case .message(_, "fetchRequestForSourceEntityNamed:predicateString:", let arguments) = made,
            arguments.count == 2, case .constant(.value(.string(let format))) = arguments[1]
        else {
            throw CoreDataErrors.policy(
                "The source expression of the mapping '\(mapping.name ?? "")' cannot be followed: \(expression). It is FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"\(mapping.sourceEntityName ?? "")\", \"…\"), FUNCTION($manager, \"sourceContext\"), NO), or none for all objects."
            )
        }
        return format
    }

    func keys() throws -> KeyRuns {
        var found = KeyRuns()
        var plan = plan
        plan.limit = Self.keysAtOnce
        while true {
            let keys = try CoreDataErrors.converting { try store.source.keys(plan) }
            for key in keys {
                found.append(.init(root: entity.root, entity: key.entity, primaryKey: key.primaryKey))
            }
            if keys.count < Self.keysAtOnce { return found }
            plan.offset += Self.keysAtOnce
        }
    }
}
