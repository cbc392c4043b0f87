import CoreDataSQL
import CoreDataStore
import Foundation
import StoreTestSupport
import TestSupport
import Testing

@testable import CoreData

// semantics I9–I12: new objects whose unique values rows have already, where the store itself gives these what was set. Whatever is done
// that way must be as merge policies do it object by object.
@Suite struct AbsorbingTests {
    /// Has no code of its own, but is asked all the same, as any class of a program's.
    final class AskedPolicy: NSMergePolicy, @unchecked Sendable {}

    /// Items: name (unique with shelf), shelf, price 1 by default, note, stamp, unit ↔ Unit.items. Tags lead to items one way.
    private final class Shop {
        let folder: URL
        let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext

        init(_ policy: NSMergePolicy, compound: Bool = false, oneWay: Bool = false) throws {
            let model = NSManagedObjectModel()
            let item = Library.entity("Item", nil)
            item.properties = [
                Library.attribute("name", .stringAttributeType), Library.attribute("shelf", .integer64AttributeType),
                Library.attribute("price", .doubleAttributeType), Library.attribute("note", .stringAttributeType),
                Library.attribute("stamp", .dateAttributeType),
            ]
            item.properties.forEach { $0.isOptional = true }
            item.attributesByName["price"]?.defaultValue = 1.0
            item.uniquenessConstraints = [compound ? ["name", "shelf"] : ["name"]]
            let unit = Library.entity("Unit", nil)
            unit.properties = [Library.attribute("label", .stringAttributeType)]
            let (one, many) = (NSRelationshipDescription(), NSRelationshipDescription())
            (one.name, one.destinationEntity, one.maxCount, one.isOptional) = ("unit", unit, 1, true)
            (many.name, many.destinationEntity, many.isOptional) = ("items", item, true)
            (one.inverseRelationship, many.inverseRelationship) = (many, one)
            item.properties.append(one)
            unit.properties.append(many)
            if oneWay {
                let favourite = NSRelationshipDescription()
                (favourite.name, favourite.destinationEntity, favourite.maxCount, favourite.isOptional) = (
                    "favourite", item, 1, true
                )
                unit.properties.append(favourite)
            }
            model.entities = [item, unit]
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("absorbing-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            coordinator = try NSPersistentStoreCoordinator(validating: model)
            try coordinator.addPersistentStore(type: .sqlite, at: folder.appendingPathComponent("shop.sqlite"))
            context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            context.mergePolicy = policy
            context.observers.isUnobserved = true
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        @discardableResult
        func add(_ values: [String: Any], to context: NSManagedObjectContext? = nil) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context ?? self.context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }

        /// What the store has, read by another context.
        func rows() throws -> [String] {
            let reader = NSManagedObjectContext(.privateQueue)
            reader.persistentStoreCoordinator = coordinator
            return try reader.performAndWait {
                try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).map { item in
                    ["name", "shelf", "price", "note", "stamp", "unit.label"].map {
                        "\(item.value(forKeyPath: $0) ?? "nil")"
                    }.joined(separator: " ")
                }.sorted()
            }
        }

        /// The statements that give values of new rows to others.
        func absorbing(_ body: () throws -> Void) throws -> [String] {
            let engine = try #require(coordinator.attachedStores[0].source as? StoreEngine)
            let recorder = SQLRecorder()
            engine.database.setObserver(recorder)
            defer { engine.database.setObserver(nil) }
            try body()
            return recorder.work.filter { $0.contains("ON CONFLICT") }
        }

        func versions() throws -> [Int64] {
            let engine = try #require(coordinator.attachedStores[0].source as? StoreEngine)
            return try engine.database.read { connection in
                let statement = try connection.statement("SELECT Z_OPT FROM ZITEM ORDER BY ZNAME")
                defer { statement.reset() }
                var versions: [Int64] = []
                while try statement.step() { versions.append(statement.integer(0)) }
                return versions
            }
        }
    }

