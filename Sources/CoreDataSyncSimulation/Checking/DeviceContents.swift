import CoreData
import CoreDataSync
import CoreDataSyncEngine
import Foundation

/// Everything that one device's store has, by IDs that are the same on all devices.
struct DeviceContents {
    /// Each object as text.
    private(set) var objects: [String: String] = [:]
    /// The values of objects by their numbers; the last one of several with a number.
    private(set) var state = FinalState(objects: [:])
    /// What no device may have: objects that validation refuses, objects without a number, numbers that several objects
    /// have.
    private(set) var mistakes: [String] = []
    private var ids: [ObjectKey: String] = [:]

    init(_ device: SimulatedDevice) throws {
        guard let sidecar = device.sidecar, let rules = device.rules, let coordinator = device.coordinator else {
            return
        }
        try sidecar.forEachEntry { entries in
            for entry in entries where entry.key != 0 {
                // An object with several IDs is named by the smallest one.
                let id = ([entry.id] + entry.state.aliases).min()?.description ?? ""
                ids[ObjectKey(root: entry.root, key: entry.key)] = id
            }
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for entity in rules.exchanged {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
                request.includesSubentities = false
                request.returnsObjectsAsFaults = false
                for object in try context.fetch(request) { try add(object, entity, rules, device.model) }
            }
            context.reset()
        }
    }

    private mutating func add(
        _ object: NSManagedObject, _ entity: SyncEntity, _ rules: SyncRules, _ model: SimulatedModel
    ) throws {
        let name = id(object, rules)
        objects[name] = text(object, entity, rules, model)
        guard let number = object.value(forKey: "number") as? Int else {
            mistakes.append("An object of entity \(entity.name) has no number.")
            return
        }
        var values: [String: Int] = [:]
        for attribute in model.attributes(of: entity.name) where object.entity.attributesByName[attribute.name] != nil {
            values[attribute.name] = attribute.kind.number(of: object.value(forKey: attribute.name))
        }
        if state.objects[number] != nil { mistakes.append("Two objects have the number \(number).") }
        state.objects[number] = FinalState.Object(entity: entity.name, values: values)
        do { try object.validateForUpdate() } catch {
            mistakes.append("Object \(number) of entity \(entity.name) is invalid: \(error.localizedDescription)")
        }
    }

    private func id(_ object: NSManagedObject, _ rules: SyncRules) -> String {
        let key = object.objectID.key
        guard let root = rules[object.entity.name ?? ""]?.root, let id = ids[ObjectKey(root: root, key: key)] else {
            // A to-one without an inverse keeps the key of an object that was deleted, here as everywhere.
            let isGone = (try? object.managedObjectContext?.existingObject(with: object.objectID)) == nil
            return isGone ? "gone" : "unknown \(object.entity.name ?? "") \(key)"
        }
        return id
    }

    private func text(
        _ object: NSManagedObject, _ entity: SyncEntity, _ rules: SyncRules, _ model: SimulatedModel
    ) -> String {
        var parts = [entity.name]
        for (name, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key }) {
            parts.append("\(name)=\(Self.text(object.value(forKey: attribute.name)))")
        }
        for side in model.sides(of: entity.name).sorted(by: { $0.name < $1.name })
        where object.entity.relationshipsByName[side.name] != nil {
            switch object.value(forKey: side.name) {
            case let list as NSOrderedSet:
                let ids = list.compactMap { ($0 as? NSManagedObject).map { id($0, rules) } }
                parts.append("\(side.name)=[\(ids.joined(separator: ","))]")
            case let set as NSSet:
                let ids = set.compactMap { ($0 as? NSManagedObject).map { id($0, rules) } }
                parts.append("\(side.name)={\(ids.sorted().joined(separator: ","))}")
            case let one as NSManagedObject: parts.append("\(side.name)=\(id(one, rules))")
            default: parts.append("\(side.name)=nil")
            }
        }
        return parts.joined(separator: " ")
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let elements as [String: Any]:
            "{" + elements.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
        case let data as Data: "\(data.count) bytes \(String(decoding: data, as: UTF8.self))"
        case let text as String where text.utf8.count > 100: "\(text.prefix(20)) (\(text.utf8.count))"
        case let value?: "\(value)"
        }
    }

    /// The first objects that two devices do not have alike.
    static func differences(_ a: Self, _ b: Self) -> [String] {
        Set(a.objects.keys).union(b.objects.keys).sorted().compactMap { id in
            let (x, y) = (a.objects[id], b.objects[id])
            return x == y ? nil : "\(id): \(x ?? "nothing") | \(y ?? "nothing")"
        }
    }
}
