import CoreData
import Foundation
import TestSupport
import Testing

@testable import SwiftData

@Suite struct SchemaTests {
    /// A6: related classes and superclasses are found, subclasses are not.
    @Test func schemaHasWhatRelationshipsReach() {
        #expect(Schema([Recipe.self]).entities.map(\.name) == ["Recipe", "Part", "Cook"])
        #expect(Schema([Spice.self]).entities.map(\.name) == ["Spice", "Part", "Recipe", "Cook"])
        #expect(Schema(Lamp.self, version: Schema.Version(2, 0, 1)).version.description == "2.0.1")
    }

    @Test func entitiesDescribeTheClasses() throws {
        let schema = Schema([Recipe.self, Spice.self])
        let recipe = try #require(schema.entity(for: Recipe.self))
        #expect(Schema.entityName(for: Recipe.self) == "Recipe")
        #expect(recipe.uniquenessConstraints == [["name"], ["isGood", "isQuick"]])
        #expect(recipe.indices == [["name"], ["name", "isGood"], ["glass"]])
        let name = try #require(recipe.attributesByName["name"])
        #expect(name.isUnique && !name.isOptional && name.isAttribute && !name.isRelationship)
        #expect(name.originalName == "title")
        #expect(name.defaultValue as? String == "Soup")
        #expect(ObjectIdentifier(name.valueType) == ObjectIdentifier(String.self))
        let place = try #require(recipe.attributesByName["place"] as? Schema.CompositeAttribute)
        #expect(place.isOptional)
        #expect(place.properties.map(\.name) == ["street", "geo", "floors", "glass"])
        #expect(place.properties.filter { !$0.isOptional }.isEmpty)
        let parts = try #require(recipe.relationshipsByName["parts"])
        #expect(parts.destination == "Part" && parts.inverseName == "recipe" && parts.deleteRule == .cascade)
        #expect(!parts.isToOneRelationship && !parts.isOptional)
        #expect(recipe.relationshipsByName["cook"]?.isToOneRelationship == true)
        #expect(recipe.relationshipsByName["cook"]?.isOptional == true)
        let spice = try #require(schema.entitiesByName["Spice"])
        #expect(spice.superentityName == "Part")
        #expect(spice.inheritedProperties.map(\.name) == ["label", "count", "recipe"])
        #expect(spice.storedProperties.map(\.name) == ["heat"])
        #expect(schema.entitiesByName["Part"]?.subentities.map(\.name) == ["Spice"])
    }

    @Test func equalSchemasAreEqual() {
        #expect(Schema([Recipe.self, Shelf.self]) == Schema([Shelf.self, Recipe.self]))
        #expect(Schema([Recipe.self]) != Schema([Shelf.self]))
        #expect(Schema([Recipe.self]) != Schema([Recipe.self], version: Schema.Version(2, 0, 0)))
        #expect(Schema.Version(1, 2, 0) < Schema.Version(1, 10, 0))
    }

