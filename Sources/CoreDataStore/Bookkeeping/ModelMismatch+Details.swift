import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

extension ModelMismatch {
    /// Adds the differences of the changed entities, as far as the store's cached model shows them.
    mutating func explain(with model: CompiledModel, storedIn database: any SQLDatabase) {
        guard let document = try? database.read({ try ModelCache.document(in: $0, path: nil) }),
            let stored = try? ModelCompiler.compile(document)
        else { return }
        details = changed.flatMap { name -> [String] in
            guard let old = stored.entity(named: name), let new = model.entity(named: name) else { return [] }
            return Self.differences(old, of: stored, new, of: model)
        }
    }

    /// Returns one sentence per difference; only for parts of the version hash.
    static func differences(
        _ old: CompiledEntity, of oldModel: CompiledModel, _ new: CompiledEntity, of newModel: CompiledModel
    ) -> [String] {
        var found: [String] = []
        let oldParent = old.parent.map { oldModel.entities[$0].name }
        let newParent = new.parent.map { newModel.entities[$0].name }
        if oldParent != newParent {
            found.append("\(new.name): the parent was \(oldParent ?? "none"), is \(newParent ?? "none")")
        }
        if old.isAbstract != new.isAbstract {
            found.append(
                "\(new.name): was \(old.isAbstract ? "" : "not ")abstract, is \(new.isAbstract ? "" : "not ")now")
        }
        if Set(old.constraintNames) != Set(new.constraintNames) {
            found.append("\(new.name): the uniqueness constraints differ")
        }
        let names = Set(old.properties.map(\.name)).union(new.properties.map(\.name)).sorted(by: NameOrder.byCodeUnits)
        for name in names {
            let was = old.storedProperty(named: name)
            let now = new.storedProperty(named: name)
            switch (was, now) {
            case (nil, .some): found.append("\(new.name).\(name) is only in the model")
            case (.some, nil): found.append("\(new.name).\(name) is only in the store")
            case (let was?, let now?):
                let a = traits(was, oldModel)
                let b = traits(now, newModel)
                for (a, b) in zip(a, b) where a.value != b.value {
                    found.append("\(new.name).\(name): \(a.name) was \(a.value), is \(b.value)")
                }
            case (nil, nil): break
            }
        }
        return found
    }

    /// Returns the inputs of a property's version hash, always the same number of values.
    private static func traits(
        _ property: CompiledProperty, _ model: CompiledModel
    ) -> [(name: String, value: String)] {
        let attribute = property.attribute
        let relationship = property.relationship
        func yesNo(_ value: Bool) -> String { value ? "yes" : "no" }
        return [
            ("kind", attribute != nil ? "attribute" : "relationship"),
            ("optional", yesNo(property.isOptional)),
            ("type", attribute.map { "\($0.type)" } ?? ""),
            ("external storage", yesNo(attribute?.allowsExternalBinaryDataStorage ?? false)),
            ("preserved after deletion", yesNo(attribute?.preservesValueInHistoryOnDeletion ?? false)),
            ("derivation", attribute?.derivationExpression.map(DerivationText.written) ?? "none"),
            ("destination", relationship.map { model.entities[$0.destination].name } ?? ""),
            ("inverse", relationship.flatMap { model.inverse(of: $0)?.name } ?? "none"),
            ("minimum count", String(relationship?.minCount ?? 0)),
            ("maximum count", String(relationship?.maxCount ?? 0)),
            ("ordered", yesNo(relationship?.isOrdered ?? false)),
        ]
    }
}

extension CompiledEntity {
    /// Returns the entity's own property, if the version hash includes it. An inherited one is reported at its
    /// declaration.
    fileprivate func storedProperty(named name: String) -> CompiledProperty? {
        guard let property = property(named: name), property.declaringEntity == ordinal, !property.isTransient,
            property.attribute != nil || property.relationship != nil
        else { return nil }
        return property
    }

    fileprivate var constraintNames: [[String]] { uniquenessConstraints.map { $0.map { properties[$0].name } } }
}
