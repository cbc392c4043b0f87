import CoreData
import Foundation
import SwiftData
import TestSupport
import Testing

/// What the options of attributes do to values (F4, F6, F7), and Codable types (complaints 12 and 13).
@Suite struct AttributeOptionTests {
    enum Size: Codable, Equatable {
        case small
        case custom(width: Int, name: String)
    }

    struct Frame: Codable, Equatable {
        var width: Int
        var note: String?
        enum CodingKeys: String, CodingKey {
            case width = "w"
            case note = "n"
        }
    }

    @Model final class Picture {
        var id = UUID()
        var size: Size = Size.small
        var frame: Frame
        @Attribute(.codable) var spare: Frame?
        @Attribute(.ephemeral) var zoom = 1.0
        @Attribute(.externalStorage) var bytes: Data?
        @Attribute(.preserveValueOnDeletion) var title: String
        @Attribute(.transformable(by: MirroringTransformer.self)) var secret: String?
        init(title: String) {
            self.title = title
            frame = Frame(width: 1)
        }
    }

    private func container(_ url: URL? = nil) throws -> ModelContainer {
        MirroringTransformer.register()
        return try ModelContainer(
            for: Picture.self,
            configurations: url.map { ModelConfiguration(url: $0) } ?? ModelConfiguration(isStoredInMemoryOnly: true))
    }

    private func saved(_ container: ModelContainer, _ change: (Picture) -> Void) throws -> (Picture, Picture) {
        let context = ModelContext(container)
        let picture = Picture(title: "Sea")
        context.insert(picture)
        change(picture)
        try context.save()
        let again = try #require(ModelContext(container).model(for: picture.persistentModelID) as? Picture)
        return (picture, again)
    }

    /// F4: one default value in the schema; new models evaluate the expression each for itself.
    @Test func defaultsAreOfTheSchemaAndOfEachModel() throws {
        let container = try container()
        let entity = container.coordinator.managedObjectModel.entitiesByName["Picture"]
        let literal = try #require(entity?.attributesByName["id"]?.defaultValue as? UUID)
        let ids = [Picture(title: "a"), Picture(title: "b")].map(\.id)
        #expect(Set(ids + [literal]).count == 3)
        let (picture, again) = try saved(container) { _ in }
        #expect(again.id == picture.id && again.id != literal)
    }

    /// F6: a change of an ephemeral attribute is one, and no store has it.
    @Test func ephemeralValuesAreNotStored() throws {
        let (picture, again) = try saved(try container()) { $0.zoom = 4 }
        #expect(picture.zoom == 4 && again.zoom == 1)
        picture.zoom = 5
        #expect(picture.hasChanges && picture.modelContext?.hasChanges == true)
        picture.modelContext?.rollback()
        try picture.modelContext?.save()
    }

    /// F7: large data are files beside the store.
    @Test func externalDataAreFiles() throws {
        let folder = try Fixtures.temporaryFolder()
        let bytes = Data(repeating: 7, count: 300_000)
        let (_, again) = try saved(try container(folder.appendingPathComponent("a.store"))) { $0.bytes = bytes }
        #expect(again.bytes == bytes)
        let support = folder.appendingPathComponent(".a_SUPPORT/_EXTERNAL_DATA")
        #expect(try FileManager.default.contentsOfDirectory(atPath: support.path).count == 1)
    }

    /// F7: a value goes through its transformer, also before the model is inserted.
    @Test func transformersTransform() throws {
        let picture = Picture(title: "Sea")
        picture.secret = "abc"
        #expect(picture.secret == "abc")
        let (_, again) = try saved(try container()) { $0.secret = "abc" }
        #expect(again.secret == "abc")
        #expect(again.modelObject?.value(forKey: "secret") as? String == "abc")
    }

    /// Complaint 13: cases with associated values. Complaint 12: coding keys do not matter to columns; `.codable` keeps the coded form.
    @Test func codableValuesComeBack() throws {
        let container = try container()
        let (_, again) = try saved(container) {
            $0.size = .custom(width: 3, name: "wide")
            $0.frame = Frame(width: 2, note: "oak")
            $0.spare = Frame(width: 9)
        }
        #expect(again.size == .custom(width: 3, name: "wide"))
        #expect(again.frame == Frame(width: 2, note: "oak") && again.spare == Frame(width: 9))
        let entity = try #require(container.coordinator.managedObjectModel.entitiesByName["Picture"])
        let frame = try #require(entity.attributesByName["frame"] as? NSCompositeAttributeDescription)
        #expect(frame.elements.map(\.name) == ["width", "note"])
        #expect(entity.attributesByName["spare"]?.attributeType == .binaryDataAttributeType)
    }
}

/// Stores texts backwards.
final class MirroringTransformer: ValueTransformer, @unchecked Sendable {
    // Safe because it has no state.
    static func register() {
        ValueTransformer.setValueTransformer(
            MirroringTransformer(), forName: NSValueTransformerName("MirroringTransformer"))
    }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? String).map { Data(String($0.reversed()).utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
    }
}