    static let mine: [NSMergePolicy] = [.mergeByPropertyObjectTrump, .overwrite]

    @Test("I10, I11: rows take what was set on new objects, in statements of many rows", arguments: mine)
    func rowsTakeWhatWasSet(_ policy: NSMergePolicy) throws {
        let shop = try Shop(policy)
        for index in 0..<40 { shop.add(["name": "\(index)", "note": "old", "price": 5.0]) }
        try shop.context.save()
        shop.context.reset()
        var new: [NSManagedObject] = []
        let statements = try shop.absorbing {
            for index in 10..<80 { new.append(shop.add(["name": "\(index)", "price": 7.0])) }
            try shop.context.save()
        }
        // Two of 32 rows, six of one.
        #expect(Set(statements).count == 2 && statements.count == 8, "\(statements)")
        #expect(
            statements.allSatisfy { $0.contains("SET Z_OPT = IFNULL(ZITEM.Z_OPT, 0) + 1, ZPRICE = excluded.ZPRICE") })
        let rows = try shop.rows()
        #expect(rows.count == 80)
        #expect(rows.filter { $0.contains(" 7.0 old ") }.count == 30)
        #expect(rows.filter { $0.contains(" 5.0 old ") }.count == 10)
        #expect(rows.filter { $0.contains(" 7.0 nil ") }.count == 40)
        #expect(new.prefix(30).allSatisfy { $0.managedObjectContext == nil && !$0.isInserted })
        #expect(new.dropFirst(30).allSatisfy { $0.managedObjectContext != nil && !$0.objectID.isTemporaryID })
        #expect(!shop.context.hasChanges)
        // D: the rest go on as any saved object.
        new[69].setValue("again", forKey: "note")
        try shop.context.save()
        #expect(try shop.rows().contains { $0.contains("again") })
    }

    @Test("I1, I9: a row changes only where a value differs; what others have of it is read anew")
    func rowsThatAreTheSameAreNotWritten() throws {
        let shop = try Shop(.mergeByPropertyObjectTrump)
        for name in ["a", "b"] { shop.add(["name": name, "price": 2.0]) }
        try shop.context.save()
        shop.context.reset()
        let other = NSManagedObjectContext(.privateQueue)
        other.persistentStoreCoordinator = shop.coordinator
        other.mergePolicy = NSMergePolicy.error
        let known = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        #expect(known.map { $0.value(forKey: "price") as? Double } == [2, 2])
        let statements = try shop.absorbing {
            shop.add(["name": "a", "price": 2.0])
            shop.add(["name": "b", "price": 3.0])
            try shop.context.save()
        }
        #expect(statements.count == 2)
        #expect(try shop.versions() == [1, 2])
        let b = try #require(known.first { $0.value(forKey: "name") as? String == "b" })
        // L: a context that has the old row meets a conflict, and after a refresh the new one.
        b.setValue("mine", forKey: "note")
        #expect(throws: CocoaError.self) { try other.save() }
        other.refreshAllObjects()
        other.refresh(b, mergeChanges: false)
        #expect(b.value(forKey: "price") as? Double == 3)
        b.setValue("mine", forKey: "note")
        try other.save()
        #expect(try shop.rows().contains { $0.contains("3.0 mine") })
    }

    @Test("I9: where somebody could see the difference, policies are asked")
    func policiesAreAskedWhereSomebodyLooks() throws {
        func statements(
            _ shop: Shop, prepare: (Shop) throws -> Void = { _ in }, _ body: (Shop) throws -> Void
        ) throws -> [String] {
            shop.add(["name": "a", "note": "row"])
            try shop.context.save()
            shop.context.reset()
            try prepare(shop)
            return try shop.absorbing {
                try body(shop)
                try shop.context.save()
                #expect(try shop.rows().contains { $0.hasPrefix("a nil 2.0 row") })
            }
        }
        let add: (Shop) -> Void = { $0.add(["name": "a", "price": 2.0]) }
        let mine = NSMergePolicy.mergeByPropertyObjectTrump
        #expect(try statements(Shop(mine), add).count == 1)
        #expect(try statements(Shop(AskedPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)), add).isEmpty)
        // Somebody has the row's object.
        var held: [NSManagedObject] = []
        let hold: (Shop) throws -> Void = {
            held = try $0.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        }
        #expect(try statements(Shop(mine), prepare: hold, add).isEmpty)
        #expect(held[0].value(forKey: "price") as? Double == 2)
        // Somebody has the new object's ID.
        var id: NSManagedObjectID?
        let shop = try Shop(mine)
        #expect(
            try statements(shop) { shop in
                id = shop.context.performAndWait { shop.add(["name": "a", "price": 2.0]).objectID }
            }.isEmpty)
        #expect(try shop.context.object(with: #require(id)).value(forKey: "note") as? String == "row")
        // Relationships, from the new object or to it.
        let relate: (Shop) -> Void = { shop in
            let unit = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: shop.context)
            unit.setValue("kg", forKey: "label")
            shop.add(["name": "a", "price": 2.0, "unit": unit])
        }
        let related = try Shop(mine)
        #expect(try statements(related, relate).isEmpty)
        #expect(try related.rows() == ["a nil 2.0 row nil kg"])
        #expect(try statements(Shop(mine, oneWay: true), add).isEmpty)
        // Two new objects with one value.
        #expect(
            try statements(Shop(mine)) {
                $0.add(["name": "a", "price": 3.0])
                $0.add(["name": "a", "price": 2.0])
            }.isEmpty)
        // The objects' class is asked what it thinks of changes; there is an undo manager; there is a child.
        #expect(try statements(Shop(mine), prepare: { $0.context.undoManager = UndoManager() }, add).isEmpty)
        let child = NSManagedObjectContext(.privateQueue)
        #expect(try statements(Shop(mine), prepare: { child.parent = $0.context }, add).isEmpty)
    }

    @Test("I12: compound constraints, and values that are nil")
    func compoundConstraintsAndNil() throws {
        let shop = try Shop(.overwrite, compound: true)
        for shelf in 1...3 { shop.add(["name": "a", "shelf": shelf, "note": "row"]) }
        shop.add(["name": "a", "note": "none"])
        try shop.context.save()
        shop.context.reset()
        let statements = try shop.absorbing {
            shop.add(["name": "a", "shelf": 2, "price": 2.0])
            shop.add(["name": "b", "shelf": 2, "price": 2.0])
            shop.add(["name": "a", "price": 2.0])
            shop.add(["price": 2.0])
            shop.add(["price": 2.0])
            try shop.context.save()
        }
        #expect(statements.count == 5)
        #expect(
            try shop.rows() == [
                "a 1 1.0 row nil nil", "a 2 2.0 row nil nil", "a 3 1.0 row nil nil", "a nil 1.0 none nil nil",
                "a nil 2.0 nil nil nil", "b 2 2.0 nil nil nil", "nil nil 2.0 nil nil nil", "nil nil 2.0 nil nil nil",
            ])
    }

    @Test("I9: a table without the unique index has no constraint")
    func withoutTheIndexRowsAreNew() throws {
        let shop = try Shop(.overwrite)
        shop.add(["name": "a"])
        try shop.context.save()
        shop.context.reset()
        let engine = try #require(shop.coordinator.attachedStores[0].source as? StoreEngine)
        try engine.database.write { try $0.execute("DROP INDEX Z_Item_UNIQUE_name") }
        shop.add(["name": "a", "price": 2.0])
        try shop.context.save()
        #expect(try shop.rows() == ["a nil 1.0 nil nil nil", "a nil 2.0 nil nil nil"])
    }

    @Test("H, I9: a statement that fails leaves store and context as they were")
    func failuresLeaveAllAsItWas() throws {
        for number in 1...20 {
            let shop = try Shop(.mergeByPropertyObjectTrump)
            for index in 0..<40 { shop.add(["name": "\(index)", "note": "old"]) }
            try shop.context.save()
            shop.context.reset()
            let before = try shop.rows()
            var new: [NSManagedObject] = []
            for index in 20..<60 { new.append(shop.add(["name": "\(index)", "price": 9.0])) }
            let engine = try #require(shop.coordinator.attachedStores[0].source as? StoreEngine)
            let failure = NthStatementFailure(number)
            engine.database.setObserver(failure)
            var failed = false
            do { try shop.context.save() } catch { failed = true }
            engine.database.setObserver(nil)
            #expect(failed == failure.didFail)
            if failed {
                #expect(try shop.rows() == before)
                #expect(new.allSatisfy { $0.isInserted && $0.managedObjectContext === shop.context })
                try shop.context.save()
            }
            #expect(try shop.rows().count == 60)
            #expect(try shop.rows().filter { $0.contains(" 9.0 old") }.count == 20)
            if !failed { return }
        }
        Issue.record("no save came through")
    }

    @Test(
        "I9–I12: random saves come to what policies make of them",
        arguments: Trials.some(of: Trials.seeds(12)).map(Int.init))
    func randomSavesAreAsWithPolicies(_ seed: Int) throws {
        let type =
            seed % 2 == 0 ? NSMergePolicyType.overwriteMergePolicyType : .mergeByPropertyObjectTrumpMergePolicyType
        let compound = seed % 3 == 0
        let shops = [
            try Shop(seed % 2 == 0 ? .overwrite : .mergeByPropertyObjectTrump, compound: compound),
            try Shop(AskedPolicy(merge: type), compound: compound),
        ]
        var absorbed = 0
        for round in 0..<30 {
            var pictures: [[String]] = []
            for shop in shops {
                var numbers = SeededNumbers(seed: UInt64(seed * 1000 + round))
                var held: [NSManagedObject] = []
                if numbers.next() % 4 == 0 {
                    held = Array(try shop.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).prefix(3))
                }
                var new: [NSManagedObject] = []
                for _ in 0..<Int(numbers.next() % 50) {
                    var values: [String: Any] = [:]
                    // A few names come twice in one save.
                    if numbers.next() % 10 != 0 { values["name"] = "\(numbers.next() % 400)" }
                    if compound || numbers.next() % 3 == 0 { values["shelf"] = Int(numbers.next() % 2) }
                    if numbers.next() % 2 == 0 { values["price"] = Double(numbers.next() % 3) }
                    if numbers.next() % 3 == 0 { values["note"] = numbers.next() % 2 == 0 ? "x" : NSNull() }
                    if values["note"] is NSNull { values["note"] = nil }
                    if numbers.next() % 3 == 0 {
                        values["stamp"] = Date(timeIntervalSince1970: Double(numbers.next() % 3))
                    }
                    new.append(shop.add(values))
                }
                for item in held where numbers.next() % 2 == 0 { item.setValue("held \(round)", forKey: "note") }
                if numbers.next() % 8 == 0, let item = held.first { shop.context.delete(item) }
                let statements = try shop.absorbing { try shop.context.save() }
                if shop === shops[0] { absorbed += statements.count } else { #expect(statements.isEmpty) }
                #expect(!shop.context.hasChanges)
                let states = new.map {
                    "\($0.managedObjectContext == nil) \($0.isInserted) \($0.isDeleted) \($0.hasChanges)"
                }
                pictures.append(try shop.rows() + states)
                if numbers.next() % 2 == 0 { shop.context.reset() }
            }
            try #require(pictures[0] == pictures[1], "seed \(seed), round \(round)")
        }
        #expect(absorbed > 0)
    }
}
