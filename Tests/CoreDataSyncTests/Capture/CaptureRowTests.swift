import CoreData
import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// New objects that are captured by their rows: many at once, with references, and some that need objects.
@Suite struct CaptureRowTests {
    private typealias M = ModelMaking

    /// An entity with every type of attribute, and a to-one of another one.
    private static func model() -> NSManagedObjectModel {
        let shelf = M.entity("Shelf", M.attribute("label"), M.toMany("things"))
        let thing = M.entity(
            "Thing", M.attribute("number", .integer64AttributeType), M.attribute("flag", .booleanAttributeType),
            M.attribute("real", .doubleAttributeType), M.attribute("single", .floatAttributeType),
            M.attribute("price", .decimalAttributeType), M.attribute("text"), M.attribute("date", .dateAttributeType),
            M.attribute("bytes", .binaryDataAttributeType), M.attribute("uid", .UUIDAttributeType),
            M.attribute("link", .URIAttributeType), M.attribute("colours", .transformableAttributeType),
            M.composite("address", M.attribute("city"), M.attribute("zip")), M.toOne("shelf"))
        M.connect(thing, "shelf", shelf, "things")
        return M.model(shelf, thing)
    }

    @Test(arguments: [NSInMemoryStoreType, NSXMLStoreType])
    func valuesOfAllTypesAreThoseOfObjects(type: String) throws {
        let folder = try TemporaryFolder()
        let stack = try CaptureStack(
            Self.model(), type: type, url: type == NSInMemoryStoreType ? nil : folder("Store"),
            history: type == NSInMemoryStoreType)
        let uuid = UUID()
        let (thing, shelf) = try stack.save { _ in
            let shelf = stack.new("Shelf", ["label": "top"])
            let thing = stack.new(
                "Thing",
                [
                    "number": -5, "flag": true, "real": 1.5, "single": Float(0.1), "text": "é", "uid": uuid,
                    "price": NSDecimalNumber(string: "1.50"), "date": Date(timeIntervalSinceReferenceDate: 7),
                    "bytes": Data([1, 2]), "link": URL(fileURLWithPath: "/a b"), "shelf": shelf,
                    "address": ["city": "Ghent"], "colours": ["red"] as NSArray,
                ])
            _ = stack.new("Thing")
            return (thing, shelf)
        }
        let captured = type == NSInMemoryStoreType ? try stack.run() : try stack.compare()
        let entry = try #require(try stack.entry(thing))
        let part = try #require(captured[entry.id])
        var shown = part.shown
        guard case .data? = shown.removeValue(forKey: "colours") else {
            Issue.record("The bytes of a transformable are missing: \(part.shown)")
            return
        }
        #expect(
            shown == [
                "number": .integer(-5), "flag": .integer(1), "real": .double((1.5).bitPattern),
                "single": .double(Double(Float(0.1)).bitPattern), "price": .decimal("1.5"), "text": .string("é"),
                "date": .date((7.0).bitPattern), "bytes": .data(Data([1, 2])), "uid": .uuid(Identifier128(uuid)),
                "link": .uri("file:///a%20b"), "address.city": .string("Ghent"),
                "shelf": .reference(try #require(try stack.id(shelf))),
            ])
        #expect(captured.states.count == 3 && captured.result.danglingReferences == 0)
        // A comparison reads objects: nothing differs from what the rows had.
        #expect(try stack.compare().states.isEmpty)
    }

    @Test func thousandsOfObjectsAreCapturedInOrderOfTheirIDs() throws {
        let stack = try CaptureStack(Self.model())
        let count = 2 * CaptureRun.portion + 7
        try stack.save { _ in
            let shelf = stack.new("Shelf", ["label": "top"])
            for number in 0..<count { _ = stack.new("Thing", ["number": number, "shelf": shelf]) }
        }
        // Some are gone before they are captured.
        try stack.save { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "number < 10")
            for object in try context.fetch(request) { context.delete(object) }
        }
        let captured = try stack.run()
        let things = captured.states.filter { $0.entity.name == "Thing" }
        #expect(things.count == count - 10 && captured.result.insertedObjects == count - 9)
        #expect(Set(things.compactMap { $0.properties["number"]?.value }).count == count - 10)
        #expect(things.map(\.id) == things.map(\.id).sorted())
        #expect(try stack.sidecar.counts().entries == count - 9)
        #expect(try stack.compare().states.isEmpty)
    }
}
