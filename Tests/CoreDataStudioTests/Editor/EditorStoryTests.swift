import CoreData
import CoreDataModel
import CoreDataStudio
import Foundation
import TestSupport
import Testing

/// What a developer does with a model, from nothing to a migrated store.
@Suite struct EditorStoryTests {
    /// An entity with attributes that have types, defaults and validation.
    @Test func anEntityIsMadeFromNothing() async throws {
        let story = try await EditorStory()
        #expect(try await story.page("/model").text.contains("No entities yet"))
        let added = try await story.send("add-entity", ("name", "Item"), ("parent", ""))
        #expect(added.header("Location")?.hasPrefix("/model/entity/Item?message=") == true)
        let entity = "/model/entity/Item"
        try await story.send("add-attribute", on: entity, ("name", "name"), ("type", "String"))
        try await story.send("add-attribute", on: entity, ("name", "quantity"), ("type", "Float"))
        try await story.send("add-attribute", on: entity, ("name", "listed"), ("type", "Boolean"))
        try await story.send("add-attribute", on: entity, ("name", "due"), ("type", "Date"))
        try await story.set(
            "/model/property/Item/name", ("optional", nil), ("defaultValueString", "New Item"), ("minValueString", "1"),
            ("maxValueString", "40"))
        try await story.set(
            "/model/property/Item/quantity", ("defaultValueString", "1"), ("minValueString", "0.5"))
        try await story.set("/model/property/Item/listed", ("defaultValueString", "YES"))
        try await story.set("/model/property/Item/due", ("minValueString", "2026-01-01"))

        let model = try story.model()
        let item = try #require(model.entitiesByName["Item"])
        let name = try #require(item.attributesByName["name"])
        #expect(!name.isOptional && name.defaultValue as? String == "New Item")
        let written = try story.document().entities[0].properties.first { $0.name == "name" }
        #expect(written?.validations.map(\.predicate) == ["length >= 1", "length <= 40"])
        #expect(item.attributesByName["quantity"]?.attributeType == .floatAttributeType)
        #expect(item.attributesByName["quantity"]?.defaultValue as? Float == 1)
        #expect(item.attributesByName["listed"]?.defaultValue as? Bool == true)

        let page = try await story.page(entity).text
        #expect(page.contains("<td>≥ 1, ≤ 40") && page.contains("≥ 2026-01-01"))
        #expect(try await story.page("/model/code").text.contains("public class Item: NSManagedObject"))
        #expect(try await story.page("/model/source").text.contains("defaultValueString=&quot;New Item&quot;"))
    }

    /// Relationships with their inverses and delete rules.
    @Test func relationshipsHaveInversesAndDeleteRules() async throws {
        let story = try await EditorStory()
        try await story.send("add-entity", ("name", "Item"))
        try await story.send("add-entity", ("name", "Unit"))
        try await story.send(
            "add-relationship", on: "/model/entity/Item", ("name", "unit"), ("destination", "Unit"), ("many", "NO"),
            ("rule", "Nullify"), ("inverse", "items"), ("inverse-many", "YES"))
        try await story.set("/model/property/Unit/items", ("deletionRule", "Deny"))
        let model = try story.model()
        let unit = try #require(model.entitiesByName["Item"]?.relationshipsByName["unit"])
        let items = try #require(model.entitiesByName["Unit"]?.relationshipsByName["items"])
        #expect(unit.inverseRelationship === items && items.inverseRelationship === unit)
        #expect(!unit.isToMany && items.isToMany)
        #expect(unit.deleteRule == .nullifyDeleteRule && items.deleteRule == .denyDeleteRule)

        // From the other side: no inverse, and the finding's button adds it again.
        try await story.send("inverse", on: "/model/property/Unit/items", ("inverse", ""))
        let page = try await story.page("/model/property/Item/unit")
        #expect(page.text.contains("relationship &#39;Item.unit&#39; has no inverse"))
        try await story.send(
            "fix", on: "/model/property/Item/unit", of: page, ("rule", "missing-inverse"), ("subject", "Item.unit"),
            ("fix", "Make 'Unit.items' the inverse"))
        let again = try story.model()
        #expect(again.entitiesByName["Unit"]?.relationshipsByName["items"]?.inverseRelationship?.name == "unit")
    }

