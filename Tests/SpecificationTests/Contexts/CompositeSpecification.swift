import CoreData
import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Composite attributes in every store: dictionaries outside, elements inside (U3).
@Suite struct CompositeSpecification {
    /// A person with an address: `city`, `number` and, inside it, `geo` with `x` and `y`; a friend.
    private static let document: ModelDocument = {
        var geo = CompositeElement(name: "Geo")
        geo.properties = [attribute("x", .double), attribute("y", .float)]
        var address = CompositeElement(name: "Address")
        address.properties = [
            attribute("city"), attribute("number", .integer16, default: "1"), composite("geo", "Geo"),
            attribute("since", .date), attribute("key", .uuid), attribute("seal", .binaryData),
        ]
        var document = model(
            entity(
                "Person", attribute("name"), composite("address", "Address"),
                toOne("friend", "Person", inverse: "friends"),
                toMany("friends", "Person", inverse: "friend")))
        document.composites = [address, geo]
        return document
    }()

    private static func composite(_ name: String, _ composite: String) -> PropertyElement {
        var property = attribute(name, .composite)
        if case .attribute(var attribute) = property.kind {
            attribute.compositeName = composite
            property.kind = .attribute(attribute)
        }
        return property
    }

    private static func fill(_ context: NSManagedObjectContext) throws {
        let ann = context.insert(
            "Person", ["name": "Ann", "address": ["city": "Oslo", "number": 7, "geo": ["x": 1.5, "y": Float(2.5)]]])
        let bob = context.insert("Person", ["name": "Bob", "address": ["city": "Bern", "geo": ["x": -3]]])
        let cid = context.insert("Person", ["name": "Cid"])
        cid.setValue(nil, forKey: "address")
        bob.setValue(ann, forKey: "friend")
        cid.setValue(bob, forKey: "friend")
        try context.save()
    }

    private static func dictionary(_ value: Any?) -> NSDictionary? {
        (value as? [String: Any]).map { $0 as NSDictionary }
    }

