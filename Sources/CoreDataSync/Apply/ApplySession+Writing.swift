import CoreData
import CoreDataSyncEngine
import Foundation

// Setting what the plan says in the context's objects.
extension ApplySession {
    func write() throws {
        try createObjects()
        for index in plan.objects.indices {
            switch plan.objects[index].action {
            case .create: if try !writeNew(index) { try change(index, writeValues) }
            case .update: try change(index, writeValues)
            case .announce:
                try change(index) {
                    announce(&$0)
                    try writeValues(&$0)
                }
            case .delete, .none: break
            }
        }
        for index in plan.objects.indices
        where !plan.objects[index].changedEdges.isEmpty
            || plan.objects[index].key == 0 && !plan.objects[index].state.edges.isEmpty
        {
            switch plan.objects[index].action {
            case .create, .update, .announce, .none: try change(index, writeEdges)
            case .delete: break
            }
        }
        // After the others: a relationship that denies the deletion may be empty by now.
        context.processPendingChanges()
        try deleteObjects()
        try journalCascade()
        try makeOrders()
    }

    /// Changes a planned object by a method that reads the plan.
    func change(_ index: Int, _ body: (inout PlannedObject) throws -> Void) rethrows {
        var object = plan.objects[index]
        try body(&object)
        plan.replace(index, by: object)
    }

    // MARK: New objects

    /// Creates all new objects before values are set, so that they can refer to each other.
    private func createObjects() throws {
        let missing = objectsThatWait()
        if !missing.isEmpty {
            for object in plan.objects {
                guard let target = missing[object.id] else { continue }
                waiting.append(
                    ParkedState(state: object.state, waitsFor: target, reason: "waits for its required object"))
            }
            plan.remove(Set(missing.keys))
        }
        let entities = applier.coordinator.managedObjectModel.entitiesByName
        // Objects of one entity come one after another.
        var last: (rule: SyncEntity, entity: NSEntityDescription)?
        // The only store of a coordinator gets them in any case.
        let assigns = applier.coordinator.persistentStores.count != 1
        for index in plan.objects.indices where plan.objects[index].action == .create {
            let (id, rule) = (plan.objects[index].id, plan.objects[index].entity)
            guard let entity = last?.rule === rule ? last?.entity : entities[rule.name] else { continue }
            if last?.rule !== rule { last = (rule, entity) }
            if let key = plan.objects[index].replaced, let old = objects[id] {
                let object = plan.objects[index]
                if object.wasEditedHere, let former = object.former, let entity = rules[old.entity.name ?? ""] {
                    try journalDeletion(object.id, entity, former, old)
                }
                intended.deleted.insert(ObjectKey(root: object.entity.root, key: key))
                context.delete(old)
            }
            let new = NSManagedObject(entity: entity, insertInto: context)
            if assigns { try context.assign(new, toSynchronised: applier.store) }
            objects[id] = new
            created[ObjectIdentifier(new)] = id
        }
    }

    private func description(of entity: SyncEntity) -> NSEntityDescription? {
        applier.coordinator.managedObjectModel.entitiesByName[entity.name]
    }

    /// New objects with a required reference to an object that is not here, and those that refer to such ones.
    private func objectsThatWait() -> [GlobalID: GlobalID] {
        let mayWait = plan.objects.indices.contains { index in
            let entity = plan.objects[index].entity
            return (entity.requiresReferences || !entity.pairs.isEmpty) && plan.objects[index].action == .create
        }
        if !mayWait { return [:] }
        let new = plan.objects.filter { $0.action == .create }
        var creating = Set(new.map(\.id))
        var result: [GlobalID: GlobalID] = [:]
        var isDone = new.isEmpty
        while !isDone {
            isDone = true
            for object in new where creating.contains(object.id) {
                guard let missing = missingRequirement(of: object, creating) else { continue }
                result[object.id] = missing
                creating.remove(object.id)
                isDone = false
            }
        }
        return result
    }

    private func missingRequirement(of object: PlannedObject, _ creating: Set<GlobalID>) -> GlobalID? {
        for property in object.entity.values {
            guard case .toOne(_, true, let inverse) = property.kind,
                case .last(_, .reference(let target))? = object.state.properties[property.name]
            else { continue }
            let id = representative(of: target)
            if !creating.contains(id), member(id, by: inverse) == nil {
                return target
            }
        }
        for pair in object.entity.pairs {
            guard let relationship = description(of: object.entity)?.relationshipsByName[pair.name],
                relationship.minCount > 0 || !relationship.isOptional
            else { continue }
            for (edge, state) in object.state.edges where edge.relationship == pair.name && state.isPresent {
                let id = representative(of: edge.destination)
                if !creating.contains(id), objects[id] == nil, !isGone(id) { return edge.destination }
            }
        }
        return nil
    }

    func representative(of id: GlobalID) -> GlobalID { groups.representative(of: id, entries) }

    // MARK: Values

