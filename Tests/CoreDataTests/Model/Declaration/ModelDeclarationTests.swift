import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

private final class DeclaredAuthor: NSManagedObject {}
private final class DeclaredUnit: NSManagedObject {}

@Suite struct ModelDeclarationTests {
    /// The fixture's and the tests' grocery model, declared.
    private func groceries() throws -> NSManagedObjectModel {
        try NSManagedObjectModel {
            ModelEntity("Item") {
                ModelAttribute("colletced", .boolean, default: false)
                ModelAttribute("listed", .boolean, default: true)
                ModelAttribute("name", .string, default: "New Item")
                ModelAttribute("quantity", .float, default: 1)
                ModelAttribute("thumbnail", .binaryData)
                ModelRelationship("locationAtHome", to: "LocationAtHome", inverse: "items")
                ModelRelationship("locationAtShop", to: "LocationAtShop", inverse: "items")
                ModelRelationship("photo", to: "Item_Photo", inverse: "item", deleteRule: .cascade)
                ModelRelationship("unit", to: "Unit", inverse: "items")
            }
            ModelEntity("Item_Photo") {
                ModelAttribute("data", .binaryData).storedExternally()
                ModelRelationship("item", to: "Item", inverse: "photo")
            }
            ModelEntity("Location", isAbstract: true) { ModelAttribute("summary", .string) }
            ModelEntity("LocationAtHome", parent: "Location") {
                ModelAttribute("storeIn", .string)
                ModelRelationship("items", to: "Item", inverse: "locationAtHome", .toMany(), deleteRule: .deny)
            }
            ModelEntity("LocationAtShop", parent: "Location") {
                ModelAttribute("aisle", .string)
                ModelRelationship("items", to: "Item", inverse: "locationAtShop", .toMany(), deleteRule: .deny)
            }
            ModelEntity("Unit", class: DeclaredUnit.self) {
                ModelAttribute("name", .string)
                ModelRelationship("items", to: "Item", inverse: "unit", .toMany(), deleteRule: .deny)
            }
        }
    }

    /// store-format §10
    @Test func aDeclaredModelHasTheHashesOfTheSameModelInCode() throws {
        let declared = try groceries()
        let code = GroceryModel.make()
        for name in code.entitiesByName.keys.sorted() {
            #expect(declared.entitiesByName[name]?.versionHash == code.entitiesByName[name]?.versionHash, "\(name)")
        }
        #expect(declared.versionChecksum == code.versionChecksum)
    }

