import Foundation

extension EntityRuntime {
    /// The entity of objects that were made without one.
    static let ofNoModel: EntityRuntime = {
        let entity = NSEntityDescription()
        entity.name = "NoEntity"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        guard let runtime = try? ModelRuntime(model).entity(named: "NoEntity") else {
            preconditionFailure("a model with an empty entity is valid")
        }
        return runtime
    }()

    /// The runtime of an entity of the context's model, or of the entity's own model outside a context.
    static func of(_ entity: NSEntityDescription, in context: NSManagedObjectContext?) -> EntityRuntime {
        if let coordinator = context?.coordinator, let known = coordinator.runtime.runtime(of: entity) { return known }
        let name = entity.name ?? ""
        if let coordinator = context?.coordinator {
            guard let runtime = coordinator.runtime.entity(named: name) else {
                preconditionFailure(
                    "Entity '\(name)' is not in the model of the context's coordinator; it has: "
                        + coordinator.runtime.entities.map(\.name).joined(separator: ", "))
            }
            return runtime
        }
        guard let model = entity.model else {
            preconditionFailure(
                "Entity '\(name)' is in no model, or its model is gone: add it to one, and keep that, before making objects."
            )
        }
        do {
            guard let runtime = try ModelRuntime(model).entity(named: name) else {
                preconditionFailure("Entity '\(name)' is not in its model.")
            }
            return runtime
        } catch {
            preconditionFailure("The model of entity '\(name)' is not valid: \(error.localizedDescription)")
        }
    }
}
