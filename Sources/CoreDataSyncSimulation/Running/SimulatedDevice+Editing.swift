import CoreData
import Foundation

// What the user of a device does.
extension SimulatedDevice {
    /// Makes one edit, which stays pending, or one batch request.
    ///
    /// - Parameter entities: the entity of each number.
    func edit(_ step: Step, _ entities: [Int: String], _ ledger: inout Ledger) throws {
        guard let context else { return }
        try context.performAndWait {
            switch step {
            case .insert(_, let entity, let number, let owner): try insert(entity, number, owner, entities)
            case .set(_, let number, let attribute, let value):
                if let object = try self.object(number, entities) { set(object, number, attribute, value) }
            case .relate(_, let number, let relationship, let target):
                try relate(number, relationship, target, entities)
            case .unrelate(_, let number, let relationship, let target):
                guard let object = try self.object(number, entities), let other = try self.object(target, entities),
                    let side = object.entity.relationshipsByName[relationship], side.isToMany
                else { return }
                remove(other, from: object, side)
            case .move(_, let number, let relationship, let from, let to):
                if let object = try self.object(number, entities) { move(object, relationship, from, to) }
            case .delete(_, let number):
                if let object = try self.object(number, entities) { context.delete(object) }
            default: try batch(step, entities, &ledger)
            }
        }
    }

    /// Saves the pending edits; those that the store refuses are rolled back, and the ledger does not count on them.
    func save(_ ledger: inout Ledger) throws {
        guard let context else { return }
        context.performAndWait {
            defer {
                context.reset()
                (pending, found) = ([], [:])
            }
            context.processPendingChanges()
            guard context.hasChanges else { return }
            let deletions = context.deletedObjects.compactMap { deletion(of: $0) }.sorted { $0.object < $1.object }
            let events = remainingEvents()
            do {
                try context.save()
                for event in events { ledger.add(event, of: index, isAttached: isAttached) }
                for deletion in deletions { ledger.add(deletion, of: index, isAttached: isAttached) }
            } catch { context.rollback() }
        }
    }

    /// The pending events without those of objects that no transaction has seen.
    private func remainingEvents() -> [Ledger.Event] {
        let inserted = Set((context?.insertedObjects ?? []).compactMap { $0.value(forKey: "number") as? Int })
        let created = Set(pending.filter { $0.kind == .creation }.map(\.object))
        return pending.filter { inserted.contains($0.object) || !created.contains($0.object) }
    }

    private func deletion(of object: NSManagedObject) -> Ledger.Event? {
        guard let number = object.value(forKey: "number") as? Int else { return nil }
        var event = Ledger.Event(object: number, kind: .deletion)
        for attribute in model.attributes(of: object.entity.name ?? "") where attribute.since <= version {
            if let seen = attribute.kind.number(of: object.value(forKey: attribute.name)) {
                event.seen[attribute.name] = seen
            }
        }
        return event
    }

    // MARK: Objects

