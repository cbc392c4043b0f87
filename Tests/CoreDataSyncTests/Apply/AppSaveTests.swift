import CoreData
import CoreDataSync
import Foundation
import TestSupport
import Testing

/// What an app's classes and contexts do while changes of other devices are saved.
@Suite struct AppSaveTests {
    private func model(_ name: String, _ type: NSManagedObject.Type?) -> NSManagedObjectModel {
        let entity = ModelMaking.entity(
            name, info: ["sync.key": "key"], ModelMaking.attribute("key"), ModelMaking.attribute("name"),
            ModelMaking.attribute("start", .integer64AttributeType),
            ModelMaking.attribute("end", .integer64AttributeType))
        if let type { entity.managedObjectClassName = NSStringFromClass(type) }
        return ModelMaking.model(entity)
    }

    @Test func aSaveOfTheAppMeanwhileIsKept() async throws {
        let fleet = try Fleet(2) { CaptureStack.shop() }
        try fleet[0].save { _ in _ = fleet[0].new("Item", ["name": "a", "note": "old"]) }
        try await fleet.settle()
        try fleet[0].set("Item", "a", ["note": "other", "best": 3.0])
        try await fleet[0].exchange()
        // The app saves between apply's fetch and its save, three times.
        let phone = fleet[1]
        let count = Counter()
        phone.checkpoint { name in
            guard name == "apply.begun", count.add() <= 3 else { return }
            try phone.context.performAndWait {
                phone.context.refreshAllObjects()
                try phone.object("Item", "a")?.setValue("app \(count.value)", forKey: "note")
                try phone.context.save()
            }
        }
        try await fleet.settle()
        #expect(count.value >= 4)
        for device in fleet.devices {
            #expect(try device.text("Item", "a", "note") == "app 3")
            #expect(try device.text("Item", "a", "best") == "3.0")
        }
        #expect(try await fleet[1].journal() == ["note: other (edited)"])
    }

    @Test func valuesThatWillSaveChangesAreEdits() async throws {
        // The first device has an older version of the app, which does not tidy names.
        var types: [NSManagedObject.Type?] = [nil, TidyItem.self, TidyItem.self]
        let fleet = try Fleet { model("Item", types.removeFirst()) }
        try fleet[0].save { _ in _ = fleet[0].new("Item", ["key": "a", "name": "Milk"]) }
        try await fleet.settle()
        for device in fleet.devices { #expect(try device.contents().values.first?.contains("name=milk") == true) }
        try fleet[1].set("Item", "milk", ["name": "BREAD"])
        try await fleet.settle()
        for device in fleet.devices { #expect(try device.contents().values.first?.contains("name=bread") == true) }
    }

    @Test(arguments: Trials.seeds(12)) func valuesThatAreNotValidTogetherEndEqual(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed: seed)
        let fleet = try Fleet { model("Span", SpanObject.self) }
        try fleet[0].save { _ in _ = fleet[0].new("Span", ["key": "a", "name": "a", "start": 1, "end": 10]) }
        try await fleet.settle()
        let isLater = numbers.chance(2)
        fleet[isLater ? 0 : 1].clock.advance(seconds: 100)
        try fleet[0].set("Span", "a", ["start": 5])
        try fleet[1].set("Span", "a", ["end": 3])
        for number in 0...1 { try await fleet.exchange(number, seeing: []) }
        try await fleet.deliver(&numbers)
        try await fleet.settle("seed \(seed)")
        for device in fleet.devices {
            #expect(try device.text("Span", "a", "start") == (isLater ? "5" : "1"), "seed \(seed)")
            #expect(try device.text("Span", "a", "end") == (isLater ? "10" : "3"), "seed \(seed)")
            #expect(device.sync.state.waiting == 0, "seed \(seed)")
        }
        let lost = isLater ? "end: 3 (edited)" : "start: 5 (edited)"
        #expect(try await (fleet[0].journal() + fleet[1].journal()).contains(lost), "seed \(seed)")
    }

    @Test func derivedAttributesFollowOnEachDevice() async throws {
        let fleet = try Fleet(2) {
            let derived = NSDerivedAttributeDescription()
            derived.name = "upper"
            derived.attributeType = .stringAttributeType
            derived.isOptional = true
            derived.derivationExpression = NSExpression(format: "uppercase:(name)")
            return ModelMaking.model(ModelMaking.entity("Item", ModelMaking.attribute("name"), derived))
        }
        try fleet[0].save { _ in _ = fleet[0].new("Item", ["name": "a"]) }
        try await fleet.settle()
        #expect(try fleet[1].text("Item", "a", "upper") == "A")
        try fleet[1].set("Item", "a", ["name": "b"])
        try await fleet.settle()
        #expect(try fleet[0].text("Item", "b", "upper") == "B")
    }

    @Test(arguments: Trials.seeds(8)) func aKeyOfTheParentIdentifiesObjectsOfAllItsEntities(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed: seed)
        let fleet = try Fleet {
            typealias M = ModelMaking
            let parent = M.entity(
                "Thing", abstract: true, info: ["sync.key": "code"], M.attribute("code"), M.attribute("name"))
            return M.model(
                parent, M.entity("Tool", parent: parent, M.attribute("weight", .doubleAttributeType)),
                M.entity("Toy", parent: parent, M.attribute("age", .integer64AttributeType)))
        }
        // Each device has the same tool; one of them makes a toy with the code.
        for (number, device) in fleet.devices.enumerated() {
            try device.save { _ in
                _ = device.new("Tool", ["code": "1", "name": "hammer", "weight": Double(number)])
                if number == 2 { _ = device.new("Toy", ["code": "2", "name": "ball", "age": 3]) }
            }
        }
        try await fleet.deliver(&numbers)
        try await fleet.settle("seed \(seed)")
        for device in fleet.devices { #expect(try device.contents().count == 2, "seed \(seed)") }
        try fleet[0].save { _ in try fleet[0].delete("Toy", "ball") }
        try await fleet.settle("seed \(seed)")
        // An object of another entity with the same key is the same object again.
        try fleet[1].save { _ in _ = fleet[1].new("Tool", ["code": "2", "name": "saw", "weight": 1.0]) }
        try await fleet.settle("seed \(seed)")
        for device in fleet.devices { #expect(try device.text("Tool", "saw", "weight") == "1.0", "seed \(seed)") }
    }
}

/// Puts names into lower case before each save.
final class TidyItem: NSManagedObject {
    override func willSave() {
        super.willSave()
        guard !isDeleted, let name = value(forKey: "name") as? String, name != name.lowercased() else { return }
        setValue(name.lowercased(), forKey: "name")
    }
}

/// Whose start must not come after its end.
final class SpanObject: NSManagedObject {
    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try check()
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        try check()
    }

    private func check() throws {
        let (start, end) = (value(forKey: "start") as? Int ?? 0, value(forKey: "end") as? Int ?? 0)
        guard start > end else { return }
        throw CocoaError(
            CocoaError.Code(rawValue: NSManagedObjectValidationError),
            userInfo: [NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: "start"])
    }
}