    @Test(arguments: SpecifiedStore.all)
    func compositesComeBackAsTheyWereSaved(_ store: SpecifiedStore) throws {
        try store.checkContexts(Self.document) { stack in
            let uuid = UUID()
            let full: [String: Any] = [
                "city": "Oslo", "number": 7, "geo": ["x": 1.5, "y": Float(0.1)], "key": uuid, "seal": Data([1, 2]),
                "since": Date(timeIntervalSinceReferenceDate: 8),
            ]
            try stack.story { context in
                let ann = context.insert("Person", ["name": "Ann"])
                #expect(Self.dictionary(ann.value(forKey: "address")) == ["number": 1], "the element's default")
                ann.setValue(full, forKey: "address")
                let bob = context.insert("Person", ["name": "Bob"])
                bob.setValue(nil, forKey: "address")
                try context.save()
            }
            try stack.story { context in
                let ann = try context.one("Person", "name == 'Ann'")
                #expect(Self.dictionary(ann.value(forKey: "address")) == full as NSDictionary)
                #expect(ann.value(forKeyPath: "address.geo.x") as? Double == 1.5)
                #expect(ann.value(forKeyPath: "address.city.length") as? Int == 4)
                #expect(try context.one("Person", "name == 'Bob'").value(forKey: "address") == nil)
                ann.setValue("Bergen", forKeyPath: "address.city")
                ann.setValue(nil, forKeyPath: "address.geo.x")
                #expect(ann.hasPersistentChangedValues)
                #expect(Set(ann.changedValues().keys) == ["address"])
                try context.save()
            }
            try stack.story { context in
                let address = try context.one("Person", "name == 'Ann'").value(forKey: "address") as? [String: Any]
                #expect(address?["city"] as? String == "Bergen" && address?["number"] as? Int == 7)
                #expect((address?["geo"] as? [String: Any])?.keys.sorted() == ["y"])
                #expect(address?["key"] as? UUID == uuid)
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func elementsAreFoundAndSortedBy(_ store: SpecifiedStore) throws {
        try store.checkContexts(Self.document) { stack in
            try stack.story(Self.fill)
            let predicates: [(String, [String])] = [
                ("address.city == 'Oslo'", ["Ann"]), ("address.number > 3", ["Ann"]), ("address.geo.x < 0", ["Bob"]),
                ("address.geo.y == nil", ["Bob", "Cid"]), ("address == nil", ["Cid"]),
                ("address != nil", ["Ann", "Bob"]),
                ("address.geo == nil", ["Cid"]), ("NOT address.city BEGINSWITH 'O'", ["Bob", "Cid"]),
                ("friend.address.city == 'Oslo'", ["Bob"]), ("friend.address == nil", ["Ann"]),
                ("ANY friends.address.city == 'Bern'", ["Ann"]), ("address.city.length == 4", ["Ann", "Bob"]),
                ("SUBQUERY(friends, $f, $f.address.geo.x < 0).@count == 1", ["Ann"]),
                ("address.zip == nil", ["Ann", "Bob", "Cid"]), ("address.zip == 'x'", []),
                ("friend.address.geo.z > 1", []), ("address.zip.code != nil", []),
                ("friends.@min.address.geo.x < 0", ["Ann"]), ("address.city IN {'Bern', 'Rome'}", ["Bob"]),
                // What a composite lacks is nil.
                ("address.nothing == nil", ["Ann", "Bob", "Cid"]), ("address.nothing == 5", []),
                ("address.geo.nothing != 'x'", ["Ann", "Bob", "Cid"]),
                ("address.nothing.more == nil", ["Ann", "Bob", "Cid"]),
                ("NOT address.nothing BEGINSWITH 'a'", ["Ann", "Bob", "Cid"]), ("address.nothing IN {1, 2}", []),
                ("friend.address.nothing == nil", ["Ann", "Bob", "Cid"]), ("address.nothing > 1", []),
                ("address.city == nil OR address.nothing == 'x'", ["Cid"]),
                ("address.nothing == address.city", ["Cid"]),
                ("ANY friends.address.nothing == 1", []),
                ("SUBQUERY(friends, $f, $f.address.nothing == nil).@count == 1", ["Ann", "Bob"]),
            ]
            for isChanged in [false, true] {
                try stack.story { context in
                    // Unsaved changes are looked at in memory.
                    if isChanged {
                        for person in try context.all("Person") { person.setValue(person.text("name"), forKey: "name") }
                    }
                    for (format, names) in predicates {
                        #expect(try context.names("Person", format) == names, "\(format)")
                    }
                    #expect(try context.names("Person", by: "address.city") == ["Cid", "Bob", "Ann"])
                    #expect(try context.names("Person", by: "-address.geo.x") == ["Ann", "Bob", "Cid"])
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all, [0, 1])
    func elementsNameSections(_ store: SpecifiedStore, batchSize: Int) throws {
        try store.checkContexts(Self.document) { stack in
            try stack.story(Self.fill)
            try stack.story { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.sortDescriptors = [NSSortDescriptor(key: "address.city", ascending: true)]
                request.fetchBatchSize = batchSize
                let list = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "address.city",
                    cacheName: nil)
                try list.performFetch()
                #expect(list.sections?.map(\.name) == ["", "Bern", "Oslo"])
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.groupsAndExpressions))
    func dictionariesHaveCompositesAndElements(_ store: SpecifiedStore) throws {
        try store.checkContexts(Self.document) { stack in
            try stack.story(Self.fill)
            try stack.story { context in
                let request = NSFetchRequest<NSDictionary>(entityName: "Person")
                request.resultType = .dictionaryResultType
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                request.propertiesToFetch = ["name", "address.city", "address.geo.x", "friend.address.number"]
                let elements = try context.fetch(request)
                #expect(elements.map { $0["address.city"] as? String } == ["Oslo", "Bern", nil])
                #expect(elements.map { $0["address.geo.x"] as? Double } == [1.5, -3, nil])
                #expect(elements.map { $0["friend.address.number"] as? Int } == [nil, 7, nil])
                request.propertiesToFetch = nil
                let whole = try context.fetch(request)
                #expect(
                    whole.map { Self.dictionary($0["address"]) } == [
                        ["city": "Oslo", "number": 7, "geo": ["x": 1.5, "y": 2.5]],
                        ["city": "Bern", "geo": ["x": -3]], nil,
                    ])
                #expect(whole.map { $0.allKeys.compactMap { $0 as? String }.sorted() }.first == ["address", "name"])
                request.propertiesToFetch = ["address"]
                #expect(try context.fetch(request).map { $0.count } == [1, 1, 0])
            }
        }
    }

    /// One of a program's own class has what that gives it.
    @Test(arguments: SpecifiedStore.having(.groupsAndExpressions))
    func elementsAreGroupedAndAggregated(_ store: SpecifiedStore) throws {
        try store.checkContexts(Self.document) { stack in
            try stack.story { context throws in
                for (number, city) in ["Oslo", "Bern", "Oslo", nil, "Bern", "Oslo"].enumerated() {
                    let address: [String: Any] = ["number": number, "geo": ["x": Double(number) / 2]]
                    let person = context.insert("Person", ["name": "\(number)", "address": address])
                    person.setValue(city, forKeyPath: "address.city")
                }
                try context.save()
                let request = NSFetchRequest<NSDictionary>(entityName: "Person")
                request.resultType = .dictionaryResultType
                func column(_ name: String, _ format: String) -> NSExpressionDescription {
                    let column = NSExpressionDescription()
                    column.name = name
                    column.expression = NSExpression(format: format)
                    return column
                }
                request.propertiesToFetch = [
                    "address.city", column("sum", "sum:(address.number)"), column("most", "max:(address.geo.x)"),
                    column("count", "count:(address.number)"),
                ]
                request.propertiesToGroupBy = ["address.city"]
                request.sortDescriptors = [NSSortDescriptor(key: "address.city", ascending: true)]
                func lines() throws -> [String] {
                    try context.fetch(request).map { row in
                        ["address.city", "sum", "most", "count"].map { row[$0].map { "\($0)" } ?? "nil" }
                            .joined(separator: " ")
                    }
                }
                #expect(try lines() == ["nil 3 1.5 1", "Bern 5 2.0 2", "Oslo 7 2.5 3"])
                request.havingPredicate = NSPredicate(format: "sum:(address.number) > 3 AND $most < 2.25")
                #expect(try lines() == ["Bern 5 2.0 2"])
                #expect(try context.count(for: request) == 1)
                request.havingPredicate = nil
                request.predicate = NSPredicate(format: "address.geo.x > 1")
                #expect(try lines() == ["nil 3 1.5 1", "Bern 4 2.0 1", "Oslo 5 2.5 1"])
                for properties in [["address.nothing"], ["address.geo.nothing"], ["address.city.nothing"]] {
                    request.propertiesToFetch = properties
                    request.propertiesToGroupBy = nil
                    let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
                    #expect(error?.localizedDescription.contains(properties[0]) == true, "\(error as Any)")
                    request.propertiesToFetch = ["address.city"]
                    request.propertiesToGroupBy = properties
                    #expect(throws: CocoaError.self) { try context.fetch(request) }
                }
                for key in ["address", "address.geo", "address.nothing"] {
                    let sorted = NSFetchRequest<NSManagedObject>(entityName: "Person")
                    sorted.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
                    let error = #expect(throws: CocoaError.self) { try context.fetch(sorted) }
                    #expect(error?.localizedDescription.contains("'\(key)'") == true, "\(error as Any)")
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func changesOfElementsAreUndoneAndMerged(_ store: SpecifiedStore) throws {
        try store.checkContexts(Self.document) { stack in
            try stack.story(Self.fill)
            try stack.story { context in
                context.undoManager = UndoManager()
                let ann = try context.one("Person", "name == 'Ann'")
                ann.setValue(["city": "Rome"], forKey: "address")
                #expect(ann.value(forKeyPath: "address.number") == nil)
                context.processPendingChanges()
                context.undo()
                #expect(ann.value(forKeyPath: "address.city") as? String == "Oslo")
                #expect(ann.value(forKeyPath: "address.geo.y") as? Float == 2.5)
                context.redo()
                #expect(Self.dictionary(ann.value(forKey: "address")) == ["city": "Rome"])
                context.rollback()
                #expect(ann.value(forKeyPath: "address.number") as? Int == 7)
                #expect(ann.changedValues().isEmpty)
            }
            // Two contexts change two elements: property by property, both stay.
            let (one, other) = (stack.newContext(), stack.newContext())
            other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let mine = try other.performAndWait {
                let mine = try other.one("Person", "name == 'Ann'")
                #expect(mine.value(forKeyPath: "address.city") as? String == "Oslo")
                return mine
            }
            try one.performAndWait {
                try one.one("Person", "name == 'Ann'").setValue(9, forKeyPath: "address.number")
                try one.save()
            }
            try other.performAndWait {
                mine.setValue("Rome", forKeyPath: "address.city")
                try other.save()
                #expect(mine.value(forKeyPath: "address.number") as? Int == 9)
            }
            try stack.story { context in
                let address = try context.one("Person", "name == 'Ann'").value(forKey: "address") as? [String: Any]
                #expect(address?["city"] as? String == "Rome" && address?["number"] as? Int == 9)
            }
        }
    }
}
