import CoreDataModel
import Foundation
import Synchronization

/// The runtimes of a model's entities, by ordinal.
final class ModelRuntime: Sendable {
    let model: CompiledModel
    let entities: EntityRuntimes
    /// The entities that claim a class, as far as they were looked up.
    private let claims = Mutex<[ObjectIdentifier: [EntityRuntime]]>([:])
    /// Where relationships without inverse lead, once that has been asked.
    private let oneWayDestinations = Mutex<Set<Int>?>(nil)

    init(_ model: NSManagedObjectModel) throws {
        let compiled = try model.freeze()
        self.model = compiled
        entities = EntityRuntimes(compiled, of: model)
    }

    func entity(named name: String) -> EntityRuntime? {
        model.ordinalByName[name].map { entities[$0] }
    }

    /// The runtime of one of the model's descriptions, `nil` for another model's.
    func runtime(of entity: NSEntityDescription) -> EntityRuntime? {
        entities.describes(entity) ? entities[entity.ordinal] : nil
    }

    /// Returns whether a relationship without an inverse refers to this entity itself, not to an ancestor of it.
    func hasOneWayRelationship(to entity: Int) -> Bool {
        oneWayDestinations.withLock { known in
            let destinations =
                known
                ?? Set(
                    model.entities.lazy.flatMap(\.properties).compactMap(\.relationship).filter {
                        $0.inverseSlot == nil
                    }
                    .map(\.destination))
            known = destinations
            return destinations.contains(entity)
        }
    }

    /// The entities that name the class.
    func entities(ofClass type: NSManagedObject.Type) -> [EntityRuntime] {
        claims.withLock { claims in
            if let known = claims[ObjectIdentifier(type)] { return known }
            let names = ManagedObjectClasses.names(of: type)
            var claiming = model.entities.filter { entity in
                guard let name = entity.className else { return false }
                return names.contains(name.hasPrefix(".") ? String(name.dropFirst()) : name)
            }.map { entities[$0.ordinal] }
            // A model may name the module that the class has elsewhere.
            if claiming.isEmpty, type != NSManagedObject.self { claiming = entities.filter { $0.objectClass == type } }
            claims[ObjectIdentifier(type)] = claiming
            return claiming
        }
    }
}
