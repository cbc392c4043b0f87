import Foundation

/// Keeps the other sides of relationships in step among models that no context has.
///
/// In a context the engine does that. A value that a model is initialised with is not followed before the model is
/// inserted: an initialiser does not know the model yet.
enum PendingInverses {
    /// The models in the value of a relationship.
    static func models(in value: Any?) -> [any PersistentModel] {
        switch value {
        case nil: []
        case let model as any PersistentModel: [model]
        case let collection as any RelationshipCollection: models(of: collection)
        default: []
        }
    }

    private static func models<Collection: RelationshipCollection>(of value: Collection) -> [any PersistentModel] {
        value._models ?? []
    }

    /// Sets the other sides after a relationship was set.
    static func follow(
        _ name: String, of model: any PersistentModel, from former: Any?, to targets: [any PersistentModel]
    ) {
        guard let property = ModelLayout.of(type(of: model)).property(named: name), let inverse = property.inverse
        else {
            return
        }
        for old in models(in: former) where !targets.contains(where: { $0 === old }) {
            side(inverse, of: old)?.remove(model)
        }
        for target in targets where target.modelContext == nil { side(inverse, of: target)?.add(model) }
    }

    private static func side(_ name: String, of model: any PersistentModel) -> (any InverseSide)? {
        var layout: ModelLayout? = ModelLayout.of(type(of: model))
        while let level = layout {
            if let property = level.properties.first(where: { $0.name == name }) {
                return property.destination.flatMap { side(model, as: level.type, property, leadingTo: $0) }
            }
            layout = level.superclass
        }
        return nil
    }

    private static func side<Owner: PersistentModel, Target: PersistentModel>(
        _ model: any PersistentModel, as type: Owner.Type, _ property: ModelProperty, leadingTo target: Target.Type
    ) -> (any InverseSide)? {
        (model as? Owner).map { Side<Owner, Target>(owner: $0, keyPath: property.keyPath) }
    }

    /// One relationship of a model.
    private protocol InverseSide {
        func add(_ model: any PersistentModel)
        func remove(_ model: any PersistentModel)
    }

    private struct Side<Owner: PersistentModel, Target: PersistentModel>: InverseSide {
        let owner: Owner
        let keyPath: AnyKeyPath

        func add(_ model: any PersistentModel) {
            guard let target = model as? Target else { return }
            if let toOne = keyPath as? ReferenceWritableKeyPath<Owner, Target?> {
                if owner[keyPath: toOne] !== target { owner[keyPath: toOne] = target }
            } else if let toMany = keyPath as? ReferenceWritableKeyPath<Owner, [Target]> {
                if !owner[keyPath: toMany].contains(where: { $0 === target }) { owner[keyPath: toMany].append(target) }
            } else if let toMany = keyPath as? ReferenceWritableKeyPath<Owner, [Target]?> {
                let members = owner[keyPath: toMany] ?? []
                if !members.contains(where: { $0 === target }) { owner[keyPath: toMany] = members + [target] }
            } else if let toOne = keyPath as? ReferenceWritableKeyPath<Owner, Target> {
                if owner[keyPath: toOne] !== target { owner[keyPath: toOne] = target }
            }
        }

        func remove(_ model: any PersistentModel) {
            if let toOne = keyPath as? ReferenceWritableKeyPath<Owner, Target?> {
                if owner[keyPath: toOne] === model { owner[keyPath: toOne] = nil }
            } else if let toMany = keyPath as? ReferenceWritableKeyPath<Owner, [Target]> {
                if owner[keyPath: toMany].contains(where: { $0 === model }) {
                    owner[keyPath: toMany].removeAll { $0 === model }
                }
            } else if let toMany = keyPath as? ReferenceWritableKeyPath<Owner, [Target]?> {
                if owner[keyPath: toMany]?.contains(where: { $0 === model }) == true {
                    owner[keyPath: toMany]?.removeAll { $0 === model }
                }
            }
        }
    }
}
