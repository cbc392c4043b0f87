import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Stores bytes as they are, so that a store can be given broken ones.
private final class StoredBytes: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { value }
    override func reverseTransformedValue(_ value: Any?) -> Any? { value }
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
                let colors = thing.value(forKey: "color") as? [String]
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
}
