import CoreData
import Foundation
import TestSupport
import Testing

/// Both sides of the relationships that batch requests set: Apple's batch inserts set none.
@Suite struct BatchRelationshipTests {
    private let stack: LibraryStack

    init() throws { stack = try LibraryStack(model: Nodes.model()) }

    private func named(_ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    private func update(_ format: String, _ properties: [AnyHashable: Any], in context: NSManagedObjectContext) throws {
        let update = NSBatchUpdateRequest(entityName: "Node")
        update.predicate = NSPredicate(format: format)
        update.propertiesToUpdate = properties
        try context.execute(update)
        context.reset()
    }

    /// What a fresh context finds, and that both sides say the same.
    private func picture() throws -> String {
        let fresh = stack.newContext()
        return try fresh.performAndWait { () throws in
            #expect(try Nodes.differences(in: fresh) == [])
            return try Nodes.picture(of: fresh)
        }
    }

    @Test("A batch insert's one-to-ones have two sides, and free whom they take a partner from", arguments: 0..<3)
    func insertedPartners(_ way: Int) throws {
        try stack.story { context in
            let (a, b) = (Nodes.insert("a", into: context), Nodes.insert("b", into: context))
            a.setValue(b, forKey: "pupil")
            a.setValue(b, forKey: "spouse")
            try context.save()
            let id = b.objectID
            let values: [String: Any] = ["name": "c", "teacher": id, "spouse": id]
            let request: NSBatchInsertRequest
            var isDone = false
            switch way {
            case 0: request = NSBatchInsertRequest(entityName: "Node", objects: [values])
            case 1:
                request = NSBatchInsertRequest(
                    entityName: "Node",
                    dictionaryHandler: { dictionary in
                        if isDone { return true }
                        isDone = true
                        for (key, value) in values { dictionary[key] = value }
                        return false
                    })
            default:
                request = NSBatchInsertRequest(
                    entityName: "Node",
                    managedObjectHandler: { object in
                        if isDone { return true }
                        isDone = true
                        for (key, value) in values {
                            let node = (value as? NSManagedObjectID).map { context.object(with: $0) }
                            object.setValue(node ?? value, forKey: key)
                        }
                        return false
                    })
            }
            try context.execute(request)
        }
        let fresh = stack.newContext()
        try fresh.performAndWait { () throws in
            #expect(try Nodes.differences(in: fresh) == [])
            let (a, b, c) = (try named("a", in: fresh), try named("b", in: fresh), try named("c", in: fresh))
            #expect(a.value(forKey: "spouse") == nil && b.value(forKey: "spouse") as? NSManagedObject == c)
            #expect(
                b.value(forKey: "teacher") as? NSManagedObject == a && a.value(forKey: "pupil") as? NSManagedObject == b
            )
            #expect(b.value(forKey: "pupil") as? NSManagedObject == c)
            fresh.delete(c)
            try fresh.save()
        }
        #expect(!(try picture()).contains("spouse: c"))
    }

    @Test("Of two rows of a batch insert that name one partner the later one has it, as of two assignments")
    func partnersNamedTwice() throws {
        try stack.story { context in
            let a = Nodes.insert("a", into: context)
            try context.save()
            try context.execute(
                NSBatchInsertRequest(
                    entityName: "Node",
                    objects: [
                        ["name": "b", "spouse": a.objectID], ["name": "c", "spouse": a.objectID], ["name": "d"],
                    ]))
        }
        let fresh = stack.newContext()
        try fresh.performAndWait { () throws in
            #expect(try Nodes.differences(in: fresh) == [])
            #expect(try named("a", in: fresh).value(forKey: "spouse") as? NSManagedObject == named("c", in: fresh))
            #expect(try named("b", in: fresh).value(forKey: "spouse") == nil)
        }
    }

    @Test("A batch update of a one-to-one sets both sides, and refuses to give one partner to many")
    func updatedPartners() throws {
        try stack.story { context in
            let nodes = ["a", "b", "c", "d"].map { Nodes.insert($0, into: context) }
            nodes[0].setValue(nodes[1], forKey: "spouse")
            nodes[2].setValue(nodes[3], forKey: "spouse")
            nodes[0].setValue(nodes[1], forKey: "pupil")
            try context.save()
            let b = nodes[1].objectID
            try update("name == 'c'", ["spouse": b], in: context)
            #expect(try Nodes.differences(in: context) == [])
            #expect(try named("a", in: context).value(forKey: "spouse") == nil)
            #expect(try named("d", in: context).value(forKey: "spouse") == nil)
            #expect(try named("b", in: context).value(forKey: "spouse") as? NSManagedObject == named("c", in: context))
            let error = #expect(throws: CocoaError.self) { try update("name != 'x'", ["spouse": b], in: context) }
            #expect(error?.localizedDescription.contains("cannot set 'spouse' of 4 objects") == true)
            try update("name == 'd'", ["teacher": b], in: context)
            #expect(try named("b", in: context).value(forKey: "pupil") as? NSManagedObject == named("d", in: context))
            try update("name != 'x'", ["spouse": NSNull(), "pupil": NSNull()], in: context)
            for node in try Nodes.all(in: context) {
                #expect(["spouse", "teacher", "pupil"].allSatisfy { node.value(forKey: $0) == nil })
            }
        }
        #expect(!(try picture()).isEmpty)
    }

