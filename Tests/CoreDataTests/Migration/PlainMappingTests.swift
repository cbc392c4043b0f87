import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Mappings whose expressions only name properties are followed without evaluating them: the same comes of it as where a manager of
/// the user's has every expression evaluated.
@Suite struct PlainMappingTests {
    /// Has everything evaluated, as nobody knows what it overrides.
    private final class OwnManager: NSMigrationManager, @unchecked Sendable {}

    /// Two thirds of them, the books that are no novels, are more than a portion of objects.
    private static let count = 840

    private let folder: URL
    private let model: NSManagedObjectModel

    init() throws {
        folder = try Fixtures.temporaryFolder()
        var document = ModelDocument()
        document.entities = [
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
            entity(
                "Book", attribute("title"), attribute("pages", .integer32), attribute("price", .decimal),
                attribute("cover", .binaryData), toOne("author", "Author", inverse: "books"),
                toOne("previous", "Book", inverse: "next"), toOne("next", "Book", inverse: "previous"),
                toMany("tags", "Tag", inverse: "books")),
            entity("Novel", parent: "Book", attribute("hero")),
            entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags")),
        ]
        model = try NSManagedObjectModel(document: document)
    }

    private var source: URL { folder.appendingPathComponent("Old.sqlite") }

    private func inContext<R>(_ url: URL, _ body: (NSManagedObjectContext) throws -> R) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private func fill() throws {
        var random = SystemRandomNumberGenerator()
        try inContext(source) { context in
            func make(_ name: String, _ values: [String: Any?]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let authors = (0..<40).map { make("Author", ["name": "\($0)"]) }
            let tags = (0..<5).map { make("Tag", ["name": "\($0)"]) }
            var last: NSManagedObject?
            for index in 0..<Self.count {
                let book = make(
                    index % 3 == 0 ? "Novel" : "Book",
                    [
                        "title": index % 7 == 0 ? nil : "Book \(index)", "pages": index, "price": Decimal(index) / 4,
                        "cover": Data([UInt8(index % 251)]),
                        "author": index % 11 == 0 ? nil : authors.randomElement(using: &random),
                    ])
                if index % 2 == 0 { book.setValue(last, forKey: "previous") }
                book.setValue(NSSet(array: [tags[index % 5], tags[index % 3]]), forKey: "tags")
                last = book
            }
            try context.save()
        }
    }

    // MARK: Mappings

    private func property(_ name: String, _ expression: String) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = CoreData.NSExpression(format: expression)
        return mapping
    }

    private func related(_ name: String, by mapping: String, of key: String? = nil) -> NSPropertyMapping {
        property(
            name,
            "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", $source.\(key ?? name))"
        )
    }

    private func mapping(
        _ name: String, _ entity: String, _ relationships: [NSPropertyMapping], to other: String? = nil
    ) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = name
        mapping.sourceEntityName = entity
        mapping.destinationEntityName = other ?? entity
        mapping.mappingType = .transformEntityMappingType
        let old = model.entitiesByName[entity]?.attributesByName ?? [:]
        let new = model.entitiesByName[other ?? entity]?.attributesByName ?? [:]
        mapping.attributeMappings = new.keys.filter { old[$0] != nil }.sorted().map {
            property($0, $0 == "title" ? "FUNCTION($source, \"valueForKey:\", \"title\")" : "$source.\($0)")
        }
        mapping.relationshipMappings = relationships
        return mapping
    }

    private func mappings(_ name: String) throws -> NSMappingModel {
        if name == "inferred" {
            return try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model)
        }
        let author = related("author", by: "Authors")
        let previous = related("previous", by: "Books")
        let tags = related("tags", by: "Tags")
        let books = related("books", by: "Books")
        let result = NSMappingModel()
        switch name {
        case "both sides":
            result.entityMappings = [
                mapping("Books", "Book", [author, previous, related("next", by: "Books"), tags]),
                mapping("Authors", "Author", [books]), mapping("Tags", "Tag", [books]),
            ]
        case "to-many alone":
            result.entityMappings = [
                mapping("Books", "Book", [previous]), mapping("Authors", "Author", [books]),
                mapping("Tags", "Tag", [books]),
            ]
        case "to-one alone":
            result.entityMappings = [
                mapping("Books", "Book", [author, previous, tags]), mapping("Authors", "Author", []),
                mapping("Tags", "Tag", []),
            ]
        case "by relationship":
            func found(_ name: String) -> NSPropertyMapping {
                property(
                    name,
                    "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"\(name)\", $source.\(name))"
                )
            }
            result.entityMappings = [
                mapping("Books", "Book", [found("author"), found("tags")]),
                mapping("Authors", "Author", [found("books")]),
                mapping("Tags", "Tag", [found("books")]),
            ]
        case "twice":
            // Of each book a novel is made too, which the author has.
            result.entityMappings = [
                mapping("Books", "Book", [author, tags]), mapping("Novels", "Book", [author], to: "Novel"),
                mapping("Authors", "Author", [related("books", by: "Novels")]), mapping("Tags", "Tag", [books]),
            ]
        default:
            // Chains turned round.
            result.entityMappings = [
                mapping("Books", "Book", [author, related("next", by: "Books", of: "previous")]),
                mapping("Authors", "Author", [books]), mapping("Tags", "Tag", []),
            ]
        }
        return result
    }

    private func migrated(_ name: String, _ manager: NSMigrationManager, _ file: String) throws -> StoreSketch {
        let destination = folder.appendingPathComponent(file)
        manager.usesStoreSpecificMigrationManager = false
        try manager.migrateStore(
            from: source, type: .sqlite, mapping: mappings(name), to: destination, type: .sqlite)
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: destination, model: model).findings.isEmpty)
        return try inContext(destination) { try StoreSketch($0, model) }
    }

    @Test(
        "T6: plain mappings come to what their expressions say",
        arguments: Trials.some(
            of: ["inferred", "both sides", "to-many alone", "to-one alone", "by relationship", "twice", "turned"]))
    func plainMappingsAgree(name: String) throws {
        try fill()
        let plain = try migrated(name, NSMigrationManager(sourceModel: model, destinationModel: model), "Plain.sqlite")
        let evaluated = try migrated(name, OwnManager(sourceModel: model, destinationModel: model), "Own.sqlite")
        #expect(plain.objects.count > Self.count / 2)
        #expect(plain.objects.count == evaluated.objects.count)
        let different = plain.objects.filter { evaluated.objects[$0] != $1 }
        #expect(
            different.isEmpty,
            "\(different.count), as \(different.first.map { "\($0) and \(String(describing: evaluated.objects[$0.key]))" } ?? "")"
        )
        if name == "inferred" {
            let old = try inContext(source) { try StoreSketch($0, model) }
            #expect(plain.objects.count == old.objects.count)
        }
    }
}