    func object(_ number: Int, _ entities: [Int: String]) throws -> NSManagedObject? {
        guard let context, let entity = entities[number], model.entity(entity) != nil else { return nil }
        if let known = found[number], !known.isDeleted, known.managedObjectContext === context { return known }
        for object in context.insertedObjects where object.value(forKey: "number") as? Int == number { return object }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "number == %@", NSNumber(value: number))
        // Of two with one number, the same one on all devices.
        let objects = try context.fetch(request).filter { !$0.isDeleted }
        let object = objects.min { $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path }
        found[number] = object
        return object
    }

    private func insert(_ entity: String, _ number: Int, _ owner: Int?, _ entities: [Int: String]) throws {
        guard let context, let root = model.root(of: entity), try object(number, entities) == nil else { return }
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (name, value) in Self.identifyingValues(number, root) { object.setValue(value, forKey: name) }
        found[number] = object
        for side in model.sides(of: entity) where side.isRequired {
            guard let owner, let target = try self.object(owner, entities), fits(target, side.destination) else {
                continue
            }
            object.setValue(target, forKey: side.name)
        }
        pending.append(Ledger.Event(object: number, kind: .creation))
    }

    /// The values that identify a new object.
    private static func identifyingValues(_ number: Int, _ root: SimulatedModel.Entity) -> [String: Any] {
        switch root.identity {
        case .random, .constraint: ["number": number]
        case .key: ["number": number, "name": "n\(number)"]
        case .declared: ["number": number, "uid": SimulatedValue.identifier(number)]
        }
    }

    private func fits(_ object: NSManagedObject, _ entity: String) -> Bool {
        model.lineage(object.entity.name ?? "").contains { $0.name == entity }
    }

    private func set(_ object: NSManagedObject, _ number: Int, _ name: String, _ value: Int?) {
        guard object.entity.attributesByName[name] != nil else { return }
        if name == "code" {
            object.setValue(value.map { "c\($0)" }, forKey: name)
            return
        }
        guard let attribute = model.attributes(of: object.entity.name ?? "").first(where: { $0.name == name }) else {
            return
        }
        var event = Ledger.Event(object: number, kind: .write)
        event.attribute = name
        event.value = value
        let before = object.value(forKey: name)
        event.replaced = attribute.kind.number(of: before)
        object.setValue(value.map { attribute.kind.value($0) }, forKey: name)
        pending.append(event)
    }

    // MARK: Relationships

    private func relate(_ number: Int, _ name: String, _ target: Int?, _ entities: [Int: String]) throws {
        guard let object = try object(number, entities), let side = object.entity.relationshipsByName[name] else {
            return
        }
        guard let target else {
            if !side.isToMany { object.setValue(nil, forKey: name) }
            return
        }
        guard let other = try self.object(target, entities), fits(other, side.destinationEntity?.name ?? "") else {
            return
        }
        if !side.isToMany {
            object.setValue(other, forKey: name)
        } else if side.isOrdered {
            object.mutableOrderedSetValue(forKey: name).add(other)
        } else {
            object.mutableSetValue(forKey: name).add(other)
        }
    }

    private func remove(_ other: NSManagedObject, from object: NSManagedObject, _ side: NSRelationshipDescription) {
        if side.isOrdered {
            object.mutableOrderedSetValue(forKey: side.name).remove(other)
        } else {
            object.mutableSetValue(forKey: side.name).remove(other)
        }
    }

    private func move(_ object: NSManagedObject, _ name: String, _ from: Int, _ to: Int) {
        guard object.entity.relationshipsByName[name]?.isOrdered == true,
            let members = object.value(forKey: name) as? NSOrderedSet, members.count > 1
        else { return }
        let list = object.mutableOrderedSetValue(forKey: name)
        list.moveObjects(at: IndexSet(integer: from % members.count), to: to % members.count)
    }

    // MARK: Batch requests

    private func batch(_ step: Step, _ entities: [Int: String], _ ledger: inout Ledger) throws {
        guard let context else { return }
        try save(&ledger)
        var events: [Ledger.Event] = []
        switch step {
        case .batchInsert(_, let entity, let first, let count):
            let numbers = try (first..<(first + count)).filter { try object($0, entities) == nil }
            guard !numbers.isEmpty, let root = model.root(of: entity) else { return }
            let rows = numbers.map { Self.identifyingValues($0, root) }
            guard (try? context.execute(NSBatchInsertRequest(entityName: entity, objects: rows))) != nil else { return }
            events = numbers.map { Ledger.Event(object: $0, kind: .creation) }
        case .batchUpdate(_, let entity, let name, let value, let first, let last):
            guard let attribute = model.attributes(of: entity).first(where: { $0.name == name }),
                attribute.since <= version, attribute.merge == .last
            else { return }
            for number in first...last {
                guard let object = try self.object(number, entities), fits(object, entity) else { continue }
                var event = Ledger.Event(object: number, kind: .write)
                (event.attribute, event.value) = (name, value)
                event.replaced = attribute.kind.number(of: object.value(forKey: name))
                events.append(event)
            }
            let request = NSBatchUpdateRequest(entityName: entity)
            request.predicate = Self.range(first, last)
            request.propertiesToUpdate = [name: attribute.kind.value(value)]
            guard (try? context.execute(request)) != nil else { return }
        case .batchDelete(_, let entity, let first, let last):
            let before = try numbers()
            let seen = Dictionary(
                uniqueKeysWithValues: try (first...last).compactMap { number in
                    try object(number, entities).flatMap { deletion(of: $0) }.map { (number, $0) }
                })
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
            request.predicate = Self.range(first, last)
            guard (try? context.execute(NSBatchDeleteRequest(fetchRequest: request))) != nil else { return }
            events = before.subtracting(try numbers()).sorted().map { number in
                // What a deletion takes along was not seen by the user.
                seen[number] ?? Ledger.Event(object: number, kind: .deletion, isBlind: true)
            }
        default: return
        }
        found = [:]
        context.reset()
        for event in events { ledger.add(event, of: index, isAttached: isAttached) }
    }

    private static func range(_ first: Int, _ last: Int) -> NSPredicate {
        NSPredicate(format: "number >= %@ AND number <= %@", NSNumber(value: first), NSNumber(value: last))
    }

    /// The numbers of all objects that the store has.
    private func numbers() throws -> Set<Int> {
        guard let context else { return [] }
        var result: Set<Int> = []
        for entity in model.entities where entity.parent == nil {
            let request = NSFetchRequest<NSDictionary>(entityName: entity.name)
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["number"]
            for row in try context.fetch(request) { if let number = row["number"] as? Int { result.insert(number) } }
        }
        return result
    }

    func purgeHistory() throws {
        guard let context else { return }
        _ = try context.performAndWait {
            try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        }
    }
}