    @Test("What batches bring to an ordered to-many comes behind its members; who is one stays where he is")
    func places() throws {
        func names(_ context: NSManagedObjectContext) throws -> [String] {
            Nodes.targets(try named("shelf", in: context).value(forKey: "items")).map(Nodes.name)
        }
        try stack.story { context in
            let shelf = Nodes.insert("shelf", into: context)
            shelf.setValue(
                NSOrderedSet(array: ["c", "a", "b"].map { Nodes.insert($0, into: context) }), forKey: "items")
            for name in ["x", "y"] { _ = Nodes.insert(name, into: context) }
            try context.save()
            let id = shelf.objectID
            try context.execute(
                NSBatchInsertRequest(
                    entityName: "Node",
                    objects: ["f", "d", "e"].map { ["name": $0, "shelf": id] } + [["name": "g", "shelf": NSNull()]]))
            context.reset()
            #expect(try names(context) == ["c", "a", "b", "f", "d", "e"])
            try update("name IN {'x', 'a', 'y'}", ["shelf": id], in: context)
            #expect(try names(context) == ["c", "a", "b", "f", "d", "e", "x", "y"])
            try context.execute(
                NSBatchInsertRequest(entityName: "Node", objects: [["name": "z", "shelf": id]]))
            context.reset()
            #expect(try names(context).last == "z")
            try update("name IN {'c', 'z'}", ["shelf": NSNull()], in: context)
            #expect(try names(context) == ["a", "b", "f", "d", "e", "x", "y"])
            // A context goes on where the batches stopped.
            let shelf2 = try named("shelf", in: context)
            shelf2.mutableOrderedSetValue(forKey: "items").insert(try named("c", in: context), at: 3)
            try context.save()
            context.reset()
            #expect(try names(context) == ["a", "b", "f", "c", "d", "e", "x", "y"])
        }
    }

    @Test("What an upsert gives to a row has two sides, across the entities of a hierarchy", arguments: [false, true])
    func upsertedPartners(_ isMandatory: Bool) throws {
        let (person, man, woman) = (
            Library.entity("Person", nil), Library.entity("Man", nil), Library.entity("Woman", nil)
        )
        let (spouse, inverse) = Library.pair("spouse", of: person, "partner", of: person)
        (inverse.maxCount, inverse.isOptional) = (1, !isMandatory)
        let (home, people) = Library.pair("home", of: person, "people", of: person)
        people.isOrdered = true
        person.properties = [Library.attribute("name", .stringAttributeType), spouse, inverse, home, people]
        person.uniquenessConstraints = [["name"]]
        person.isAbstract = true
        person.subentities = [man, woman]
        let model = NSManagedObjectModel()
        model.entities = [person, man, woman]
        let stack = try LibraryStack(model: model)
        try stack.story { context throws in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            func insert(_ entity: String, _ name: String) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                object.setValue(name, forKey: "name")
                return object
            }
            func named(_ name: String) throws -> NSManagedObject {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.predicate = NSPredicate(format: "name == %@", name)
                return try #require(try context.fetch(request).first)
            }
            func end(_ name: String, _ key: String) throws -> String? {
                try (named(name).value(forKey: key) as? NSManagedObject)?.value(forKey: "name") as? String
            }
            // In a ring each has a spouse, and is somebody's partner.
            let ring = [insert("Man", "a"), insert("Woman", "b"), insert("Man", "c")]
            for (index, object) in ring.enumerated() { object.setValue(ring[(index + 1) % 3], forKey: "spouse") }
            ring[0].setValue(NSOrderedSet(array: [ring[1], ring[2]]), forKey: "people")
            try context.save()
            let (a, c) = (ring[0].objectID, ring[2].objectID)
            let request = NSBatchInsertRequest(
                entityName: "Man",
                objects: [["name": "a", "spouse": c], ["name": "d", "home": a], ["name": "c", "home": a]])
            if isMandatory {
                // b would be nobody's partner.
                let error = #expect(throws: CocoaError.self) { try context.execute(request) }
                #expect(error?.errorCode == NSValidationMissingMandatoryPropertyError)
                context.reset()
                #expect(try end("a", "spouse") == "b" && end("b", "spouse") == "c")
                return
            }
            try context.execute(request)
            context.reset()
            #expect(try end("a", "spouse") == "c" && end("c", "partner") == "a")
            #expect(try end("b", "spouse") == nil && end("b", "partner") == nil)
            #expect(try end("c", "spouse") == "a" && end("a", "partner") == "c")
            // A row of another entity of the hierarchy takes its place, too.
            try context.execute(
                NSBatchInsertRequest(
                    entityName: "Woman", objects: [["name": "c", "home": a], ["name": "d", "home": c]]))
            context.reset()
            #expect(try end("d", "home") == "c")
            let names = try (named("a").value(forKey: "people") as? NSOrderedSet)?.array.compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "name") as? String
            }
            #expect(names == ["b", "c"])
            #expect(try (named("a").value(forKey: "partner") as? NSManagedObject)?.entity.name == "Man")
        }
    }

    @Test("Random batch inserts and updates of relationships leave both sides alike")
    func atRandom() throws {
        for seed in Trials.seeds(15) {
            var numbers = SeededNumbers(seed: seed)
            let stack = try LibraryStack(model: Nodes.model())
            let keys = ["spouse", "teacher", "pupil", "owner", "shelf"]
            try stack.story { context in
                for index in 0..<6 { _ = Nodes.insert("n\(index)", into: context) }
                try context.save()
                for step in 0..<25 {
                    let nodes = try Nodes.all(in: context)
                    func end() -> Any { numbers.chance(4) ? NSNull() : numbers.pick(nodes).objectID }
                    if numbers.chance(2) {
                        try context.execute(
                            NSBatchInsertRequest(
                                entityName: "Node",
                                objects: (0..<3).map { index in
                                    var values: [String: Any] = ["name": "s\(step) \(index)"]
                                    for _ in 0..<2 { values[numbers.pick(keys)] = end() }
                                    return values
                                }))
                    } else {
                        let update = NSBatchUpdateRequest(entityName: "Node")
                        update.predicate = NSPredicate(format: "name == %@", Nodes.name(numbers.pick(nodes)))
                        update.propertiesToUpdate = [numbers.pick(keys): end(), "note": step]
                        try context.execute(update)
                    }
                    context.reset()
                    let differences = try Nodes.differences(in: context)
                    #expect(differences == [], "seed \(seed), step \(step)")
                    if !differences.isEmpty { return }
                    if numbers.chance(5) {
                        context.delete(numbers.pick(try Nodes.all(in: context)))
                        try context.save()
                    }
                }
            }
        }
    }
}

