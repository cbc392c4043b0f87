import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Stores bytes as they are, so that a store can be given broken ones.
private final class StoredBytes: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { value }
    override func reverseTransformedValue(_ value: Any?) -> Any? { value }
}

/// Takes texts and gives none back.
private final class OneWayTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { Data($0.utf8) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
}

/// Reads bytes and writes none.
private final class ReadingTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { nil }
    override func reverseTransformedValue(_ value: Any?) -> Any? { value }
}

private final class TextsTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { [NSString.self] }
}

/// A transformable value with broken bytes costs that value alone.
@Suite struct BrokenTransformableTests {
    private static func model(transformer: String?) -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.managedObjectClassName = "NSManagedObject"
        let color = Library.attribute("color", .transformableAttributeType)
        color.valueTransformerName = transformer
        entity.properties = [Library.attribute("name", .stringAttributeType), color]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    /// A store with those bytes as the colors of things.
    private func stack(_ colors: [Data]) throws -> LibraryStack {
        let name = NSValueTransformerName("OpenCoreDataTests.StoredBytes")
        ValueTransformer.setValueTransformer(StoredBytes(), forName: name)
        let stack = try LibraryStack(model: Self.model(transformer: name.rawValue))
        try stack.story { context in
            for (index, color) in colors.enumerated() {
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                thing.setValue("\(index)", forKey: "name")
                thing.setValue(color, forKey: "color")
            }
            try context.save()
        }
        return stack
    }

    @Test(arguments: [nil, NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue])
    func theBrokenValueIsToldAndTheOthersAreRead(transformer: String?) throws {
        let whole = try #require(SecureArchive.data(of: ["red", "green"]))
        var broken = whole
        broken.replaceSubrange(20..<60, with: repeatElement(0xFF, count: 40))
        let made = try stack([whole, broken, whole.prefix(whole.count - 9), whole])
        // It takes its folder with it when it goes.
        defer { withExtendedLifetime(made) {} }
        let stack = try LibraryStack(opening: made.url, model: Self.model(transformer: transformer))
        try stack.story { context in
            var told: [String] = []
            context.unreadableValueListener = { told.append($0) }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let things = try context.fetch(request)
            #expect(told.isEmpty && things.map { $0.value(forKey: "name") as? String } == ["0", "1", "2", "3"])
            for thing in things + things {
                let value = thing.value(forKey: "color")
                let colors = value as? [String]
                #expect(!(value is Data), "bytes are no value")
                #expect(["0", "3"].contains(thing.value(forKey: "name") as? String) == (colors == ["red", "green"]))
            }
            #expect(told.count == 2 && told.allSatisfy { $0.hasPrefix("'color' of Thing ") }, "\(told)")
            #expect(told.first?.contains("\(broken.count) bytes") == true)
            things[1].setValue("renamed", forKey: "name")
            things[2].setValue(["blue"], forKey: "color")
            try context.save()
            context.reset()
            let again = try context.fetch(request)
            #expect(again.map { $0.value(forKey: "name") as? String } == ["0", "2", "3", "renamed"])
            #expect(again[1].value(forKey: "color") as? [String] == ["blue"])
        }
    }

    // MARK: What a transformer refuses

    private func stack(with transformer: ValueTransformer, isOptional: Bool = true) throws -> LibraryStack {
        let name = NSValueTransformerName("OpenCoreDataTests.\(type(of: transformer))")
        ValueTransformer.setValueTransformer(transformer, forName: name)
        let model = Self.model(transformer: name.rawValue)
        model.entitiesByName["Thing"]?.attributesByName["color"]?.isOptional = isOptional
        return try LibraryStack(model: model)
    }