    /// Sets the values of a new object of which nothing is unusual, without a copy of it.
    ///
    /// - Returns: whether that was so; else ``writeValues(_:)`` sets all of them.
    private func writeNew(_ index: Int) throws -> Bool {
        let entity = plan.objects[index].entity
        guard plan.objects[index].state.deleted == nil, plan.objects[index].replaced == nil,
            plan.objects[index].former == nil, plan.objects[index].waiting.isEmpty,
            plan.objects[index].state.hasAllValues(of: entity), let object = objects[plan.objects[index].id]
        else { return false }
        let properties = plan.objects[index].state.properties
        let values = try values(for: entity)
        for (number, property) in properties.values.enumerated() {
            guard case .last(_, let value) = property else { return false }
            switch value {
            case .stored, .blob: return false
            case .reference(let target):
                let (inverse, side) = (values.inverseName(of: number), values.inverse(of: number))
                guard side != .toOne, side != .ordered,
                    let destination = member(representative(of: target), by: inverse)
                else { return false }
                try values.set(destination, number, of: object)
            case .null where values.isToOne(number):
                if values.destinationObject(number, of: object) != nil { return false }
            default:
                do { try values.set(value, number, of: object) } catch is CocoaError { return false }
            }
        }
        return true
    }

    func writeValues(_ planned: inout PlannedObject) throws {
        guard let object = objects[planned.id] else { return }
        let isNew = planned.key == 0
        if planned.replaced == nil, let former = planned.former { try journalRebirth(planned, former, object) }
        let key = isNew ? nil : ObjectKey(root: planned.entity.root, key: planned.key)
        let values = try values(for: planned.entity)
        for (number, property) in planned.entity.values.enumerated()
        where isNew || planned.changed.contains(property.name) {
            let state = counted(property.name, of: planned)
            switch property.kind {
            case .attribute:
                if case .blob? = state?.value {
                    wait(&planned, property.name, for: nil, ApplyPlanner.Reason.blob)
                    break
                }
                if let key { intended.insertUpdate(key, property.modelName) }
                if state == nil, isNew || planned.former != nil {
                    // The writer's model did not have it, or it comes later: a new object keeps its default.
                    if planned.state.properties[property.name] == nil || planned.waiting.contains(property.name) {
                        if !isNew { reset(property, of: object) }
                        break
                    }
                }
                let value = value(of: state, property, planned.entity)
                // The store has it already.
                if value == .stored, !isNew { break }
                // A value that only the store had, of an object that the store no longer has.
                try set(value == .stored ? .null : value, number, values, of: object, &planned)
            case .toOne(_, let isRequired, let inverse):
                if case .stored? = state?.value { break }
                try writeToOne(state, number, values, isRequired, inverse, of: object, &planned)
            case .ordering(_, let relationship, let toOne):
                if let owner = object.value(forKey: toOne) as? NSManagedObject {
                    unordered.insert(OrderedList(owner: owner, relationship: relationship))
                }
            case .pairs, .notExchanged: break
            }
        }
    }

    /// Gives a property the value of a new object.
    private func reset(_ property: SyncProperty, of object: NSManagedObject) {
        guard let attribute = object.entity.attributesByName[property.modelName] else { return }
        object.setValue(attribute.defaultValue, forKey: property.modelName)
    }

    /// The state of a property without what is from before the object's last deletion.
    func counted(_ name: String, of planned: PlannedObject) -> PropertyState? {
        planned.state.properties[name]?.counted(after: planned.state.floor(planned.entity.deletionRule))
    }

    /// The value that a state means; of a counter its sum.
    func value(of state: PropertyState?, _ property: SyncProperty, _ entity: SyncEntity) -> SyncValue {
        guard let state else { return .null }
        if case .elements(let elements, let set) = state, case .attribute(let kind, _) = property.kind {
            return ElementValues(
                entity: entity.name, property: property.name, kind: kind, elements: elements,
                merge: applier.options.merge
            ).value(of: set)
        }
        if case .counter(let parts) = state, case .attribute(let kind, _) = property.kind {
            return SyncNumber.total(parts, kind) ?? .null
        }
        return state.value ?? .null
    }

    /// Sets an attribute. A value that the attribute cannot hold is parked: a device with another model sent it.
    private func set(
        _ value: SyncValue, _ number: Int, _ values: StoredValues, of object: NSManagedObject,
        _ planned: inout PlannedObject
    ) throws {
        do { try values.set(value, number, of: object) } catch let error as CocoaError {
            let name = values.entity.values[number].name
            guard planned.state.properties[name] != nil else { throw error }
            wait(&planned, name, for: nil, error.localizedDescription)
        }
    }

    /// What the entry knew before of an object that has a row.
    func stored(_ id: GlobalID) -> ObjectState? { entries[id].flatMap { $0.key == 0 ? nil : $0.state } }

    /// The property waits; until it is applied the entry keeps what it knew before.
    func wait(_ planned: inout PlannedObject, _ name: String, for target: GlobalID?, _ reason: String) {
        var part = ObjectState(id: planned.id, entity: planned.state.entity)
        part.properties[name] = planned.state.properties[name]
        waiting.append(ParkedState(state: part, waitsFor: target, reason: reason))
        planned.waiting.insert(name)
        planned.state.properties[name] = stored(planned.id)?.properties[name]
    }
}
