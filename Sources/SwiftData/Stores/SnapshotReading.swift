import CoreData
import Foundation

/// Makes snapshots of models.
enum SnapshotReading {
    static func snapshot(of backingData: some BackingData) -> DefaultSnapshot {
        if let object = backingData._object, let context = backingData._context {
            let type = context.plan(of: object).type
            return snapshot(of: object, ModelLayout.of(type), PersistentIdentifier(object.permanentID))
        }
        return read(backingData)
    }

    /// By the object, which any level of the model's class has.
    static func snapshot(
        of object: NSManagedObject, _ layout: ModelLayout, _ identifier: PersistentIdentifier
    ) -> DefaultSnapshot {
        var contents: [String: DefaultSnapshot.Content] = [:]
        for property in layout.allProperties {
            let value = object.value(forKey: property.name)
            switch property.form {
            case .attribute(let form):
                guard let value, let decoded = try? form.decode(value) else { continue }
                contents[property.name] = .attribute(decoded)
            case .toOne:
                guard let target = value as? NSManagedObject else { continue }
                contents[property.name] = .toOne(PersistentIdentifier(target.objectID))
            case .toMany:
                contents[property.name] = .toMany(members(value).map { PersistentIdentifier($0.objectID) })
            }
        }
        return DefaultSnapshot(identifier, contents)
    }

    /// In the order of their identifiers, so that a store writes the same each time.
    private static func members(_ value: Any?) -> [NSManagedObject] {
        let found: [NSManagedObject]
        switch value {
        case let set as Set<NSManagedObject>: found = Array(set)
        case let set as NSSet: found = set.allObjects.compactMap { $0 as? NSManagedObject }
        case let set as NSOrderedSet: return set.array.compactMap { $0 as? NSManagedObject }
        default: found = []
        }
        return found.map { ($0, PersistentIdentifier($0.objectID)) }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    // MARK: By key path

    /// Of a model that no context has, or of backing data of an app's own.
    private static func read<B: BackingData>(_ backingData: B) -> DefaultSnapshot {
        let layout = ModelLayout.of(B.Model.self)
        var contents: [String: DefaultSnapshot.Content] = [:]
        for property in layout.allProperties {
            contents[property.name] = content(property, backingData)
        }
        let identifier =
            backingData.persistentModelID
            ?? PersistentIdentifier(
                pending: backingData._pending?.token ?? PendingToken(), entityName: layout.entityName)
        return DefaultSnapshot(identifier, contents)
    }

    private static func content<B: BackingData>(
        _ property: ModelProperty, _ backingData: B
    ) -> DefaultSnapshot.Content? {
        if let pending = backingData._pending {
            guard let value = pending.value(property).flatMap(unwrapped) else { return nil }
            return content(of: value, property)
        }
        switch property.form {
        case .attribute:
            guard let type = property.valueType as? any Decodable.Type else { return nil }
            return attribute(type, property, backingData).flatMap(unwrapped).map { .attribute($0) }
        case .toOne(let type, let isOptional):
            return toOne(type, isOptional, property, backingData).map { .toOne($0.persistentModelID) }
        case .toMany:
            guard let type = property.valueType as? any RelationshipCollection.Type else { return nil }
            return toMany(type, property, backingData)
        }
    }

    private static func content(of value: Any, _ property: ModelProperty) -> DefaultSnapshot.Content? {
        switch property.form {
        case .attribute: .attribute(value)
        case .toOne: (value as? any PersistentModel).map { .toOne($0.persistentModelID) }
        case .toMany: (value as? [any PersistentModel]).map { .toMany($0.map { $0.persistentModelID }) }
        }
    }

    private static func attribute<B: BackingData, Value: Decodable>(
        _ type: Value.Type, _ property: ModelProperty, _ backingData: B
    ) -> Any? {
        (property.keyPath as? KeyPath<B.Model, Value>).map { backingData.getValue(forKey: $0) }
    }

    private static func toOne<B: BackingData, Value: PersistentModel>(
        _ type: Value.Type, _ isOptional: Bool, _ property: ModelProperty, _ backingData: B
    ) -> (any PersistentModel)? {
        if isOptional {
            return (property.keyPath as? KeyPath<B.Model, Value?>).flatMap { backingData.getValue(forKey: $0) }
        }
        return (property.keyPath as? KeyPath<B.Model, Value>).map { backingData.getValue(forKey: $0) }
    }

    private static func toMany<B: BackingData, Value: RelationshipCollection>(
        _ type: Value.Type, _ property: ModelProperty, _ backingData: B
    ) -> DefaultSnapshot.Content? {
        guard let keyPath = property.keyPath as? KeyPath<B.Model, Value> else { return nil }
        return backingData.getValue(forKey: keyPath)._models.map { .toMany($0.map(\.persistentModelID)) }
    }

    /// The value itself, of one that is optional; nil for nil.
    private static func unwrapped(_ value: Any) -> Any? {
        guard let optional = value as? any OptionalType else { return value }
        return optional.wrapped.flatMap(unwrapped)
    }
}