    @Test func everyModifierReachesTheDescriptions() throws {
        let model = try NSManagedObjectModel(versionIdentifiers: ["7"]) {
            ModelEntity("Author", class: DeclaredAuthor.self) {
                ModelAttribute("code", .string, default: "A").required().length(2...9).matching("\\w+")
                ModelAttribute("booksCount", .integer64, derivedFrom: "books.@count")
                ModelAttribute("born", .date, default: Date(timeIntervalSinceReferenceDate: 5))
                    .minimum(Date(timeIntervalSinceReferenceDate: 0))
                ModelAttribute("home", .composite("Place"))
                ModelAttribute("price", .decimal, defaultText: "0.10").validated(by: "SELF != 3", warning: "not 3")
                ModelAttribute("rating", .float, default: 0.1).range(0...5).encryptedInCloud()
                ModelAttribute("tags", .transformable(by: "Secure", valueClass: "NSArray")).transient()
                ModelAttribute("id", .uuid, defaultText: "6B29FC40-CA47-1067-B31D-00DD010662DA")
                    .preservedAfterDeletion().renamed(from: "key").versionHashModifier("2").userInfo(["a": "b"])
                ModelRelationship(
                    "books", to: "Book", inverse: "author", .toMany(ordered: true, minimum: 1, maximum: 9),
                    deleteRule: .cascade)
                ModelFetchedProperty("longBooks", .init(entity: "Book", predicate: "pages > 500", limit: 3))
                ModelConstraint("code")
            }
            .renamed(from: "Writer").versionHashModifier("3").userInfo(["c": "d"])
            ModelEntity("Book") {
                ModelAttribute("pages", .integer16, default: 0).minimum(1)
                ModelAttribute("cover", .binaryData, default: Data([1])).storedExternally()
                ModelRelationship("author", to: "Author", inverse: "books", deleteRule: .deny).required()
                ModelIndex("byPages", on: .descending("pages"), where: "pages > 10")
            }
            ModelComposite("Place") {
                ModelAttribute("x", .double, default: 0.5)
                ModelAttribute("y", .double)
            }
            ModelFetchRequest("byCode", entity: "Author", predicate: "code == $CODE", sort: [.descending("code")])
            ModelConfiguration("Catalogue", entities: "Author", "Book")
        }
        #expect(model.versionIdentifiers == ["7"])
        let author = try #require(model.entitiesByName["Author"])
        #expect(author.managedObjectClassName == String(reflecting: DeclaredAuthor.self))
        #expect(author.renamingIdentifier == "Writer" && author.versionHashModifier == "3")
        #expect(author.uniquenessConstraints as? [[String]] == [["code"]])
        let attributes = author.attributesByName
        #expect(attributes["code"]?.isOptional == false && attributes["code"]?.defaultValue as? String == "A")
        #expect(
            attributes["code"]?.writtenPredicates.map(\.text)
                == ["length >= 2", "length <= 9", "SELF MATCHES \"\\\\w+\""])
        #expect(attributes["code"]?.validationWarnings as? [NSNumber] == [1670, 1660, 1680])
        #expect((attributes["booksCount"] as? NSDerivedAttributeDescription)?.derivationExpression != nil)
        #expect(attributes["born"]?.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 5))
        #expect(attributes["born"]?.validationWarnings as? [NSNumber] == [1640])
        #expect((attributes["home"] as? NSCompositeAttributeDescription)?.elements.map(\.name) == ["x", "y"])
        #expect(attributes["price"]?.defaultValue as? Decimal == Decimal(string: "0.10"))
        #expect(attributes["price"]?.validationWarnings as? [String] == ["not 3"])
        #expect(attributes["rating"]?.allowsCloudEncryption == true)
        #expect(attributes["tags"]?.valueTransformerName == "Secure" && attributes["tags"]?.isTransient == true)
        #expect(attributes["id"]?.preservesValueInHistoryOnDeletion == true)
        #expect(attributes["id"]?.renamingIdentifier == "key" && attributes["id"]?.versionHashModifier == "2")
        let books = try #require(author.relationshipsByName["books"])
        #expect(books.isOrdered && books.minCount == 1 && books.maxCount == 9)
        #expect(books.deleteRule == .cascadeDeleteRule && books.inverseRelationship?.name == "author")
        let fetched = author.propertiesByName["longBooks"] as? NSFetchedPropertyDescription
        #expect(fetched?.fetchRequest?.fetchLimit == 3)
        let index = try #require(model.entitiesByName["Book"]?.indexes.first)
        #expect(index.elements.map(\.isAscending) == [false])
        #expect(index.makeElement().predicate == "pages > 10")
        #expect(model.fetchRequestTemplate(forName: "byCode")?.sortDescriptors?.map(\.ascending) == [false])
        #expect(model.entities(forConfigurationName: "Catalogue")?.count == 2)
    }

    @Test func partsMayBeChosenAndShared() throws {
        @EntityBuilder func dated() -> [EntityPart] {
            ModelAttribute("created", .date)
            ModelAttribute("changed", .date)
        }
        let hasShelf = true
        let model = try NSManagedObjectModel {
            for name in ["A", "B"] { ModelEntity(name) { dated() } }
            if hasShelf {
                ModelEntity("Shelf") {
                    dated()
                    ModelAttribute("number", .integer32)
                }
            }
        }
        #expect(model.entities.map(\.name) == ["A", "B", "Shelf"])
        #expect(model.entitiesByName["Shelf"]?.attributesByName.keys.sorted() == ["changed", "created", "number"])
        #expect(try NSManagedObjectModel {}.entities.isEmpty)
    }

    @Test func everyMistakeIsToldWithItsNameAndLine() throws {
        // Not inside the macro, whose expansion has lines of its own.
        let line = #line
        func make() throws -> NSManagedObjectModel {
            try NSManagedObjectModel {
                ModelEntity("Book", parent: "Bok") {
                    ModelAttribute("title", .string)
                    ModelAttribute("title", .integer16, defaultText: "many")
                    ModelRelationship("author", to: "Autor", inverse: "books")
                    ModelConstraint("isbn")
                    ModelIndex("byPages", on: "pages")
                }
                ModelEntity("Author") { ModelAttribute("born", .date) }
                ModelEntity("Author")
            }
        }
        let error = try #require(throws: CocoaError.self) { try make() }
        #expect(error.code.rawValue == 134060)
        let text = error.localizedDescription
        let file = "CoreDataTests/ModelDeclarationTests.swift"
        for (offset, message) in [
            (3, "Bok"), (5, "two properties named 'title'"), (6, "'Book.author' leads to entity 'Autor'"),
            (8, "index 'byPages'"), (11, "two entities are named 'Author'"),
        ] {
            #expect(
                text.split(separator: "\n").contains {
                    $0.hasPrefix("\(file):\(line + offset):1: error: ") && $0.contains(message)
                }, "\(message)\n\(text)")
        }
        #expect(text.contains("isbn") && text.contains("pages"))
    }

    @Test func aDeclaredModelOpensAStoreWithItsColumns() throws {
        let recording = try groceries()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: recording)
        let url = try Fixtures.temporaryFolder().appendingPathComponent("Groceries.sqlite")
        try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: url, options: nil)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(recording.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            #expect(item.value(forKey: "name") as? String == "New Item")
            let unit = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: context)
            #expect(unit is DeclaredUnit, "the class need not be found by its name")
            try context.save()
        }
    }
}