/// What batch requests refuse, since it would leave what no context could save.
@Suite struct BatchRefusalTests {
    /// Things that must have an owner, and may be someone's first.
    private func model(_ rule: NSDeleteRule = .nullifyDeleteRule) -> NSManagedObjectModel {
        let (owner, thing, tag) = (
            Library.entity("Owner", nil), Library.entity("Thing", nil), Library.entity("Tag", nil)
        )
        let (thingOwner, things) = Library.pair("owner", of: thing, "things", of: owner)
        thingOwner.isOptional = false
        things.deleteRule = rule
        let (first, firstOf) = Library.pair("first", of: owner, "firstOf", of: thing)
        firstOf.maxCount = 1
        let (tags, tagged) = Library.pair("tags", of: thing, "things", of: tag, toMany: true)
        tags.isOptional = false
        for (entity, relationships) in [
            (owner, [things, first]), (thing, [thingOwner, firstOf, tags]), (tag, [tagged]),
        ] {
            entity.properties = [Library.attribute("name", .stringAttributeType)] + relationships
        }
        let model = NSManagedObjectModel()
        model.entities = [owner, thing, tag]
        return model
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        func insert(_ entity: String, _ name: String) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValue(name, forKey: "name")
            return object
        }
        let owner = insert("Owner", "o")
        _ = insert("Owner", "alone")
        let (red, blue) = (insert("Tag", "red"), insert("Tag", "blue"))
        for (name, tags) in [("a", [red, blue]), ("b", [red])] {
            let thing = insert("Thing", name)
            thing.setValue(owner, forKey: "owner")
            thing.setValue(Set(tags), forKey: "tags")
        }
        try context.save()
    }

    private func delete(_ entity: String, _ format: String, in context: NSManagedObjectContext) throws -> Int {
        let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: entity)
        fetch.predicate = NSPredicate(format: format)
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeCount
        return try (context.execute(request) as? NSBatchDeleteResult)?.result as? Int ?? -1
    }

    private func count(_ entity: String, in context: NSManagedObjectContext) throws -> Int {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    @Test("N3: a batch delete that would empty a mandatory relationship is refused, and nothing is deleted")
    func mandatoryInverses() throws {
        let stack = try LibraryStack(model: model())
        try stack.story { context in
            try fill(context)
            for (entity, format, key) in [
                ("Owner", "name == 'o'", "owner"), ("Owner", "TRUEPREDICATE", "owner"),
            ] {
                let error = #expect(throws: CocoaError.self) { try delete(entity, format, in: context) }
                #expect(error?.errorCode == NSValidationMissingMandatoryPropertyError, "\(entity) \(format)")
                #expect(error?.localizedDescription.contains("relationship '\(key)' of Thing") == true)
                #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == key)
                #expect(try count("Owner", in: context) == 2 && count("Tag", in: context) == 2)
            }
            // What nobody must have goes. Counts of to-manys are the caller's duty.
            #expect(try delete("Tag", "TRUEPREDICATE", in: context) == 2)
            #expect(try delete("Owner", "name == 'alone'", in: context) == 1)
            #expect(try delete("Thing", "name == 'a'", in: context) == 1)
        }
    }

    @Test("N3: a mandatory inverse that goes with the object by a cascade is no reason to refuse")
    func mandatoryInversesThatGoToo() throws {
        let stack = try LibraryStack(model: model(.cascadeDeleteRule))
        try stack.story { context in
            try fill(context)
            #expect(try delete("Owner", "name == 'o'", in: context) == 3)
            #expect(try count("Thing", in: context) == 0 && count("Tag", in: context) == 2)
            #expect(try delete("Tag", "TRUEPREDICATE", in: context) == 2)
        }
    }

    @Test("N2: what a predicate finds among related rows is what they were before the update", arguments: 0..<4)
    func predicatesOfRelatedRows(_ way: Int) throws {
        let stack = try LibraryStack(model: Nodes.model())
        try stack.story { context in
            let nodes = ["a", "b", "c"].map { Nodes.insert($0, into: context) }
            nodes[0].setValue(5, forKey: "note")
            for (node, owner) in [(0, 1), (1, 2)] { nodes[node].setValue(nodes[owner], forKey: "owner") }
            for node in nodes[1...] { node.setValue(0, forKey: "note") }
            try context.save()
            let update = NSBatchUpdateRequest(entityName: "Node")
            update.predicate = NSPredicate(
                format: [
                    "ANY children.note > 1", "SUBQUERY(children, $x, $x.note > 1).@count > 0", "children.@max.note > 1",
                    "children.@count > 0 AND ANY children.note == 5",
                ][way])
            update.propertiesToUpdate = ["note": 9]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 1)
            context.refreshAllObjects()
            #expect(nodes.map { $0.value(forKey: "note") as? Int } == [5, 9, 0])
        }
    }

    @Test("A batch request leads to no row that is not there, and an update sets something")
    func missingDestinations() throws {
        let stack = try LibraryStack(model: Nodes.model())
        try stack.story { context in
            let (kept, gone) = (Nodes.insert("kept", into: context), Nodes.insert("gone", into: context))
            try context.save()
            let id = gone.objectID
            context.delete(gone)
            try context.save()
            let insertion = NSBatchInsertRequest(
                entityName: "Node", objects: [["name": "x", "owner": kept.objectID], ["name": "y", "owner": id]])
            var error = #expect(throws: CocoaError.self) { try context.execute(insertion) }
            #expect(error?.localizedDescription.contains("cannot set 'owner' of entity 'Node'") == true)
            let update = NSBatchUpdateRequest(entityName: "Node")
            update.propertiesToUpdate = ["spouse": id]
            error = #expect(throws: CocoaError.self) { try context.execute(update) }
            #expect(error?.localizedDescription.contains("which is not in the store") == true)
            update.propertiesToUpdate = [:]
            error = #expect(throws: CocoaError.self) { try context.execute(update) }
            #expect(error?.localizedDescription.contains("no propertiesToUpdate") == true)
            #expect(try Nodes.all(in: context) == [kept])
        }
    }

    @Test("G8: a batch update refuses what is not a number, whatever it is given as")
    func notNumbers() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            (book.title, book.rating, book.price) = ("One", 2, 3)
            book.published = Date(timeIntervalSinceReferenceDate: 4)
            try context.save()
            let wrong: [(String, Any)] = [
                ("rating", Double.nan), ("rating", NSNumber(value: Float.nan)), ("price", Decimal.nan),
                ("price", NSDecimalNumber.notANumber), ("published", Date(timeIntervalSinceReferenceDate: .nan)),
                ("rating", NSExpression(forConstantValue: Double.nan)),
            ]
            for (key, value) in wrong {
                let update = NSBatchUpdateRequest(entityName: "Book")
                update.propertiesToUpdate = [key: value]
                let error = #expect(throws: CocoaError.self, "\(key)") { try context.execute(update) }
                #expect(error?.localizedDescription.contains("'\(key)' of entity 'Book' is not a number") == true)
            }
            context.refreshAllObjects()
            #expect(book.rating == 2 && book.price == 3 && book.published?.timeIntervalSinceReferenceDate == 4)
        }
    }
}