    /// A second version with renamed elements, the mapping model inferred, and a store migrated.
    @Test func aSecondVersionMigratesAStore() async throws {
        let story = try await EditorStory()
        try await story.send("add-entity", ("name", "Measurement"))
        try await story.send("add-attribute", on: "/model/entity/Measurement", ("name", "abc"), ("type", "String"))
        let store = try Fixtures.temporaryFolder().appendingPathComponent("Grocery.sqlite")
        do {
            let context = try Self.context(story, store)
            try context.performAndWait {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Measurement", into: context)
                object.setValue("kg", forKey: "abc")
                try context.save()
            }
        }
        try await story.send("add-version", ("name", "Model 2"))
        #expect(try await story.page("/model/compare").text.contains("No difference"))
        let property = try await story.page("/model/property/Measurement/abc").text
        #expect(property.contains("name=keep value=YES checked"))
        let renamed = try await story.send(
            "rename", on: "/model/property/Measurement/abc", ("name", "xyz"), ("keep", "YES"))
        #expect(renamed.header("Location")?.hasPrefix("/model/property/Measurement/xyz") == true)
        try await story.send("rename", on: "/model/entity/Measurement", ("name", "Amount"), ("keep", "YES"))
        #expect(try story.versions().currentName == "Model 2")
        #expect(try story.document("Model").entities.map(\.name) == ["Measurement"])

        let compare = try await story.page("/model/compare?from=Model&to=Model%202").text
        #expect(compare.contains("was Measurement") && compare.contains("was Measurement.abc"))
        #expect(compare.contains("A lightweight migration can be inferred."))
        #expect(compare.contains("CREATE TABLE ZAMOUNT"))

        let context = try Self.context(story, store)
        let values = try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Amount")).map { $0.value(forKey: "xyz") }
        }
        #expect(values as? [String] == ["kg"])
    }

    private static func context(_ story: EditorStory, _ store: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try story.model())
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// What a version cannot fill is said, with a button that mends it.
    @Test func aMigrationThatCannotBeInferredIsExplained() async throws {
        let story = try await EditorStory()
        try await story.send("add-entity", ("name", "Item"))
        try await story.send("add-attribute", on: "/model/entity/Item", ("name", "name"), ("type", "String"))
        try await story.send("add-version", ("name", "Model 2"))
        try await story.send("add-attribute", on: "/model/entity/Item", ("name", "code"), ("type", "String"))
        try await story.set("/model/property/Item/code", ("optional", nil))
        #expect(try await story.page("/model/compare").text.contains("No lightweight migration can be inferred."))
        try await story.send(
            "fix", on: "/model/lint", ("rule", "required-without-default"), ("subject", "Item.code"),
            ("fix", "Make 'Item.code' optional"))
        #expect(try await story.page("/model/compare").text.contains("A lightweight migration can be inferred."))
    }

    /// Indexes of old models become fetch indexes with the same name in a store.
    @Test func compoundIndexesBecomeFetchIndexes() async throws {
        let story = try await EditorStory(
            contents: """
                <model><entity name="A"><attribute name="x" attributeType="String"/><attribute name="y" \
                attributeType="String"/><compoundIndexes><compoundIndex><index value="x"/><index value="y"/>\
                </compoundIndex><compoundIndex><index value="y"/></compoundIndex></compoundIndexes></entity></model>
                """)
        try await story.send("convert-compound", on: "/model/entity/A", ("index", "0"))
        try await story.send("delete-compound", on: "/model/entity/A", ("index", "0"))
        let entity = try story.document().entities[0]
        #expect(entity.compoundIndexes.isEmpty && entity.fetchIndexes.map(\.name) == ["x_y"])
        #expect(entity.fetchIndexes[0].elements.map(\.propertyName) == ["x", "y"])
        try await story.send("delete-compound", on: "/model/entity/A", status: 409, ("index", "0"))
    }

    /// Everything else that a model has.
    @Test func everyKindOfElementIsMade() async throws {
        let story = try await EditorStory()
        try await story.send("add-entity", ("name", "Item"))
        let entity = "/model/entity/Item"
        try await story.send("add-attribute", on: entity, ("name", "name"), ("type", "String"))
        try await story.send("add-attribute", on: entity, ("name", "aisle"), ("type", "Integer 16"))
        try await story.send(
            "add-index", on: entity, ("name", "byAisle"), ("property", "aisle"), ("property", "name"))
        try await story.send(
            "index-elements", on: "/model/index/Item/byAisle", ("property", "aisle"), ("order", "descending"),
            ("type", "Binary"), ("property", ""), ("order", "ascending"), ("type", "Binary"))
        try await story.send("constraint", on: entity, ("property", "name"), ("property", "aisle"))
        try await story.send(
            "add-fetched", on: entity, ("name", "others"), ("entity", "Item"),
            ("predicate", "aisle == $FETCH_SOURCE.aisle"))
        try await story.send("add-request", ("name", "All"), ("entity", "Item"), ("predicate", ""))
        try await story.send(
            "predicate-rows", on: "/model/request/All", ("join", "any"), ("key", "name"), ("comparator", "=="),
            ("value", "Milk"), ("key", "aisle"), ("comparator", ">"), ("value", "$AISLE"), ("key", ""),
            ("comparator", "=="), ("value", ""))
        try await story.send("add-configuration", ("name", "Shop"))
        try await story.send("members", on: "/model/configuration/Shop", ("member", "Item"))
        try await story.send("add-composite", ("name", "Place"))
        try await story.send("add-part", on: "/model/composite/Place", ("name", "city"), ("type", "String"))
        try await story.send("add-attribute", on: entity, ("name", "place"), ("type", "Composite"))
        try await story.set("/model/property/Item/place", ("composite", "Place"))
        try await story.send("user-info", on: entity, ("key", "author"), ("value", "me & you"))
        try await story.set(entity, ("representedClassName", ".Item"), ("codeGenerationType", "class"))

        let document = try story.document()
        let item = document.entities[0]
        #expect(item.fetchIndexes.map(\.name) == ["byAisle"])
        #expect(item.fetchIndexes[0].elements.map(\.isAscending) == [false])
        #expect(item.uniquenessConstraints == [["name", "aisle"]])
        #expect(item.userInfo == ["author": "me & you"])
        #expect(item.className == ".Item" && item.codeGenerationType == "class")
        #expect(document.fetchRequests.map(\.predicate) == ["name == \"Milk\" OR aisle > $AISLE"])
        #expect(document.configurations.map(\.entityNames) == [["Item"]])
        #expect(document.composites.map { $0.properties.map(\.name) } == [["city"]])
        #expect(ModelCompiler.diagnose(document).filter { $0.severity == .error } == [])
        for address in [
            "request/All", "configuration/Shop", "composite/Place", "part/Place/city", "index/Item/byAisle",
        ] {
            _ = try await story.page("/model/" + address)
        }
        try await story.send("delete", on: "/model/part/Place/city")
        try await story.send("delete", on: entity, ("target", "/model/index/Item/byAisle"))
        try await story.send("constraint", on: entity, ("index", "0"))
        try await story.send("delete-user-info", on: entity, ("key", "author"))
        let less = try story.document()
        #expect(less.composites[0].properties.isEmpty && less.entities[0].fetchIndexes.isEmpty)
        #expect(less.entities[0].uniquenessConstraints.isEmpty && less.entities[0].userInfo.isEmpty)
    }
}