    @Test("U5: a value that the transformer does not take is refused by the save, and nothing is written")
    func aRefusedValueIsNotSaved() throws {
        let stack = try stack(with: TextsTransformer())
        try stack.story { context in
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            for stranger in [Date(), ["text"], 5, URL(fileURLWithPath: "/")] as [Any] {
                thing.setValue(stranger, forKey: "color")
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.errorCode == NSManagedObjectValidationError)
                #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "color")
                for part in ["'color' of entity 'Thing'", "TextsTransformer", "allowedTopLevelClasses", "NSString"] {
                    #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
                }
                #expect(context.hasChanges)
            }
            #expect(try FileStack.story(stack.coordinator) { try $0.all(NSManagedObject.self, "Thing").count } == 0)
            thing.setValue("red", forKey: "color")
            try context.save()
            context.refresh(thing, mergeChanges: false)
            #expect(thing.value(forKey: "color") as? String == "red")
            thing.setValue(Date(), forKey: "color")
            #expect(throws: CocoaError.self) { try context.save() }
            context.rollback()
            #expect(thing.value(forKey: "color") as? String == "red")
            let update = NSBatchUpdateRequest(entityName: "Thing")
            update.propertiesToUpdate = ["color": NSDate()]
            #expect(throws: CocoaError.self) { try context.execute(update) }
            #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).count == 1)
        }
    }

    @Test("U5: validateValue refuses what a save refuses, with the same error")
    func aRefusedValueIsInvalid() throws {
        let stack = try stack(with: TextsTransformer())
        try stack.story { context in
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            for stranger in [Date(), ["text"], 5, URL(fileURLWithPath: "/")] as [Any] {
                var value: AnyObject? = stranger as AnyObject
                let error = try #require(throws: CocoaError.self) { try thing.validateValue(&value, forKey: "color") }
                thing.setValue(stranger, forKey: "color")
                // Of the value that is set, too.
                #expect(throws: CocoaError.self) { try thing.validateValue(&value, forKey: "color") }
                let refusal = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.errorCode == refusal.errorCode && error.errorCode == NSManagedObjectValidationError)
                #expect(error.localizedDescription == refusal.localizedDescription)
                #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "color")
            }
            for accepted in ["red" as NSString, nil, NSNull()] as [AnyObject?] {
                var value = accepted
                try thing.validateValue(&value, forKey: "color")
            }
            thing.setValue("red", forKey: "color")
            try context.save()
            var value: AnyObject? = "blue" as NSString
            try thing.validateValue(&value, forKey: "color")
        }
    }

    @Test("U5: a value that the row has stays valid where its transformer takes it no longer")
    func aStoredValueStaysValid() throws {
        let name = NSValueTransformerName("OpenCoreDataTests.Changing")
        ValueTransformer.setValueTransformer(StoredBytes(), forName: name)
        let stack = try LibraryStack(model: Self.model(transformer: name.rawValue))
        try stack.story { context in
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue(Data([1]), forKey: "color")
            try context.save()
            ValueTransformer.setValueTransformer(ReadingTransformer(), forName: name)
            var value = thing.value(forKey: "color") as AnyObject?
            #expect(value as? Data == Data([1]))
            try thing.validateValue(&value, forKey: "color")
            thing.setValue("x", forKey: "name")
            try context.save()
            var other: AnyObject? = Data([2]) as NSData
            #expect(throws: CocoaError.self) { try thing.validateValue(&other, forKey: "color") }
        }
    }

    @Test(
        "U5: a value that the transformer does not give back reads as nil, and stays in the store",
        arguments: [true, false])
    func aValueThatIsNotGivenBackIsNil(isOptional: Bool) throws {
        let stack = try stack(with: OneWayTransformer(), isOptional: isOptional)
        let raw = Data("red".utf8)
        try stack.story { context in
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue("red", forKey: "color")
            try context.save()
            context.reset()
            var told: [String] = []
            context.unreadableValueListener = { told.append($0) }
            let found = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            #expect(found.value(forKey: "color") == nil)
            #expect(found.primitiveValue(forKey: "color") == nil)
            #expect(found.committedValues(forKeys: ["color"])["color"] is NSNull)
            #expect(told.count == 1 && told[0].contains("OneWayTransformer"), "\(told)")
            // What cannot be read is not what was set to nil.
            found.setValue("a", forKey: "name")
            #expect(found.changedValues().keys.sorted() == ["name"])
            try context.save()
            #expect(try storedColor(stack) == raw)
            guard isOptional else { return }
            found.setValue(nil, forKey: "color")
            try context.save()
            #expect(try storedColor(stack) == nil)
        }
    }

    private func storedColor(_ stack: LibraryStack) throws -> Data? {
        let engine = try #require(stack.coordinator.attachedStores.first?.source as? StoreEngine)
        let row = try engine.database.read { try $0.rows("SELECT ZCOLOR FROM ZTHING" as SQLText).first }
        guard case .blob(let data)? = row?.first else { return nil }
        return data
    }

    /// Leaves everything to the manager.
    final class PlainPolicy: NSEntityMigrationPolicy {}

    @Test("T: what cannot be read ends a migration by objects, which would lose it, and the store is as it was")
    func aMigrationByObjectsLosesNothing() throws {
        let made = try stack([Data([1, 2, 3])])
        let name = NSValueTransformerName("OpenCoreDataTests.Texts")
        ValueTransformer.setValueTransformer(TextsTransformer(), forName: name)
        let (old, new) = (Self.model(transformer: name.rawValue), Self.model(transformer: name.rawValue))
        let thing = try #require(new.entitiesByName["Thing"])
        thing.properties += [Library.attribute("note", .stringAttributeType)]
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        for mapping in mapping.entityMappings {
            mapping.mappingType = .customEntityMappingType
            mapping.entityMigrationPolicyClassName = String(reflecting: PlainPolicy.self)
        }
        try made.coordinator.remove(try #require(made.coordinator.persistentStores.first))
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        let destination = made.folder.appendingPathComponent("New.sqlite")
        let error = #expect(throws: CocoaError.self) {
            try manager.migrateStore(from: made.url, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        }
        let cause = error?.userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError?
        #expect(cause?.code == NSEntityMigrationPolicyError)
        let message = cause?.localizedDescription ?? ""
        #expect(message.contains("'color' of Thing 1"), "\(message)")
        #expect(!FileManager.default.fileExists(atPath: destination.path))
        let again = try LibraryStack(opening: made.url, model: old)
        try again.story { context throws in
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")) == 1)
        }
    }
}
