import Foundation
import SwiftData
import Testing

@Suite struct PersistentIdentifierTests {
    /// B1, complaint 35: temporary before insertion, permanent from when an inserted model is asked for it; the save keeps it.
    @Test func identifiersArePermanentOnceInserted() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        let before = dish.persistentModelID
        #expect(before == dish.persistentModelID && before.storeIdentifier == nil && before.entityName == "Dish")
        context.insert(dish)
        let inserted = dish.persistentModelID
        #expect(inserted != before && inserted.storeIdentifier != nil)
        try context.save()
        #expect(dish.persistentModelID == inserted && dish.id == inserted)
    }

    /// G1, G2: Apple's JSON, and equal when decoded.
    @Test func identifiersAreCoded() throws {
        let (container, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        let id = dish.persistentModelID
        let data = try JSONEncoder().encode(id)
        let json = try #require(JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
        let implementation = try #require(json["implementation"])
        let store = try #require(id.storeIdentifier)
        #expect(implementation["primaryKey"] as? String == "p1")
        #expect(implementation["uriRepresentation"] as? String == "x-coredata://\(store)/Dish/p1")
        #expect(implementation["isTemporary"] as? Bool == false)
        #expect(implementation["storeIdentifier"] as? String == store)
        #expect(implementation["entityName"] as? String == "Dish")
        let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
        #expect(decoded == id && Set([decoded, id]).count == 1 && decoded.hashValue == id.hashValue)
        #expect((ModelContext(container).model(for: decoded) as? Dish)?.name == "Soup")
    }

    /// G3: the description has the URI of the row.
    @Test func identifiersDescribeTheirRow() throws {
        let id = try PersistentIdentifier.identifier(for: "S", entityName: "Dish", primaryKey: "p7")
        #expect("\(id)" == "PersistentIdentifier(x-coredata://S/Dish/p7)")
    }

    /// G4: comparable by number, not by text.
    @Test func identifiersAreOrdered() throws {
        let ids = try [10, 9, 1].map {
            try PersistentIdentifier.identifier(for: "S", entityName: "Dish", primaryKey: "p\($0)")
        }
        #expect(ids.sorted() == ids.reversed())
    }

    /// D8: an identifier of a row that is not there gives a model whose values stand for none.
    @Test func aRowThatIsNotThereReadsAsEmpty() throws {
        let (container, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        let store = try #require(dish.persistentModelID.storeIdentifier)
        let id = try PersistentIdentifier.identifier(for: store, entityName: "Dish", primaryKey: "p99")
        let other = ModelContext(container)
        let registered: Dish? = other.registeredModel(for: id)
        #expect(registered == nil)
        let missing = try #require(other.model(for: id) as? Dish)
        #expect(missing.name == "" && missing.steps.isEmpty)
    }

    /// G5, complaint 2: keys are not used again after all rows were deleted.
    @Test func keysAreNotUsedAgain() throws {
        let (container, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        let former = dish.persistentModelID
        try container.erase()
        let next = Dish(name: "Stew")
        context.insert(next)
        try context.save()
        #expect(next.persistentModelID != former)
    }
}