    /// 1.5: saved and loaded, a schema makes the same model.
    @Test func schemaComesBackFromAFile() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("schema.json")
        let schema = Schema([Recipe.self, Spice.self, Drawer.self, Everything.self], version: Schema.Version(3, 1, 4))
        try schema.save(to: url)
        let loaded = try Schema.load(from: url)
        #expect(loaded.version == schema.version)
        #expect(Set(loaded.entities) == Set(schema.entities))
        let hashes = try SchemaCompiler.managedObjectModel(of: schema).0.entityVersionHashesByName
        let loadedHashes = try SchemaCompiler.managedObjectModel(of: loaded).0.entityVersionHashesByName
        #expect(hashes == loadedHashes)
    }

    @Test func entitiesCanBeDescribedByHand() throws {
        let id = Schema.Attribute(name: "id", options: [.unique], valueType: Int.self)
        let entity = Schema.Entity("Thing", properties: id, Schema.Attribute(name: "note", valueType: String?.self))
        let (model, types) = try SchemaCompiler.managedObjectModel(of: Schema(entity))
        #expect(types.isEmpty)
        let thing = try #require(model.entitiesByName["Thing"])
        #expect(thing.attributesByName["note"]?.isOptional == true)
        #expect(thing.uniquenessConstraints as? [[String]] == [["id"]])
    }

    // MARK: Models

    /// 3.1, 3.2.
    @Test func modelIsAsAppleDerivesIt() throws {
        let (model, types) = try SchemaCompiler.managedObjectModel(of: Schema([Recipe.self, Spice.self]))
        #expect(types.keys.sorted() == ["Cook", "Part", "Recipe", "Spice"])
        #expect(model.versionIdentifiers == ["1.0.0"])
        #expect(model.configurations == ["default"])
        #expect(model.entities(forConfigurationName: "default")?.count == 4)
        let recipe = try #require(model.entitiesByName["Recipe"])
        #expect(recipe.renamingIdentifier == "Recipe")
        #expect(recipe.managedObjectClassName == "NSManagedObject")
        let name = try #require(recipe.attributesByName["name"])
        #expect(name.renamingIdentifier == "title" && name.defaultValue as? String == "Soup" && !name.isOptional)
        let glass = try #require(recipe.attributesByName["glass"] as? NSCompositeAttributeDescription)
        #expect(glass.isOptional && glass.elements.map(\.name) == ["glass"])
        #expect(glass.elements[0].attributeType == .stringAttributeType)
        #expect(glass.elements[0].defaultValue as? String == "coupe")
        #expect(glass.userInfo?["EnumType"] as? Bool == true)
        #expect(glass.userInfo?["rawValues"] as? String == #"["highball","coupe","rocks"]"#)
        let parts = try #require(recipe.relationshipsByName["parts"])
        #expect(!parts.isOptional && parts.minCount == 0 && parts.maxCount == 0 && !parts.isOrdered)
        #expect(parts.inverseRelationship?.name == "recipe" && parts.deleteRule == .cascadeDeleteRule)
        let cook = try #require(recipe.relationshipsByName["cook"])
        #expect(cook.isOptional && cook.minCount == 0 && cook.maxCount == 1 && cook.inverseRelationship == nil)
        #expect(
            recipe.indexes.map(\.name) == [
                "SwiftDataIndexOnBinaryname", "SwiftDataIndexOnBinarynameisGood", "SwiftDataIndexOnBinaryglass",
            ])
        #expect(model.entitiesByName["Spice"]?.superentity?.name == "Part")
    }

    /// F6, F7, and constraints over an enumeration's raw value.
    @Test func optionsOfAttributesAreInTheModel() throws {
        let (model, _) = try SchemaCompiler.managedObjectModel(of: Schema([Drawer.self]))
        let drawer = try #require(model.entitiesByName["Drawer"])
        let photo = try #require(drawer.attributesByName["photo"])
        #expect(photo.allowsExternalBinaryDataStorage && photo.preservesValueInHistoryOnDeletion)
        #expect(photo.isIndexedBySpotlight && photo.versionHashModifier == "2")
        #expect(drawer.attributesByName["cached"]?.isTransient == true)
        #expect(drawer.uniquenessConstraints as? [[String]] == [["glass.glass", "number"]])
        #expect(drawer.indexes.map(\.name) == ["SwiftDataIndexOnBinaryglassnumber", "SwiftDataIndexOnRTreexy"])
        #expect(drawer.indexes.map { $0.elements.map(\.propertyName) } == [["glass.glass", "number"], ["x", "y"]])
    }

    enum Other {
        final class Lamp: UnreadModel, PersistentModel {
            var persistentBackingData: any BackingData<Lamp>
            init(backingData: any BackingData<Lamp>) { persistentBackingData = backingData }
            static var schemaMetadata: [Schema.PropertyMetadata] { [] }
        }
    }

    /// Complaint 27.
    @Test func twoClassesOfOneNameAreAnError() {
        let error = #expect(throws: SwiftDataError.self) {
            try SchemaCompiler.managedObjectModel(of: Schema([Lamp.self, Other.Lamp.self]))
        }
        #expect(error?.explanation?.contains("are both entity 'Lamp'") == true)
    }

    struct Note: Codable, Equatable {
        var description: String
        var hash: Int
    }
    enum Act: Codable { case copy, release }

    final class Memo: UnreadModel, PersistentModel {
        var persistentBackingData: any BackingData<Memo>
        init(backingData: any BackingData<Memo>) { persistentBackingData = backingData }
        var note: Note { unread() }
        var act: Act { unread() }
        var limit: Double { unread() }
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "note", keypath: \Memo.note), .init(name: "act", keypath: \Memo.act),
                .init(name: "limit", keypath: \Memo.limit, defaultValue: Double.infinity),
            ]
        }
    }

    /// Members of structs and cases can be called as members of objects are, properties cannot.
    @Test func namesOfMembersAreFree() throws {
        func elements(of model: NSManagedObjectModel) throws -> [String] {
            let memo = try #require(model.entitiesByName["Memo"])
            return try #require(memo.attributesByName["note"] as? NSCompositeAttributeDescription).elements.map(\.name)
        }
        let url = try Fixtures.temporaryFolder().appendingPathComponent("memo.store")
        for _ in 1...2 {
            let container = try ModelContainer(for: Memo.self, configurations: ModelConfiguration(url: url))
            let model = container.coordinator.managedObjectModel
            #expect(try elements(of: model) == ["description", "hash"])
            #expect(model.entitiesByName["Memo"]?.attributesByName["limit"]?.defaultValue == nil)
        }
        let read = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        #expect(try elements(of: read) == ["description", "hash"])
        let entity = Schema.Entity("Memo", properties: Schema.Attribute(name: "objectID", valueType: Int.self))
        #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try SchemaCompiler.managedObjectModel(of: Schema(entity))
        }
    }
}
