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

    /// Foundation's archiver stops the program at a class inside a type.
    @Test func aClassInsideATypeIsRefusedByTheSave() throws {
        let stack = try LibraryStack(model: Self.model())
        try stack.story { context in
            let paint = NSEntityDescription.insertNewObject(forEntityName: "Paint", into: context)
            for color in [Palette.Shade(7), [Palette.Shade(7)] as NSArray, Tone<Int>()] as [NSObject] {
                paint.setValue(color, forKey: "color")
                let error = #expect(throws: CocoaError.self) { try context.save() }
                #expect(error?.localizedDescription.contains("color") == true)
            }
            paint.setValue(Swatch(shade: 7), forKey: "color")
            try context.save()
        }
    }

    @Test func aClassInsideATypeHasItsNameForReadingArchives() throws {
        let stack = try LibraryStack(model: Self.model())
        stack.story { context in
            _ = NSEntityDescription.insertNewObject(forEntityName: "Paint", into: context)
        }
        #expect(NSKeyedUnarchiver.class(forClassName: "PaletteShade") is Palette.Shade.Type)
    }
}

/// A class inside a type, as apps have them.
enum Palette {
    final class Shade: NSObject, NSSecureCoding {
        static var supportsSecureCoding: Bool { true }
        let shade: Int

        init(_ shade: Int) { self.shade = shade }

        init?(coder: NSCoder) { shade = coder.decodeInteger(forKey: "shade") }

        func encode(with coder: NSCoder) { coder.encode(shade, forKey: "shade") }
    }
}

final class Tone<Value>: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    override init() {}

    init?(coder: NSCoder) {}

    func encode(with coder: NSCoder) {}
}

enum _ArchiveNamesOfPalette_Shade {
    final class _ArchiveNames: ManagedArchiveNames {
        override class var classes: [String: AnyClass] { ["PaletteShade": Palette.Shade.self] }
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
