import CoreData
import Foundation
import Testing

/// Archives that Apple's side reads, and that come from there.
@Suite struct ManagedArchiveNamesTests {
    private static func model() -> NSManagedObjectModel {
        let entity = Library.entity("Paint", nil)
        entity.properties = [Library.attribute("color", .transformableAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    @Test func archivesHaveTheNameOfObjectiveC() throws {
        let stack = try LibraryStack(model: Self.model())
        try stack.story { context in
            let paint = NSEntityDescription.insertNewObject(forEntityName: "Paint", into: context)
            paint.setValue(Swatch(shade: 7), forKey: "color")
            try context.save()
            context.reset()
            let data = try #require(SwatchTransformer().reverseTransformedValue(Swatch(shade: 7)) as? Data)
            let list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
            let objects = (list as? [String: Any])?["$objects"] as? [Any] ?? []
            #expect(objects.contains { ($0 as? [String: Any])?["$classname"] as? String == "PaletteSwatch" })
            let read = try #require(try context.all(NSManagedObject.self, "Paint").first)
            #expect((read.value(forKey: "color") as? Swatch)?.shade == 7)
        }
    }
}

final class Swatch: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let shade: Int

    init(shade: Int) { self.shade = shade }

    init?(coder: NSCoder) { shade = coder.decodeInteger(forKey: "shade") }

    func encode(with coder: NSCoder) { coder.encode(shade, forKey: "shade") }
}

final class SwatchTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { [Swatch.self] }
}

enum _ArchiveNamesOfSwatch {
    final class _ArchiveNames: ManagedArchiveNames {
        override class var classes: [String: AnyClass] { ["PaletteSwatch": Swatch.self] }
    }
}
