import CoreData
import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

@Suite struct StoredValuesTests {
    private typealias M = ModelMaking

    struct Case: CustomTestStringConvertible, @unchecked Sendable {
        let type: NSAttributeType
        let set: Any?
        let value: SyncValue
        var external = false
        var testDescription: String { "\(type) \(value)" }
    }

    private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    static let cases: [Case] = [
        Case(type: .integer16AttributeType, set: Int16.min, value: .integer(-32768)),
        Case(type: .integer32AttributeType, set: Int32.max, value: .integer(2_147_483_647)),
        Case(type: .integer64AttributeType, set: Int64.min, value: .integer(.min)),
        Case(type: .integer64AttributeType, set: 0, value: .integer(0)),
        Case(type: .booleanAttributeType, set: true, value: .integer(1)),
        Case(type: .booleanAttributeType, set: false, value: .integer(0)),
        Case(type: .doubleAttributeType, set: 0.1, value: .double((0.1).bitPattern)),
        Case(type: .doubleAttributeType, set: 0.0, value: .double(0)),
        Case(type: .floatAttributeType, set: Float(1.5), value: .double((1.5).bitPattern)),
        Case(type: .decimalAttributeType, set: NSDecimalNumber(string: "-12.50"), value: .decimal("-12.5")),
        Case(type: .decimalAttributeType, set: NSDecimalNumber(string: "1200"), value: .decimal("1200")),
        Case(type: .stringAttributeType, set: "Zoë\u{301}\n😀", value: .string("Zoë\u{301}\n😀")),
        Case(type: .stringAttributeType, set: "", value: .string("")),
        Case(
            type: .dateAttributeType, set: Date(timeIntervalSinceReferenceDate: 1.25), value: .date((1.25).bitPattern)),
        Case(type: .binaryDataAttributeType, set: Data([0, 255]), value: .data(Data([0, 255]))),
        Case(
            type: .binaryDataAttributeType, set: Data(repeating: 7, count: 300_000),
            value: .data(Data(repeating: 7, count: 300_000)), external: true),
        Case(type: .UUIDAttributeType, set: uuid, value: .uuid(Identifier128(uuid))),
        Case(
            type: .URIAttributeType, set: URL(string: "https://example.org/a%20b?c=d"),
            value: .uri("https://example.org/a%20b?c=d")),
    ]

    private func model(_ type: NSAttributeType, external: Bool = false) -> NSManagedObjectModel {
        func attribute() -> NSAttributeDescription {
            M.attribute("value", type) { $0.allowsExternalBinaryDataStorage = external }
        }
        let inner = M.composite("inner", M.attribute("value", type))
        return M.model(M.entity("Book", attribute(), M.composite("part", M.attribute("value", type), inner)))
    }

    private func stack(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Writes a value as an app does, reads it, writes it to another object, and reads that: as an attribute and as elements of composites.
    @Test(arguments: cases)
    func valuesGoThroughTheStoreAndBack(_ test: Case) throws {
        let model = model(test.type, external: test.external)
        let context = try stack(model)
        let entity = try #require(try SyncRules(model: model)["Book"])
        let values = try StoredValues(entity, in: model)
        #expect(entity.values.map(\.name) == ["part.inner.value", "part.value", "value"])
        try context.performAndWait {
            let first = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            let second = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            first.setValue(test.set, forKey: "value")
            first.setValue(["value": test.set, "inner": ["value": test.set]] as [String: Any?], forKey: "part")
            try context.save()
            context.refreshAllObjects()
            for number in 0..<3 {
                #expect(try values.value(number, of: first) == test.value)
                #expect(try values.value(number, of: second) == .null)
                try values.set(try values.value(number, of: first), entity.values[number].name, of: second)
            }
            try context.save()
            context.refreshAllObjects()
            for number in 0..<3 {
                #expect(try values.value(number, of: second) == test.value)
                try values.set(.null, entity.values[number].name, of: second)
                #expect(try values.value(number, of: second) == .null)
            }
        }
    }

    @Test func transformablesAreTheBytesThatTheStoreKeeps() throws {
        let model = model(.transformableAttributeType)
        let context = try stack(model)
        let entity = try #require(try SyncRules(model: model)["Book"])
        let values = try StoredValues(entity, in: model)
        try context.performAndWait {
            let first = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            let second = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            let array = ["a", "b"] as NSArray
            first.setValue(array, forKey: "value")
            first.setValue(["value": array, "inner": ["value": array]], forKey: "part")
            try context.save()
            context.refreshAllObjects()
            for number in 0..<3 {
                let value = try values.value(number, of: first)
                guard case .data(let data) = value else {
                    Issue.record("\(value)")
                    continue
                }
                #expect(data.starts(with: "bplist".utf8))
                try values.set(value, entity.values[number].name, of: second)
            }
            try context.save()
            context.refreshAllObjects()
            #expect(second.value(forKey: "value") as? NSArray == array)
            #expect((second.value(forKey: "part") as? [String: Any])?["value"] as? NSArray == array)
            try values.set(.null, "value", of: second)
            #expect(second.value(forKey: "value") == nil)
        }
    }

    @Test(arguments: [
        (NSAttributeType.integer16AttributeType, SyncValue.integer(40_000)), (.stringAttributeType, .integer(1)),
        (.booleanAttributeType, .integer(2)), (.doubleAttributeType, .double(Double.nan.bitPattern)),
        (.UUIDAttributeType, .string("x")), (.transformableAttributeType, .data(Data([1]))),
        (.dateAttributeType, .stored),
        (.decimalAttributeType, .decimal("x")),
    ])
    func valuesThatAnAttributeCannotHoldAreErrors(type: NSAttributeType, value: SyncValue) throws {
        let model = model(type)
        let context = try stack(model)
        let values = try StoredValues(try #require(try SyncRules(model: model)["Book"]), in: model)
        context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            let error = #expect(throws: CocoaError.self) { try values.set(value, "value", of: object) }
            #expect(error?.localizedDescription.contains("Property \"value\" of entity \"Book\"") == true)
            #expect(object.value(forKey: "value") == nil)
        }
    }

    @Test func accessorsOfTheAppAreNotCalled() throws {
        let model = model(.stringAttributeType)
        model.entities[0].managedObjectClassName = NSStringFromClass(LoudBook.self)
        let context = try stack(model)
        let values = try StoredValues(try #require(try SyncRules(model: model)["Book"]), in: model)
        try context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            try values.set(.string("quiet"), "value", of: object)
            #expect(try values.value(of: "value", in: object) == .string("quiet"))
        }
    }

    // MARK: Digests

    @Test func digestsTellValuesApart() throws {
        let values: [SyncValue] = [
            .null, .integer(0), .integer(1), .double(0), .double(1), .date(0), .string(""), .string("a"), .string("b"),
            .string("abcdefgh"), .string("abcdefghi"), .uri("a"), .decimal("1"), .data(Data()), .data(Data([0])),
            .data(Data([0, 0])), .uuid(Identifier128(high: 1, low: 2)), .uuid(Identifier128(high: 2, low: 1)),
            .reference(GlobalID(high: 1, low: 2)),
        ]
        #expect(Set(values.map(ValueDigests.digest)).count == values.count)
        // The same in every process and on every device.
        #expect(ValueDigests.digest(.string("abcdefghi")) == ValueDigests.digest(.string("abcdefghi")))
        #expect(!values.map(ValueDigests.digest).contains(0))
    }

    @Test func digestsOfOtherPropertiesAreUnknown() throws {
        func entity(_ name: String) throws -> SyncEntity {
            try #require(try SyncRules(model: M.model(M.entity("Book", M.attribute(name))))["Book"])
        }
        var digests = ValueDigests(try entity("title"))
        digests[0] = 77
        #expect(ValueDigests(digests.data, try entity("title"))?[0] == 77)
        #expect(ValueDigests(digests.data, try entity("name")) == nil)
        #expect(ValueDigests(nil, try entity("title")) == nil)
        #expect(ValueDigests(Data([1]), try entity("title")) == nil)
    }
}

final class LoudBook: NSManagedObject {
    override func value(forKey key: String) -> Any? {
        Issue.record("value(forKey:) was called")
        return super.value(forKey: key)
    }

    override func setValue(_ value: Any?, forKey key: String) {
        Issue.record("setValue(_:forKey:) was called")
        super.setValue(value, forKey: key)
    }
}
